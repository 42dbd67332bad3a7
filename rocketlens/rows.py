"""The rows of an answer, and what is to be known about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocketlens.piece import Piece

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from pipelines.report.facts.model import PrintedTable

MOST_SHOWN = 20
MAY_BE_NONE = frozenset(("reason", "cause", "why", "note", "tags", "keys", "broker"))
"""Columns in which null is nothing to say, not something unknown: one store's answers do not name its broker."""


@dataclass(frozen=True, slots=True)
class Rows:
    """An Arrow table, which IPython shows as a table of HTML.

    Attributes:
        table: the rows; pandas, polars and DuckDB take a `Rows` in its place, too.
        unread: what should have been read and could not, a sentence each. Empty: the answer is complete.
        notes: remarks for a person, such as a version that was assumed.
    """

    table: pa.Table
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.table.column_names)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Row by row, each a dict by column."""
        for batch in self.table.to_batches():
            yield from batch.to_pylist()

    def __getitem__(self, column: str) -> list[Any]:
        """The values of one column. Raises KeyError naming it."""
        values: list[Any] = self.table.column(column).to_pylist()
        return values

    def to_pylist(self) -> list[dict[str, Any]]:
        """All rows."""
        return list(self)

    def to_pandas(self) -> pd.DataFrame:
        """A frame; pandas comes with `rocketlens[platform]`."""
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        unread = f", {len(self.unread)} unread" if self.unread else ""
        return f"<Rows: {len(self):,} × {', '.join(self.columns)}{unread}>"

    def _repr_html_(self) -> str:
        return self.piece()._repr_html_()

    def piece(self, columns: Sequence[str] | None = None, *, shown: int = MOST_SHOWN) -> Piece:
        """The rows for reading, page by page; of a long answer the first 10 000 cells.

        Args:
            columns: those to show, all when there are none.
            shown: rows of a page.
        """
        return Piece(self.printed(columns, shown=shown))

    def printed(self, columns: Sequence[str] | None = None, *, shown: int = MOST_SHOWN) -> PrintedTable:
        """The table that `piece` shows."""
        from pipelines.report.facts.model import Column, PrintedTable
        from pipelines.report.render import CARRIED_CELLS

        chosen = self.table if columns is None else self.table.select(list(columns))
        headings = [
            Column(
                field.name,
                field.name.replace("_", " "),
                is_number(field.type),
                field.name in MAY_BE_NONE,
                field.name == "hex",
            )
            for field in chosen.schema
        ]
        first = chosen.slice(0, max(shown, CARRIED_CELLS // max(1, len(headings)))).to_pylist()
        told = [
            f"{len(self):,} row{'' if len(self) == 1 else 's'}",
            *self.notes,
            *(f"not read: {sentence}" for sentence in self.unread),
        ]
        return PrintedTable(headings, first, "; ".join(told), shown, len(self))


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type is printed to the right."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
