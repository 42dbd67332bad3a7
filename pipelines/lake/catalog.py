"""`lake/catalog.duckdb`: a documented view per table and stored question, published by a swap.

Readers never block a run: a DuckDB file that is open for writing locks out everybody else, so a new catalogue is built
beside the old one and put in its place; whoever has the old one open goes on with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from pipelines.installed.version import installed_version
from pipelines.lake.catalog_views import rows_of, views_script, without_rows
from pipelines.lake.delta.errors import CatalogueUnwritten, first_line
from pipelines.lake.lake import Lake, quoted
from pipelines.lake.questions import question_named
from pipelines.lake.tables.raw import TABLES
from pipelines.objects.both import connected, read_parts
from pipelines.objects.place import ObjectPlace, Place

READING = {
    duckdb.StatementType.SELECT,
    duckdb.StatementType.EXPLAIN,
    duckdb.StatementType.MULTI,
    duckdb.StatementType.PRAGMA,
    duckdb.StatementType.SET,
}
"""Statements that only read where files, extensions and settings are out of reach."""
MAY_HIDE_A_COPY = {duckdb.StatementType.EXPLAIN, duckdb.StatementType.MULTI}
WRITING_WORD = re.compile(r"\b(copy|export)\b", re.IGNORECASE)
STORED_FILE = re.compile(r"'(?:[^']|'')*\.parquet'")
CONFINEMENT = (
    "SET python_enable_replacements = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


VERSIONS = "rocketlens_versions"
"""A macro of the catalogue that tells what it was made from."""
FILES = "rocketlens_files"
"""A macro that tells the files of all tables. The macros of the tables name them too, but DuckDB goes through every
function that it has to list those."""


class NoCatalog(Exception):
    """There is no published catalogue to ask: one sentence."""


class NotReading(Exception):
    """SQL that may write files or load something, asked of a catalogue that is only read: one sentence."""


def publish(lake: Lake) -> Place:
    """Write the catalogue of the lake as it is now and swap it in, unless it is there already; where it is.

    Raises:
        CatalogueUnwritten: the system refuses, as where the disk is full.
    """
    told = made_from(lake)
    if _published(lake) == told:
        return lake.catalog
    with new_catalogue(lake.catalog) as fresh:
        _write(lake, told, fresh)
    return lake.catalog


def _write(lake: Lake, told: str, fresh: Path) -> None:
    """Write a catalogue, made from what `told` says, to a new file. Raises CatalogueUnwritten, what `select` raises."""
    rows = [rows_of(name, lake.select(name)) for name in TABLES]
    try:
        fresh.write_bytes(without_rows(views_script()))
        with connected(lake.root, fresh) as connection:
            connection.begin()
            for statement in rows:
                connection.execute(statement)
            files = ", ".join(name for statement in rows for name in STORED_FILE.findall(statement))
            connection.execute(f"CREATE MACRO {FILES}() AS [{files}]")
            connection.execute(f"CREATE MACRO {VERSIONS}() AS {quoted(told)}")
            connection.commit()
    except (OSError, duckdb.IOException, duckdb.TransactionException) as refused:
        raise CatalogueUnwritten(f"the catalogue of the lake: {first_line(str(refused))}") from refused


def made_from(lake: Lake) -> str:
    """Everything that decides the content of a catalogue, or of anything else made from a whole lake: its place, the
    versions of its tables, the version of rocketlens, and the views with their comments."""
    tables = {name: lake.version(name) for name in TABLES}
    views = hashlib.sha256(views_script().encode()).hexdigest()[:32]
    return json.dumps([installed_version(), str(lake.root), tables, views])


def _published(lake: Lake) -> str | None:
    if not lake.catalog.exists():
        return None
    with duckdb.connect(str(catalogue_here(lake.catalog)), read_only=True) as connection:
        return _made_from(connection)


def _made_from(connection: duckdb.DuckDBPyConnection) -> str | None:
    """What a catalogue was made from, as `made_from` says it; None where it does not tell."""
    try:
        found = connection.execute(f"SELECT {VERSIONS}()").fetchone()
    except duckdb.Error:
        return None
    return None if found is None else str(found[0])


def open_catalog(lake: Lake, *, unsafe: bool = False) -> duckdb.DuckDBPyConnection:
    """A read-only connection to the published catalogue, times in UTC. Raises NoCatalog before the first ingest.

    It reaches no file but those of the catalogue's views, no network and no extension, and its configuration is locked;
    `ask` sees to it that those files are only read. Connections of a process that are open at a time share one
    instance of DuckDB, and with it what the first of them was confined to.

    Args:
        unsafe: restrict DuckDB in nothing; it may write files, too.
    """
    if not lake.catalog.exists():
        raise NoCatalog(f"{lake.catalog}: no catalogue yet; run `rocketlens ingest` first")
    connection = duckdb.connect(str(catalogue_here(lake.catalog)), read_only=True)
    told = _made_from(connection)
    if told is not None and json.loads(told)[1] != str(lake.root):
        connection.close()
        connection = duckdb.connect(str(_of_moved(lake)), read_only=True)
    if not unsafe and _is_confined(connection):
        return connection
    read_parts(connection, lake.root)
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    if not unsafe:
        _confine(connection)
    return connection


def _of_moved(lake: Lake) -> Path:
    """A catalogue in the user's own cache for a lake that was moved: the published one names files of its old place."""
    told = made_from(lake)
    try:
        return _kept(str(lake.catalog), told, lambda fresh: _write(lake, told, fresh))
    except OSError as refused:
        why = f"it names files of the lake's former place, and another cannot be kept: {refused}"
        raise NoCatalog(f"{lake.catalog}: {why}; run `rocketlens ingest` first") from None


def _is_confined(connection: duckdb.DuckDBPyConnection) -> bool:
    (is_locked,) = connection.execute("SELECT current_setting('lock_configuration')").fetchall()[0]
    return bool(is_locked)


def published_files(lake: Lake) -> set[str]:
    """The Parquet files that the published catalogue reads; none before the first ingest."""
    if not lake.catalog.exists():
        return set()
    with duckdb.connect(str(catalogue_here(lake.catalog)), read_only=True) as connection:
        return set(_files(connection))


def _files(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The files of all tables; a catalogue of an earlier checkout names them in its views alone."""
    try:
        (told,) = connection.execute(f"SELECT {FILES}()").fetchall()[0]
    except duckdb.CatalogException:
        views = connection.execute("SELECT sql FROM duckdb_views() WHERE NOT internal").fetchall()
        return [name[1:-1].replace("''", "'") for (sql,) in views for name in STORED_FILE.findall(sql)]
    return list(told)


def _confine(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(f"SET allowed_paths = [{', '.join(map(quoted, _files(connection)))}]")
    for setting in CONFINEMENT:
        connection.execute(setting)


def ask(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation | None:
    """The answer to SQL, or to a question of pipelines/lake/sql by its name; None of a statement that has none.

    Raises:
        NotReading: a statement that may write or load something.
        duckdb.Error: the SQL is wrong.
    """
    asked = question_named(sql)
    for statement in duckdb.extract_statements(asked):
        hidden = statement.type in MAY_HIDE_A_COPY and WRITING_WORD.search(statement.query)
        if statement.type not in READING or hidden:
            kind = hidden[0].upper() if hidden else statement.type.name
            raise NotReading(f"{kind}: only what reads the lake is answered here; `rocketlens sql --unsafe` takes all")
    return connection.sql(asked)


def said_by(error: duckdb.Error) -> str:
    """What DuckDB says of a question, in one line: without the place in it, which is drawn below its text."""
    sentence = str(error).partition("\n\nLINE ")[0]
    return f"DuckDB: {' '.join(sentence.split())}"


def catalogue_here(catalog: Place) -> Path:
    """The catalogue as a file of this machine. Raises FileNotFoundError where there is none, OSError.

    Each content of one on an object store is fetched once and kept in the user's own cache, under another name: whoever
    has an earlier one open goes on with it.
    """
    if isinstance(catalog, Path):
        return catalog
    return _kept(str(catalog), catalog.stat().e_tag, lambda fresh: fresh.write_bytes(catalog.read_bytes()))


def _kept(lake: str, content: str, write: Callable[[Path], object]) -> Path:
    """A catalogue in the user's own cache, written if it is not there; earlier ones of that lake go. Raises OSError."""
    folder, of_lake = _cache(), _digest(lake)
    file = folder / f"{of_lake}-{_digest(content)}.duckdb"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as place:
            write(fresh := Path(place) / file.name)
            for old in folder.glob(f"{of_lake}-*.duckdb"):
                old.unlink(missing_ok=True)
            fresh.replace(file)
    return file


@contextmanager
def new_catalogue(catalog: Place) -> Iterator[Path]:
    """A file to write a new catalogue to, which takes the place of the published one when the block ends well."""
    if isinstance(catalog, ObjectPlace):
        with tempfile.TemporaryDirectory(prefix="rocketlens-catalogue-") as folder:
            yield (fresh := Path(folder) / catalog.name)
            catalog.write_bytes(fresh.read_bytes())
        return
    catalog.parent.mkdir(parents=True, exist_ok=True)
    fresh = catalog.with_name(f"catalog.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    try:
        yield fresh
        os.replace(fresh, catalog)
    finally:
        for left in (fresh, fresh.with_name(f"{fresh.name}.wal")):
            left.unlink(missing_ok=True)


def _cache() -> Path:
    """The user's own cache, as XDG's base directories say."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rocketlens" / "catalogues"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
