"""Replicas of one broker compared, for reading and for programs."""

from __future__ import annotations

from pathlib import Path

from pipelines.cli.frame.asked.options import BrokerOptions
from rocketlens.document import Document
from rocketlens.gathered import document_of, rows_of
from rocketlens.piece import Piece
from rocketlens.rows import Rows


class Compared(Document):
    """The document of `rocketlens compare`, by its fields. The stores are read anew for `differences`."""

    def __init__(self, stores: list[Path], broker: BrokerOptions, group_size: int | None) -> None:
        from pipelines.cli.commands.broker.compare import compare

        self._stores, self._broker, self._group_size = stores, broker, group_size
        told = document_of(compare, broker, stores=stores, group_size=group_size)
        super().__init__(told.document, told.unread, told.notes)

    def __repr__(self) -> str:
        return f"<Compared {len(self._stores)} replicas: {self['conclusion']}>"

    def _repr_html_(self) -> str:
        from pipelines.notebook.outlines import compared_outline

        return Piece(compared_outline(self.document))._repr_html_()

    def differences(self) -> Rows:
        """A row for each difference, pair by pair (`compare --rows`)."""
        from pipelines.cli.commands.broker.compare import compare

        return rows_of(compare, self._broker, stores=self._stores, group_size=self._group_size, rows=True)
