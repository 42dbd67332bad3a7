"""Answers in the output cells of a notebook, with the look of the report."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any, overload

from matplotlib.figure import Figure

from pipelines.report.facts.model import Column, PrintedTable, Section
from pipelines.report.render import render_piece

if TYPE_CHECKING:
    import pandas as pd

DOTS_PER_INCH = 110
SEEN = """<style>[data-jp-theme-light="false"] .rocketlens-picture {{ filter:invert(.93) hue-rotate(180deg); }}</style>
<img class="rocketlens-picture" style="max-width:100%" alt="{alt}" src="data:image/png;base64,{content}">"""
"""A picture in JupyterLab, which has no sign but an attribute for its dark theme: dark there, with the same hues."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What IPython shows as HTML; `piece` has the values that it shows."""

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

    def _repr_html_(self) -> str:
        titles = "; ".join(filter(None, (axes.get_title("left") for axes in self.figure.axes)))
        return SEEN.format(alt=escape(titles), content=b64encode(self._repr_png_()).decode())


@overload
def show(piece: Figure) -> Picture: ...
@overload
def show(piece: Section | PrintedTable | pd.DataFrame) -> Exhibit: ...
def show(piece: Section | PrintedTable | pd.DataFrame | Figure) -> Exhibit | Picture:
    """A section of the report (verdict, pictures, tables, remarks), one table, a frame, or a plot."""
    if isinstance(piece, Figure):
        return Picture(piece)
    return Exhibit(piece if isinstance(piece, Section | PrintedTable) else _table_of(piece))


def _table_of(frame: pd.DataFrame) -> PrintedTable:
    """A frame's columns in their order, null as unknown."""
    columns = [Column(str(name), str(name).replace("_", " "), _is_number(frame[name])) for name in frame.columns]
    rows = [{str(name): _known(value) for name, value in row.items()} for row in frame.to_dict("records")]
    return PrintedTable(columns, rows)


def _known(value: Any) -> Any:
    """pandas has several nulls, a report one; a list comes as an array or as a list."""
    import numpy as np
    import pandas as pd

    if isinstance(value, np.ndarray | list):
        return [_known(part) for part in value]
    return None if pd.api.types.is_scalar(value) and pd.isna(value) else value


def _is_number(column: pd.Series[Any]) -> bool:
    return column.dtype.kind in "iuf"
