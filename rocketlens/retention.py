"""When files go, and whose unread messages with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.cli.frame.asked.options import BrokerOptions
from rocketlens.document import Document
from rocketlens.gathered import at_hand, document_of, said_of
from rocketlens.piece import Piece
from rocketlens.rows import Rows

if TYPE_CHECKING:
    import pyarrow as pa

    from pipelines.notebook.show import Picture
    from pipelines.notebook.start_now import Outlook


class Retention(Document):
    """The document of `rocketlens retention`, by its fields."""

    def __init__(self, path: Path, broker: BrokerOptions, told: Document) -> None:
        super().__init__(told.document, told.unread, told.notes)
        self._path, self._broker = path, broker

    def __repr__(self) -> str:
        return f"<Retention at {self['now']}: {len(self['delete_now'])} files go now, {len(self['later'])} later>"

    def _repr_html_(self) -> str:
        return self.section()._repr_html_()

    @property
    def files(self) -> Rows:
        """Files in the order in which they go; `order` is null for those that stay for now."""
        from pipelines.cli.commands.broker.retention import file_schema

        return _rows(file_schema(), [*self["delete_now"], *self["later"]])

    @property
    def at_risk(self) -> Rows:
        """Per group and queue, when its unread messages are due to be deleted."""
        from pipelines.cli.commands.broker.retention import risk_schema

        return _rows(risk_schema(), self["unread_at_risk"])

    def section(self) -> Piece:
        """The answer as a section to read, without groups that have nothing unread."""
        from pipelines.report.sections.forecast import retention_section

        return Piece(retention_section(self._outlook.facts))

    def plot(self) -> Picture:
        """A bar for each CommitLog file until it goes, and the unread messages of each group."""
        from pipelines.notebook.retention_plot import retention_plot
        from pipelines.notebook.show import show

        return show(retention_plot(self._outlook))

    @cached_property
    def _outlook(self) -> Outlook:
        from pipelines.answers.instants import parse_instant
        from pipelines.notebook.start_now import outlook

        with at_hand(self._path) as folder:
            return outlook(folder, said_of(self._broker), _ignore, now_ms=parse_instant(self["now"]))


def look_ahead(path: Path, broker: BrokerOptions, now: str | None) -> Retention:
    """Play the broker's cleaners. Raises RocketlensError."""
    from pipelines.cli.commands.broker.retention import retention

    return Retention(path, broker, document_of(retention, broker, store=path, now=now))


def _rows(schema: pa.Schema, found: Sequence[Mapping[str, Any]]) -> Rows:
    """Rows of the document as a table: their instants, which are text there, become instants."""
    import pyarrow as pa

    from pipelines.answers.instants import parse_instant

    due = [None if row["due_at"] is None else parse_instant(row["due_at"]) for row in found]
    return Rows(pa.Table.from_pylist([{**row, "due_at": at} for row, at in zip(found, due, strict=True)], schema))


def _ignore(sentence: str) -> None:
    """The document has reported it already."""
