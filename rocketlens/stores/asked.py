"""What every question about a store needs: where it is, and what was said of its broker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.cli.frame.asked.options import BrokerOptions
from rocketlens.gathered import Place, rows_of, said_of
from rocketlens.rows import Rows

if TYPE_CHECKING:
    from recovery.knowledge.knowledge import Said


class Asked:
    """A store that is asked; the files are read anew with each question."""

    def __init__(self, path: Path, broker: BrokerOptions, logs: Sequence[Path] = ()) -> None:
        self.path = path
        self._broker, self._logs = broker, list(logs)

    @property
    def said(self) -> Said:
        """What was said of the broker, as recovery takes it. Raises RocketlensError: a wrong version or setting."""
        return said_of(self._broker)

    def _rows(self, command: str, **asked: Any) -> Rows:
        """The rows of a command, by its name, that asks a store."""
        from pipelines.cli.contents import body_of

        return rows_of(body_of(command), self._broker, store=self.path, **asked)


def path_of(place: Place | None) -> Path | None:
    """A place as the commands take it."""
    return None if place is None else Path(place)


def paths_of(places: Iterable[Place]) -> list[Path] | None:
    """Several places as the commands take them; None without one."""
    return [Path(place) for place in places] or None
