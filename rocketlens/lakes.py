"""What `rocketlens ingest` collected, asked in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rocketlens.errors import RocketlensError
from rocketlens.gathered import rows_of, sentences
from rocketlens.magic import offer_sql
from rocketlens.piece import Piece
from rocketlens.rows import Rows


class Lake:
    """The lake of one `rocketlens.toml`; its published catalogue is opened read-only by each question."""

    def __init__(self, config: Path) -> None:
        self.config = config

    def __repr__(self) -> str:
        return f"<Lake of {self.config}>"

    def _repr_html_(self) -> str:
        from pipelines.notebook.outlines import lake_outline

        with sentences():
            return Piece(lake_outline(self.config))._repr_html_()

    def sql(self, query: str) -> Rows:
        """The answer to SQL of DuckDB, or to a stored question by its name.

        >>> lake.sql("SELECT count(*) AS messages FROM commitlog_messages")["messages"]
        [0]
        """
        from pipelines.cli.commands.lake.lake import sql

        return rows_of(sql, query=query, config_file=self.config)

    def tables(self) -> Rows:
        """What there is to ask: each table, what one row of it is, and the stored questions as views.

        >>> lake.tables()["table"][:2]
        ['assignment_divergence', 'assignments']
        """
        return self.sql(
            'SELECT view_name AS "table", comment AS one_row FROM duckdb_views() WHERE NOT internal ORDER BY 1'
        )

    def questions(self) -> list[str]:
        """Names of the stored questions.

        >>> lake.questions()[:2]
        ['bytes_accounted_for', 'copies_unlike_log']
        """
        from pipelines.lake.questions import question_names

        return question_names()


def query_over(query: str, tables: Mapping[str, Rows]) -> Rows:
    """Ask DuckDB, in memory. Raises RocketlensError."""
    import duckdb

    from pipelines.lake.catalog import said_by

    with duckdb.connect(config={"enable_external_access": "false"}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, rows in tables.items():
            connection.register(name, rows.table)
        try:
            return Rows(connection.sql(query).to_arrow_table())
        except duckdb.Error as wrong:
            raise RocketlensError(said_by(wrong)) from wrong


def configured_lake(config: Path | None) -> Lake:
    """The lake that the file names. Raises RocketlensError."""
    from pipelines.lake.configuration.sources import SourcesError, configured_file, read_sources

    try:
        found = configured_file(config)
        read_sources(found)
    except SourcesError as wrong:
        raise RocketlensError(str(wrong)) from wrong
    lake = Lake(found)
    offer_sql(lake)
    return lake
