"""What a start would do, for reading and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli.frame.asked.options import BrokerOptions
from rocketlens.document import Document
from rocketlens.gathered import at_hand, said_of, topics_told
from rocketlens.piece import Piece

if TYPE_CHECKING:
    from pipelines.notebook.start_now import StartNow


class Forecast(Document):
    """The document of `rocketlens forecast`, by its fields; each method is a part of it for reading.

    `notes` names settings that were said and have no effect, and logs that could not be used.
    """

    def __init__(self, path: Path, start: StartNow, notes: tuple[str, ...] = ()) -> None:
        super().__init__(start.document, notes=notes)
        self._path, self._start = path, start

    def __repr__(self) -> str:
        lost = sum(1 for _ in self["lost"])
        return (
            f"<Forecast for {self['version']}: {'starts' if self['load']['ok'] else 'does not start'}, {lost:,} lost>"
        )

    def _repr_html_(self) -> str:
        return self.section()._repr_html_()

    def section(self, *, losses_shown: int = 0) -> Piece:
        """The verdict and what stands behind it, rule by rule."""
        from pipelines.report.sections.forecast import forecast_section

        return Piece(forecast_section(self._start.facts, losses_shown=losses_shown))

    def losses(self, *, shown: int = 12) -> Piece:
        """Lost messages, one by one."""
        from pipelines.report.sections.forecast import loss_section

        return Piece(loss_section(self.document, shown=shown))

    def bytes_at_break(self) -> Piece:
        """The bytes that the start does not believe, field by field; no rows where the log does not break."""
        with at_hand(self._path) as folder:
            return Piece(self._start.bytes_at_break(folder))

    def ways(self) -> Piece:
        """The start as it is, and after each repair that helps."""
        return Piece(self._start.ways())

    def lost_by_queue(self) -> Piece:
        """Losses counted by queue."""
        return Piece(self._start.lost_by_queue())

    def queues(self) -> Piece:
        """Every queue's ends after load, and when all is quiet."""
        return Piece(self._start.queues())


def forecast_of(path: Path, broker: BrokerOptions, logs: Sequence[Path] = ()) -> Forecast:
    """Play a start on the store at `path`; `logs`: its broker's. Raises RocketlensError."""
    from pipelines.notebook.start_now import start_now

    said = said_of(broker)
    with at_hand(path) as folder:
        told = topics_told(logs, folder, said)
        start = start_now(folder, said, topic_events=told.events)
    return Forecast(path, start, (*said.ignored, *told.unread, *told.notes))
