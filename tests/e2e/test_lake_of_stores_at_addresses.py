"""Stores at s3:// fill a lake as stores in folders do; each byte is fetched once, and none of what is unchanged."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("obstore", reason="the extra `objects` is not installed")

from pipelines.ingest.changes import changes_of
from pipelines.ingest.ingested import IngestedFiles
from pipelines.ingest.made_from import MadeFrom
from pipelines.ingest.watermarks import watermarks_of
from pipelines.lake.configuration.addressed_stores import stores_here
from pipelines.lake.configuration.broker_stores import store_of
from pipelines.lake.configuration.sources import read_sources
from pipelines.lake.lake import Lake
from pipelines.objects.listing import PREFIX
from pipelines.spark import session
from tests.lake_faults.world import LAST, World, content
from tests.support.cli import call
from tests.support.plain_spark import plain_spark
from tests.support.s3_server import WELL, S3Server, s3_server
from tests.support.uploads import upload

INGEST = """
import sys
from pipelines.ingest import derive
from pipelines.spark import session
from tests.support.cli import call
from tests.support.plain_spark import plain_spark
session.spark_session = plain_spark
derive.hour_of = lambda now: None  # the same in every ingest: in another hour some tables are made again
done = call("ingest", "--config-file", sys.argv[1])
print(done.err, file=sys.stderr)
sys.exit(done.code)
"""
READ = """
import sys
from dataclasses import replace
from parsers.evidence.mapped import map_file
from pipelines.objects.place import ObjectPlace
from pipelines.objects.storage import Storage
from pipelines.objects.view import at_hand, viewed

def size_read(view, name):
    with at_hand(view):
        return len(bytes(map_file(view.folder / name)))

if __name__ == "__main__":
    import multiprocessing
    spawn, (address, name, moved) = multiprocessing.get_context("spawn"), sys.argv[1:]
    with viewed(ObjectPlace.of(address, Storage()), is_shared=True) as view:
        here = len(bytes(map_file(view.folder / name)))
        elsewhere = replace(view, scratch=view.scratch.with_name(moved)) if moved else view
        with spawn.Pool(1) as pool:
            assert [here, here] == pool.starmap(size_read, [(elsewhere, name), (elsewhere, name)])
"""
STATES = ("ingested_files",)
"""Tables of what files were, by which a file in a folder is known and an object is not."""


@dataclass(frozen=True)
class Away:
    """A store in a bucket, a lake that is filled from it, and what one of the same store in a folder holds."""

    s3: S3Server
    world: World
    address: str
    config: Path
    scratch: Path
    expected: dict[str, dict[str, tuple[int, ...]]]

    @property
    def lake(self) -> Lake:
        return Lake(read_sources(self.config).lake)

    def ingest(self) -> subprocess.CompletedProcess[str]:
        """One in a process of its own: whoever touches a page holds up the server, if that is in the same one."""
        self.s3.asked.clear()
        return self.run(INGEST, str(self.config))

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        script = self.world.folder / "script.py"
        script.write_text(program)
        called = [sys.executable, str(script), *arguments]
        root = Path(__file__).resolve().parents[2]
        environ = {**os.environ, "TMPDIR": str(self.scratch), "PYTHONPATH": str(root)}
        return subprocess.run(called, env=environ, capture_output=True, text=True, check=False)

    def asked(self) -> Counter[str]:
        """Bytes by the object's place in the store; requests without a range are counted as such."""
        found = Counter[str]()
        for method, path, wanted in self.s3.asked:
            first, _, last = (wanted or "").removeprefix("bytes=").partition("-")
            of = path.partition("/stores/a/")[2] if wanted else method
            found[of] += int(last) - int(first) + 1 if wanted else 1
        return found

    def size(self, name: str) -> int:
        return (self.world.store("a") / name).stat().st_size


@pytest.fixture(scope="module")
def away(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Away]:
    world, scratch = World.make(tmp_path_factory.mktemp("world")), tmp_path_factory.mktemp("scratch")
    local = world.config(world.folder / "lakes" / "local", ["a"])
    expected = dict[str, dict[str, tuple[int, ...]]]()
    with s3_server() as s3, pytest.MonkeyPatch.context() as patched:
        patched.setattr(session, "spark_session", plain_spark)
        address = f"{s3.bucket('box')}/stores/a"
        config = world.config(world.folder / "lakes" / "remote", ["a"])
        config.write_text(config.read_text().replace(str(world.store("a")), address))
        made = Away(s3, world, address, config, scratch, expected)
        upload(world.store("a"), address)
        call("ingest", "--config-file", local)
        expected["early"] = content(read_lake(local))
        yield made


def read_lake(config: Path) -> Lake:
    return Lake(read_sources(config).lake)


@pytest.fixture(autouse=True)
def well(away: Away) -> Iterator[None]:
    yield
    away.s3.fault = lambda environ: WELL
    until = time.monotonic() + 30  # of a worker that was killed, its pager removes it
    while left := list(away.scratch.glob(f"*{PREFIX}*")):
        assert time.monotonic() < until, f"stays behind: {left}"
        time.sleep(0.05)


def of_rows(tables: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    return {name: sums for name, sums in tables.items() if name not in STATES}


@pytest.fixture(scope="module")
def first(away: Away) -> Counter[str]:
    """What the first ingest asked for."""
    done = away.ingest()
    assert done.returncode == 1, done.stderr
    assert f"next: `rocketlens verify {away.address}`" in done.stderr
    return away.asked()


def test_the_tables_are_those_of_a_folder_and_each_byte_comes_once(away: Away, first: Counter[str]) -> None:
    asked = first.copy()
    assert asked.pop("GET") == 1, "one listing"
    assert asked == {name: away.size(name) for name in asked}
    assert of_rows(content(away.lake)) == of_rows(away.expected["early"])


@pytest.mark.usefixtures("first")
def test_an_unchanged_store_is_listed_and_no_more(away: Away) -> None:
    done = away.ingest()
    assert "0 files read" in done.stderr
    assert away.asked() == {"GET": 1}


@pytest.mark.usefixtures("first")
def test_a_sensor_s_thread_lists_and_sees_what_has_changed(away: Away) -> None:
    found: list[bool] = []

    def look() -> None:
        with stores_here(read_sources(away.config)) as sources:
            (broker,) = sources.brokers
            as_read = broker.cut_at(watermarks_of(away.lake)[broker.name])
            known = IngestedFiles.load(away.lake, broker.name)
            found.append(bool(changes_of(as_read, store_of(broker), known, MadeFrom.load(away.lake))))

    for _ in range(2):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        upload(away.world.store("a"), away.address, [LAST])  # the same bytes at another time
    assert found == [False, True]


def test_workers_share_what_was_fetched(away: Away) -> None:
    away.s3.asked.clear()
    assert away.run(READ, away.address, LAST, "").returncode == 0
    assert away.asked() == {"GET": 1, LAST: away.size(LAST)}


def test_a_worker_elsewhere_lays_it_out_for_itself(away: Away) -> None:
    away.s3.asked.clear()
    done = away.run(READ, away.address, LAST, f"{PREFIX}elsewhere")
    assert done.returncode == 0, done.stderr
    assert away.asked() == {"GET": 2, LAST: 2 * away.size(LAST)}


@pytest.mark.usefixtures("first")
def test_a_grown_file_is_read_on_and_the_others_are_left(away: Away) -> None:
    away.world.move_to("late")
    upload(away.world.store("a"), away.address, [LAST])
    local = away.world.config(away.world.folder / "lakes" / "local", ["a"])
    call("ingest", "--config-file", local)
    done = away.ingest()
    assert done.returncode == 1, done.stderr
    assert of_rows(content(away.lake)) == of_rows(content(read_lake(local)))


@pytest.mark.usefixtures("first")
def test_a_store_that_is_refused_is_named_and_the_others_are_read(away: Away) -> None:
    two = away.config.with_name("two.toml")
    two.write_text(away.config.read_text() + f'[[broker]]\nname = "gone"\nstore = "{away.address}-gone"\n')
    done = away.run(INGEST, str(two))
    assert done.returncode == 1, done.stderr
    assert f"not read: gone: {away.address}-gone: nothing is there" in done.stderr
    assert "unchanged;" in done.stderr


def test_a_refusal_meanwhile_names_the_broker_and_the_others_are_read(away: Away) -> None:
    away.s3.fault = lambda environ: "403 Forbidden" if "/commitlog/" in environ["PATH_INFO"] else WELL
    config = away.world.config(away.world.folder / "lakes" / "refused", ["a", "b"])
    text = config.read_text().replace(str(away.world.store("a")), away.address)
    config.write_text(text + '[[replicas]]\nbrokers = ["a", "b"]\n')
    done = away.run(INGEST, str(config))
    assert done.returncode == 1, done.stderr
    assert f"not read: a: {away.address}/commitlog/" in done.stderr
    assert f"not read: replicas a, b: {away.address}/commitlog/" in done.stderr, "what was refused is no zeros now"
    assert "answers 403 Forbidden" in done.stderr
    assert "rocketlens-store" not in done.stderr
    rows = read_lake(config).rows_by_broker("commitlog_messages")
    assert rows["b"]
    assert not rows["a"]
