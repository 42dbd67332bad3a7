"""Answers in the output cells of a notebook, with the look of the report."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import overload

from matplotlib.figure import Figure

from pipelines.report.model import PrintedTable, Section
from pipelines.report.render import render_piece

DOTS_PER_INCH = 110


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What IPython shows as HTML; `piece` has the values behind it."""

    piece: Section | PrintedTable

    def _repr_html_(self) -> str:
        return render_piece(self.piece)


@dataclass(frozen=True, slots=True)
class Picture:
    """What IPython shows as an image that needs no script and no network."""

    figure: Figure

    def _repr_png_(self) -> bytes:
        drawn = BytesIO()
        self.figure.savefig(drawn, format="png", dpi=DOTS_PER_INCH)
        return drawn.getvalue()


@overload
def show(piece: Figure) -> Picture: ...
@overload
def show(piece: Section | PrintedTable) -> Exhibit: ...
def show(piece: Section | PrintedTable | Figure) -> Exhibit | Picture:
    """A section of the report (verdict, pictures, tables, remarks), one table, or a plot."""
    return Picture(piece) if isinstance(piece, Figure) else Exhibit(piece)
