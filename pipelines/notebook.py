"""What the notebooks stand on: the published catalogue of the configured lake, and `%sql`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pipelines.catalog import ask, open_catalog
from pipelines.lake import Lake
from pipelines.sources import configured_file, read_sources

if TYPE_CHECKING:
    import pandas as pd


class Desk:
    """An open, read-only catalogue. Raises NoCatalog or SourcesError, one sentence each, where there is none yet."""

    def __init__(self) -> None:
        self.sources = read_sources(configured_file())
        self.connection = open_catalog(Lake(self.sources.lake))

    def ask(self, sql: str) -> pd.DataFrame:
        """The answer to SQL, or to a question of pipelines/sql by its name, as a pandas frame."""
        import pandas as pd

        answer = ask(self.connection, sql)
        return pd.DataFrame() if answer is None else answer.to_df()


def open_desk() -> Desk:
    """The catalogue; inside IPython also `%sql` on it, and figures shown as pictures.

    `%sql SELECT …` shows an answer; `%%sql name` keeps it in a variable.
    """
    from IPython.core.getipython import get_ipython

    desk = Desk()
    shell: Any = get_ipython()
    if shell is not None:
        _show_figures(shell)
        shell.register_magic_function(_sql_magic(desk, shell), magic_kind="line_cell", magic_name="sql")
    return desk


def _show_figures(shell: Any) -> None:
    from IPython.core import pylabtools

    formats: Any = pylabtools.select_figure_formats
    formats(shell, {"png"})


def _sql_magic(desk: Desk, shell: Any) -> Callable[..., pd.DataFrame | None]:
    def sql(line: str, cell: str | None = None) -> pd.DataFrame | None:
        answer = desk.ask((cell if cell is not None else line).strip())
        if cell is not None and line.strip():
            shell.user_ns[line.strip()] = answer
            return None
        return answer

    return sql
