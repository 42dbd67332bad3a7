"""A lake at s3:// holds, row by row, what one in a folder holds: whatever is killed, refused or lost on the way."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("obstore", reason="the extra `objects` is not installed")

from pipelines.lake.configuration.sources import read_sources
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import TABLES
from pipelines.spark import session
from tests.lake_faults.world import World, content
from tests.support.cli import Called, call, rows_of
from tests.support.plain_spark import plain_spark
from tests.support.s3_server import WELL, Environ, S3Server, s3_server

INGEST = """
import sys
from pipelines.spark import session
from tests.support.cli import call
from tests.support.plain_spark import plain_spark
session.spark_session = plain_spark
sys.exit(call("ingest", "--config-file", sys.argv[1]).code)
"""
Contents = dict[str, dict[str, tuple[int, ...]]]


@dataclass(frozen=True)
class Bucket:
    """A server with one lake of the world's stores, and what a lake in a folder holds at each moment."""

    s3: S3Server
    world: World
    config: Path
    expected: Contents

    @property
    def lake(self) -> Lake:
        return Lake(read_sources(self.config).lake)

    def call(self, *arguments: object) -> Called:
        return call(*arguments, "--config-file", self.config)

    def rows(self, *arguments: object) -> list[dict[str, object]]:
        return rows_of(*arguments, "--config-file", self.config)


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    world, expected = World.make(tmp_path_factory.mktemp("world")), Contents()
    config = world.config(world.folder / "lakes" / "local", ["a"])
    with s3_server() as s3, pytest.MonkeyPatch.context() as patched:
        patched.setattr(session, "spark_session", plain_spark)
        for moment in ("late", "early"):
            world.move_to(moment)
            lake = world.folder / "lakes" / moment
            assert call("ingest", "--config-file", world.config(lake, ["a"])).code == 1
            expected[moment] = content(Lake(lake))
        remote = config.with_name("remote.toml")
        address = f"{s3.bucket('box')}/lakes/one"
        remote.write_text(config.read_text().replace(str(world.folder / "lakes" / "local"), address))
        yield Bucket(s3, world, remote, expected)


@pytest.fixture(autouse=True)
def well(bucket: Bucket) -> Iterator[None]:
    yield
    bucket.s3.fault = lambda environ: WELL


def test_an_ingest_ends_as_one_into_a_folder(bucket: Bucket) -> None:
    told = bucket.call("ingest")
    assert told.code == 1, told.err
    assert "`rocketlens sql` asks s3://box/lakes/one/catalog.duckdb" in told.err
    assert content(bucket.lake) == bucket.expected["early"]


def test_an_ingest_of_nothing_new_lists_little(bucket: Bucket) -> None:
    bucket.s3.asked.clear()
    assert bucket.call("ingest").code == 1
    listed = [path for method, path, _ in bucket.s3.asked if (method, path) == ("GET", "/box")]
    assert 0 < len(listed) <= 2 * len(TABLES)
    assert len(bucket.s3.asked) <= 4 * len(TABLES)


def test_what_is_asked_of_it(bucket: Bucket, tmp_path: Path) -> None:
    (counted,) = bucket.rows(
        "sql", "SELECT count(*) AS n, count(DISTINCT physical_offset) AS one FROM commitlog_messages"
    )
    assert counted["n"] == counted["one"] == bucket.expected["early"]["commitlog_messages"][0]
    made = {row["table"]: row["rows"] for row in bucket.rows("tables") if row["rows"] is not None}
    assert made == {name: rows for name, (rows, *_) in bucket.expected["early"].items() if name in made}
    assert bucket.rows("check-lake") == []
    assert bucket.call("report", "--out", tmp_path / "report.html").code == 0
    assert "OrderTopic1" in (tmp_path / "report.html").read_text()


def test_sql_reaches_no_object_but_the_parts(bucket: Bucket) -> None:
    for wanted in ("read_text('s3://box/lakes/one/catalog.duckdb')", "read_parquet('s3://box/lakes/one/tables/*/*')"):
        refused = bucket.call("sql", f"SELECT * FROM {wanted}")
        assert refused.code == 2
        assert "file system operations are disabled by configuration" in refused.err
    assert bucket.call("sql", "COPY (SELECT 1) TO 's3://box/out.parquet'").code == 2


def test_it_is_read_by_ranges(bucket: Bucket) -> None:
    bucket.s3.asked.clear()
    bucket.rows("sql", "SELECT max(physical_offset) AS top FROM commitlog_messages")
    parts = [wanted for method, path, wanted in bucket.s3.asked if method == "GET" and "/part-" in path]
    assert parts
    assert None not in parts


def refuses_parts(environ: Environ) -> str | None:
    is_part = environ["REQUEST_METHOD"] == "PUT" and "/part-" in environ["PATH_INFO"]
    return "500 Internal Server Error" if is_part else WELL


def test_what_was_refused_is_told_and_leaves_the_tables_as_they_were(bucket: Bucket) -> None:
    bucket.world.move_to("late")
    told = bucket.config.read_text()
    impatient = told.replace("[[broker]]", "[lake.storage]\nmax_retries = 0\n[[broker]]", 1)
    bucket.config.write_text(impatient)
    faults = {"answers 500 Internal Server Error": refuses_parts, "does not answer": lambda environ: "drop before"}
    for words, fault in faults.items():
        bucket.s3.fault = fault
        ended = bucket.call("ingest")
        assert ended.code == 3
        assert ended.err.count("\n") == ended.err.count("\nrocketlens: ") + 1
        assert f"the server at {bucket.s3.url} {words}" in ended.err
        assert "of-the-test" not in ended.err
    repaired = bucket.call("check-lake", "--repair")
    assert (repaired.code, repaired.out) == (3, b""), "what is not answered is no fault of the lake"
    bucket.s3.fault = lambda environ: WELL
    assert content(bucket.lake)["commitlog_messages"] == bucket.expected["early"]["commitlog_messages"]
    bucket.config.write_text(told)


def started(bucket: Bucket) -> subprocess.Popen[bytes]:
    """An ingest in another process."""
    command = [sys.executable, "-c", INGEST, str(bucket.config)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_killed_ingest_is_gone_on_with(bucket: Bucket) -> None:
    """Killed at the first part, before a commit is carried out, after one without its answer, and at the catalogue."""
    bucket.world.move_to("late")
    for where, how in (
        ("/part-", "drop before"),
        ("commitlog_messages/_delta_log/", "drop before"),
        ("commitlog_messages/_delta_log/", "drop after"),
        ("/catalog.duckdb", "drop before"),
    ):
        assert killed_at(bucket, where, how) == -signal.SIGKILL, where
    assert bucket.call("vacuum", "--keep-days", "0").code == 0
    assert bucket.call("ingest").code == 1
    assert content(bucket.lake) == bucket.expected["late"]
    assert bucket.rows("check-lake") == []


def killed_at(bucket: Bucket, where: str, how: str) -> int:
    """Ingest in another process that is killed at its first write of an object of such a name; how it ended."""
    with started(bucket) as process:

        def fault(environ: Environ) -> str | None:
            if environ["REQUEST_METHOD"] == "PUT" and where in environ["PATH_INFO"]:
                process.kill()
                return how
            return WELL

        bucket.s3.fault = fault
        ended = process.wait(timeout=300)
    bucket.s3.fault = lambda environ: WELL
    return ended


def test_of_two_ingests_one_is_told_who_writes(bucket: Bucket) -> None:
    bucket.world.move_to("early")
    writes = threading.Event()

    def seen(environ: Environ) -> str | None:
        if environ["REQUEST_METHOD"] == "PUT" and "/part-" in environ["PATH_INFO"]:
            writes.set()
        return WELL

    bucket.s3.fault = seen
    with started(bucket) as process:
        assert writes.wait(timeout=300)
        other = bucket.call("ingest")
        assert process.wait(timeout=300) == 1
    assert other.code == 3
    assert f"s3://box/lakes/one: process {process.pid} on " in other.err
    assert content(bucket.lake) == bucket.expected["early"]


def test_what_was_replaced_can_be_removed(bucket: Bucket) -> None:
    listed = bucket.rows("vacuum", "--keep-days", "0", "--dry-run")
    assert listed
    removed = bucket.rows("vacuum", "--keep-days", "0")
    assert [row["path"] for row in removed] == [row["path"] for row in listed]
    assert bucket.rows("vacuum", "--keep-days", "0") == []
    assert content(bucket.lake) == bucket.expected["early"]
    named = {path for name in TABLES for path in bucket.lake.files(name)}
    there = {str(place) for place in bucket.lake.root.rglob("part-*")}
    assert there == named


def test_a_part_that_is_gone_is_read_again(bucket: Bucket) -> None:
    root = bucket.lake.table_root("consumequeue_units")
    next(iter(root.rglob("part-*"))).unlink()
    asked = bucket.call("sql", "SELECT max(physical_offset) FROM consumequeue_units")
    assert (asked.code, asked.err.count("\n")) == (3, 1), asked.err
    assert asked.err.endswith(".parquet: is not there\n")
    (fault,) = rows_of_faults(bucket)
    assert fault["what"] == "is not there"
    assert bucket.call("check-lake", "--repair").code in (0, 4)
    assert content(bucket.lake)["consumequeue_units"] == bucket.expected["early"]["consumequeue_units"]


def rows_of_faults(bucket: Bucket) -> list[dict[str, object]]:
    told = bucket.call("check-lake", "--format", "jsonl")
    assert told.code == 1
    return told.rows
