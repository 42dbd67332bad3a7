"""`lake/catalog.duckdb`: one documented view per table, published by a swap so that readers never block a run.

A DuckDB file that is open for writing locks out everybody else. So a new catalogue is built beside the old one and put
in its place; whoever has the old one open goes on with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import duckdb

from pipelines.lake import Lake, quoted
from pipelines.table import Table
from pipelines.tables import TABLES

QUESTIONS = Path(__file__).resolve().parent / "sql"


class NoCatalog(Exception):
    """There is no published catalogue to ask: one sentence."""


def publish(lake: Lake) -> Path:
    """Write the catalogue of the lake as it is now and swap it in; where it is."""
    lake.root.mkdir(parents=True, exist_ok=True)
    fresh = lake.catalog.with_name(f"catalog.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    try:
        with duckdb.connect(str(fresh)) as connection:
            connection.begin()
            for table in TABLES.values():
                for statement in view_statements(table, lake.select(table.name)):
                    connection.execute(statement)
            connection.commit()
        os.replace(fresh, lake.catalog)
    finally:
        fresh.unlink(missing_ok=True)
    return lake.catalog


def view_statements(table: Table, select: str) -> Iterable[str]:
    """The view of a table and its comments."""
    yield f'CREATE VIEW "{table.name}" AS {select}'
    yield f'COMMENT ON VIEW "{table.name}" IS {quoted(f"One row: {table.grain}.")}'
    for column in table.columns:
        yield f'COMMENT ON COLUMN "{table.name}"."{column.name}" IS {quoted(column.comment)}'


def open_catalog(lake: Lake) -> duckdb.DuckDBPyConnection:
    """A read-only connection to the published catalogue, times in UTC. Raises NoCatalog before the first ingest."""
    if not lake.catalog.exists():
        raise NoCatalog(f"{lake.catalog}: no catalogue yet; run `rocketlens ingest` or `python3 run.py demo` first")
    connection = duckdb.connect(str(lake.catalog), read_only=True)
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def question_names() -> list[str]:
    """The questions in pipelines/sql, by name."""
    return sorted(path.stem for path in QUESTIONS.glob("*.sql"))


def question(name: str) -> str:
    """The SQL of a question. Raises ValueError naming the ones there are."""
    if name not in question_names():
        raise ValueError(f"no question {name!r} (there are {', '.join(question_names())})")
    return (QUESTIONS / f"{name}.sql").read_text("utf-8").rstrip().removesuffix(";")
