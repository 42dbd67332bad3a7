"""SQL of users reads the lake and nothing else, and writes nothing."""

from __future__ import annotations

import resource
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import rocketlens as rl
from pipelines.lake import catalog, questions
from pipelines.lake.catalog import NoCatalog, publish
from pipelines.lake.delta.errors import CatalogueUnwritten
from pipelines.lake.lake import Lake, quoted
from pipelines.lake.tables.raw import TABLES
from pipelines.objects.both import connected
from tests.support.cli import call, rows_of
from tests.support.copies import copy_tree
from tests.support.evidence import state

TABLE = "checkpoints"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lake = Lake(tmp_path / "la'ke")
    schema = TABLES[TABLE].bare_schema
    lake.write(TABLE, pa.Table.from_pylist([{"broker": "a", "file": "checkpoint"}], schema=schema))
    publish(lake)
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (tmp_path / "rocketlens.toml").write_text('[lake]\npath = "la\'ke"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_catalogue_that_the_system_refuses_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, before[1]))
    try:
        with pytest.raises(CatalogueUnwritten, match="the catalogue of the lake: "):
            publish(lake)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(lake.root.iterdir()) == []


def test_a_lake_that_was_moved_is_asked_where_it_is_now(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lake = Lake((config / "la'ke").rename(config / "moved"))
    before = state(lake.root)
    for _ in range(2):
        with catalog.open_catalog(lake) as published:
            assert published.sql(f"SELECT broker FROM {TABLE}").fetchall() == [("a",)]
            with pytest.raises(duckdb.PermissionException):
                published.sql("SELECT * FROM 'secret.csv'")
    assert state(lake.root) == before
    (kept,) = (tmp_path / "cache" / "rocketlens" / "catalogues").iterdir()
    assert kept.suffix == ".duckdb"
    publish(lake)
    kept.unlink()
    with catalog.open_catalog(lake) as published:
        assert published.sql(f"SELECT broker FROM {TABLE}").fetchall() == [("a",)]
    assert not kept.exists(), "the published one is of this place"


def test_a_moved_lake_without_a_cache_is_one_sentence(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(NoCatalog, match="names files of the lake's former place"):
        catalog.open_catalog(Lake((config / "la'ke").rename(config / "moved")))


def test_a_catalogue_is_published_again_when_only_questions_change(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    altered = tmp_path / "questions"
    copy_tree(questions.QUESTIONS, altered)
    monkeypatch.setattr(questions, "QUESTIONS", altered)
    lake = Lake(config / "la'ke")
    first = publish(lake).stat().st_ino
    assert publish(lake).stat().st_ino == first, "the same questions"
    (altered / "new_one.sql").write_text("-- How many?\nSELECT 1 AS n;\n")
    publish(lake)
    with catalog.open_catalog(lake) as published:
        assert published.sql("SELECT n FROM new_one").fetchall() == [(1,)]


def test_a_question_is_answered_after_one_that_failed(config: Path) -> None:
    """A notebook keeps the last error, and with it DuckDB: every later question failed for the locked configuration."""
    lake = rl.lake()
    with pytest.raises(rl.RocketlensError) as kept:
        lake.sql("SELECT 1 FRM checkpoints")
    assert lake.sql("checkpoints")["broker"] == ["a"]
    del kept


def test_connections_that_are_open_at_a_time_are_confined_alike(config: Path) -> None:
    lake = Lake(config / "la'ke")
    with catalog.open_catalog(lake) as one, catalog.open_catalog(lake) as other:
        for connection in (one, other):
            assert connection.sql("SELECT current_setting('TimeZone')").fetchall() == [("UTC",)]
            assert connection.sql("SELECT broker FROM checkpoints").fetchall() == [("a",)]
            with pytest.raises(duckdb.PermissionException):
                connection.sql(f"SELECT * FROM '{config / 'secret.csv'}'")


def stored(config: Path) -> Path:
    return next(config.glob("la'ke/tables/**/*.parquet"))


REFUSED = [
    "COPY (SELECT 1) TO '{folder}/new.csv'",
    "COPY (SELECT 1) TO '{stored}' (USE_TMP_FILE false)",
    "COPY (PIVOT checkpoints ON broker) TO '{stored}' (USE_TMP_FILE false)",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{stored}' (USE_TMP_FILE false)",
    "PREPARE p AS COPY (SELECT 1) TO '{stored}' (USE_TMP_FILE false)",
    "SELECT 1; COPY (SELECT 1) TO '{stored}' (USE_TMP_FILE false)",
    "EXPORT DATABASE '{folder}/new'",
    "ATTACH '{folder}/new.duckdb' AS n",
    "SELECT * FROM '{folder}/secret.csv'",
    "SELECT * FROM read_text('{folder}/secret.csv')",
    "SELECT * FROM glob('{folder}/*')",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CREATE PERSISTENT SECRET s (TYPE s3)",
    "SET enable_external_access = true",
    "SET allowed_directories = ['{folder}']",
    "PRAGMA profiling_output='{folder}/new'",
    "IMPORT DATABASE '{folder}'",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_nothing_but_the_lake_is_reached(sql: str, config: Path) -> None:
    asked = sql.format(folder=str(config).replace("'", "''"), stored=str(stored(config)).replace("'", "''"))
    before = state(config)
    called = call("sql", asked)
    assert (called.code, called.out) == (2, b""), called.err
    with pytest.raises(Exception, match=r"Error|only what reads"):
        rl.lake().sql(asked)
    assert state(config) == before


def test_what_is_asked_for_is_given(config: Path) -> None:
    assert rows_of("sql", f"SELECT broker FROM {TABLE}") == [{"broker": "a"}]
    assert rows_of("sql", f"PIVOT {TABLE} ON broker USING count(*) GROUP BY file")
    assert rows_of("sql", "EXPLAIN SELECT 1")
    assert rows_of("sql", "SET VARIABLE x = 1; SELECT getvariable('x') AS x")
    assert rl.lake().sql(f"SELECT broker FROM {TABLE}")["broker"] == ["a"]
    assert rows_of("sql", f"SELECT * FROM '{config}/secret.csv'", "--unsafe") == [{"a": 1}]


def test_no_variable_of_ours_is_a_table(config: Path) -> None:
    assert call("sql", "SELECT * FROM schema").code == 2


def test_two_columns_of_one_name_are_told_apart(config: Path) -> None:
    assert rows_of("sql", "SELECT 1 AS x, 2 AS x, 3 AS x_1") == [{"x": 1, "x_1": 2, "x_1_1": 3}]


def test_what_is_published_names_the_files_and_types_of_each_table(config: Path) -> None:
    """The views are made without a lake, and know the types of their columns from the declaration alone."""
    lake = Lake(config / "la'ke")
    with catalog.open_catalog(lake) as published:
        for table in TABLES.values():
            described = published.execute(f'DESCRIBE "{table.name}"').fetchall()
            with connected(lake.root) as beside:
                assert described == beside.execute(f"DESCRIBE {lake.select(table.name)}").fetchall(), table.name
    assert catalog.published_files(lake) == {file for name in TABLES for file in lake.files(name)}


def test_a_catalogue_of_an_earlier_checkout_is_asked_until_the_next_ingest(config: Path) -> None:
    lake = Lake(config / "la'ke")
    lake.catalog.unlink()
    with duckdb.connect(str(lake.catalog)) as earlier:
        earlier.execute(f"CREATE VIEW {TABLE} AS {lake.select(TABLE)}")
        earlier.execute(f"CREATE MACRO {catalog.VERSIONS}() AS {quoted(catalog.made_from(lake))}")
    with catalog.open_catalog(lake) as published:
        assert published.sql(f"SELECT broker FROM {TABLE}").fetchall() == [("a",)]
    assert catalog.published_files(lake) == set(lake.files(TABLE))
