"""A piece of an answer in the look of the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipelines.report.facts.model import PrintedTable, Section


@dataclass(frozen=True, slots=True)
class Piece:
    """A section or a table, which IPython shows as HTML; `content` has the values that it shows."""

    content: Section | PrintedTable

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table, or of every table of the section."""
        from pipelines.report.facts.model import PrintedTable

        tables = [self.content] if isinstance(self.content, PrintedTable) else self.content.tables
        return [dict(row) for table in tables for row in table.rows]

    def __repr__(self) -> str:
        told = getattr(self.content, "title", None) or getattr(self.content, "caption", "")
        return f"<Piece: {told or 'a table'}, {len(self.rows):,} rows>"

    def _repr_html_(self) -> str:
        from pipelines.report.render import render_piece

        return render_piece(self.content)
