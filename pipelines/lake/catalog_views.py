"""The views of a catalogue with their comments, which are the same for every lake.

A view reads the rows of its table through a macro of that table, which names the files of a lake. Hundreds of comments
take longer than all else of a small lake, so a process writes them once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from pipelines.lake.lake import no_rows, quoted
from pipelines.lake.questions import asked_by, question, question_views
from pipelines.lake.tables.raw import TABLES
from pipelines.lake.tables.table import Table


def rows_of(name: str, select: str) -> str:
    """SQL that makes a table's rows what `select` gives."""
    return f"CREATE OR REPLACE MACRO {_macro(name)}() AS TABLE {select}"


def views_script() -> str:
    """SQL of all views, of tables and of stored questions, with their comments; the tables' rows come before it."""
    statements = [sql for table in TABLES.values() for sql in _of_table(table)]
    for name in question_views():
        statements += [f'CREATE VIEW "{name}" AS {question(name)}', _comment("VIEW", f'"{name}"', asked_by(name))]
    return ";\n".join(statements)


@lru_cache(maxsize=1)
def without_rows(script: str) -> bytes:
    """A catalogue in which every table is empty: the bytes of its file. Raises OSError, duckdb.IOException."""
    with TemporaryDirectory(prefix="rocketlens-catalogue-") as folder:
        file = Path(folder) / "empty.duckdb"
        with duckdb.connect(str(file)) as connection:
            connection.execute("PRAGMA disable_optimizer")  # nothing is to be answered
            connection.begin()
            connection.execute(";\n".join(rows_of(table.name, no_rows(table)) for table in TABLES.values()))
            connection.execute(script)
            connection.commit()
        return file.read_bytes()


def _of_table(table: Table) -> Iterator[str]:
    yield f'CREATE VIEW "{table.name}" AS FROM {_macro(table.name)}()'
    yield _comment("VIEW", f'"{table.name}"', f"One row: {table.grain}.")
    for column in table.columns:
        yield _comment("COLUMN", f'"{table.name}"."{column.name}"', column.comment)


def _macro(name: str) -> str:
    return f'"rows_of_{name}"'


def _comment(kind: str, what: str, comment: str) -> str:
    return f"COMMENT ON {kind} {what} IS {quoted(comment)}"
