"""How far a store has come: a lake of a store that is written to is cut at one place, and whole when it is still."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import unheard
from parsers.index.open import open_index
from parsers.queues.queue import FileQueue
from parsers.store.store import open_store
from pipelines.demo import BUNDLE
from pipelines.ingest.ingest import IngestReport, ingest_store
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.lake import Lake
from pipelines.spark.sources.queues import QueuesReader
from recovery.query.watermark import RESTS_S, Watermark, dispatched_before, summary_before, watermark
from recovery.verify.findings.finding import Place
from recovery.verify.in_motion import Moment, without_progress
from recovery.verify.settle.index_again import right_by_now
from recovery.verify.verify import verify
from tests.support.build_store import undispatched
from tests.support.copies import copy_tree
from tests.support.fixtures import unpack_store
from tests.support.opened import opened
from tests.support.plain_spark import plain_spark

TABLES = ("commitlog_messages", "commitlog_regions", "consumequeue_units", "index_entries", "queues")
PLACES = """
SELECT max(physical_offset) FROM commitlog_messages UNION ALL SELECT max(physical_offset) FROM consumequeue_units
UNION ALL SELECT max(physical_offset) FROM index_entries UNION ALL SELECT max(max_physical_offset) - 1 FROM queues
"""
END_TIME_AT = 8
"""Where the store time of the last entry stands in an index header."""


@pytest.fixture(scope="module")
def demo_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_store(BUNDLE, tmp_path_factory.mktemp("demo"))


@pytest.fixture
def root(demo_store: Path, tmp_path: Path) -> Path:
    """The log, the queues and the index of the demo's store."""
    for name in ("commitlog", "index", "consumequeue"):
        copy_tree(demo_store / name, tmp_path / "store" / name)
    return tmp_path / "store"


@contextmanager
def written_to(root: Path) -> Iterator[None]:
    """Somebody writes the end time of the newest index file anew, all the time; at the end it is as it was."""
    newest = max((root / "index").iterdir())
    whole, ended = newest.read_bytes(), threading.Event()
    os.utime(newest)

    def write() -> None:
        with open(newest, "r+b") as file:
            for number in range(1 << 20):
                if ended.wait(0.01):
                    return
                file.seek(END_TIME_AT)
                file.write((1 << 40 | number).to_bytes(8, "big"))
                file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()
        newest.write_bytes(whole)


def ingested(lake: Lake, root: Path) -> dict[str, list[dict[str, object]]]:
    ingest_store(plain_spark(), lake, BrokerSource("b", root, version="5.3.3"), IngestReport())
    with lake.asked_often():
        return {name: lake.query(f"SELECT * FROM {name} ORDER BY ALL").to_pylist() for name in TABLES}


def test_the_watermark_of_a_store_that_stands_still_is_behind_all_there_is(root: Path) -> None:
    store = open_store(root)
    found = watermark(store)
    assert found == Watermark(found.log_end, found.log_end, found.log_end)
    assert dispatched_before(store) < found.log_end
    undispatched(root, found.log_end // 2)
    still = watermark(open_store(root))
    assert (still.physical_offset, still.log_end) == (found.log_end, found.log_end)
    assert still.dispatched_to < found.log_end


@pytest.mark.parametrize(("seconds_ago", "looks"), [(RESTS_S - 60, True), (RESTS_S + 60, False), (-3600, True)])
def test_a_store_that_has_rested_is_not_looked_at_again(
    root: Path, monkeypatch: pytest.MonkeyPatch, seconds_ago: float, looks: bool
) -> None:
    undispatched(root, watermark(open_store(root)).log_end // 2)
    for path in root.rglob("*"):
        os.utime(path, (0, 0))
    os.utime(max((root / "commitlog").iterdir()), (0, time.time() - seconds_ago))
    looked: list[float] = []
    monkeypatch.setattr(time, "sleep", looked.append)
    monkeypatch.setattr(time, "monotonic", count(0.0, 0.1).__next__)
    watermark(open_store(root))
    assert bool(looked) == looks


def queues_before(root: Path, until: int) -> list[dict[str, object]]:
    """What is said of the queues as far as a watermark."""
    given = {"store": str(root), "version": "5.3.3", "until": str(until)}
    reader = QueuesReader(given, ["topic", "queue_id", "max_queue_offset", "messages"], "queues")
    return [row for each in reader.partitions() for batch in reader.read(each) for row in batch.to_pylist()]


@pytest.mark.parametrize("away", [-4096, 1, 4096, 1 << 40])
def test_a_damaged_last_unit_is_no_newest_message(root: Path, away: int) -> None:
    """It leads into another record, after the log's end into the room of its file, or nowhere: the watermark of a
    store that stands still followed it there."""
    store = open_store(root)
    end, before = watermark(store).log_end, dispatched_before(store)
    whole = queues_before(root, end)
    path = root / "consumequeue/OrderTopic0/0" / ("0" * 20)
    units = bytearray(path.read_bytes())
    last = max(at for at in range(0, len(units), CQ_UNIT.size) if any(units[at : at + CQ_UNIT.size]))
    units[last : last + 8] = (end + away).to_bytes(8, "big")
    path.write_bytes(units)
    found = watermark(open_store(root))
    assert (found.physical_offset, found.log_end, found.dispatched_to <= end) == (end, end, True)
    assert dispatched_before(open_store(root)) <= before
    assert queues_before(root, found.physical_offset) == whole, "nothing of it is in progress"


def test_the_watermark_of_a_store_that_is_written_to_is_where_dispatch_is(root: Path) -> None:
    end = watermark(open_store(root)).log_end
    undispatched(root, end // 2)
    with written_to(root):
        found = watermark(open_store(root))
    assert found.log_end == end
    assert found.physical_offset == dispatched_before(open_store(root)) < found.dispatched_to < end


def test_tables_of_a_store_that_is_written_to_are_cut_at_one_place_and_whole_afterwards(
    root: Path, tmp_path: Path
) -> None:
    lake = Lake(tmp_path / "lake")
    undisturbed = ingested(Lake(tmp_path / "undisturbed"), root)
    copy_tree(root / "consumequeue", tmp_path / "queues")
    undispatched(root, watermark(open_store(root)).log_end // 2)
    with written_to(root):
        half = ingested(lake, root)
        (mark,) = lake.query("SELECT physical_offset FROM watermarks")["physical_offset"].to_pylist()
    assert max(lake.query(PLACES).columns[0].to_pylist()) < mark
    assert 0 < len(half["commitlog_messages"]) < len(undisturbed["commitlog_messages"])
    assert [row["reason"] for row in half["commitlog_regions"] if "in progress" in (row["reason"] or "")]
    shutil.rmtree(root / "consumequeue")
    copy_tree(tmp_path / "queues", root / "consumequeue")
    assert ingested(lake, root) == undisturbed


def test_a_queue_is_summed_up_as_far_as_asked(root: Path) -> None:
    store = open_store(root)
    files = max(store.queues.values(), key=lambda files: FileQueue(files).summary(0).units)
    queue = FileQueue(files)
    whole = queue.summary(store.log_start)
    assert whole.max_physical_offset is not None
    end = watermark(store).log_end
    assert summary_before(queue, whole, whole.max_physical_offset, end) == whole
    assert summary_before(queue, whole, end // 2, whole.max_physical_offset - 1) == whole, "it leads behind the log"
    for number in range(whole.max_queue_offset):
        pointer = queue.pointer(number)
        assert pointer is not None
        cut = summary_before(queue, whole, pointer.physical_offset, end)
        assert (cut.max_queue_offset, cut.units) == (number, whole.units - whole.max_queue_offset + number)


def test_slots_and_headers_are_right_or_not(root: Path) -> None:
    newest = max((root / "index").iterdir())
    header, slots = Place(f"index/{newest.name}", END_TIME_AT, 8), Place(f"index/{newest.name}", 40, 400)
    assert right_by_now(open_store(root), [header, slots]) == {header, slots}
    content = bytearray(newest.read_bytes())
    content[END_TIME_AT + 4] ^= 1
    at = next(at for at in range(40, 440, 4) if any(content[at : at + 4]))
    content[at : at + 4] = bytes(4) if content[at + 3] == 1 else (1).to_bytes(4, "big")
    newest.write_bytes(content)
    assert right_by_now(open_store(root), [header, slots]) == set()


def misled(root: Path) -> int:
    """Set one bit in a unit in the middle of a queue and in an entry in the middle of the index: they lead after the
    log's end. Where the unit leads to."""
    queue = root / "consumequeue/OrderTopic0/0" / ("0" * 20)
    units = bytearray(queue.read_bytes())
    units[5 * CQ_UNIT.size + 2] |= 1
    queue.write_bytes(units)
    (newest,) = open_index(open_store(root).index[-1:], damage=unheard)
    at, content = newest.entry_at(3), bytearray(newest.file.path.read_bytes())
    content[at + 4] |= 0x10
    newest.file.path.write_bytes(content)
    return CQ_UNIT.unpack(units, 5 * CQ_UNIT.size)["physical_offset"]


def test_what_leads_behind_the_logs_end_is_read(root: Path, tmp_path: Path) -> None:
    whole, place = ingested(Lake(tmp_path / "whole"), root), misled(root)
    lake = Lake(tmp_path / "lake")
    still = ingested(lake, root)
    assert {name: len(rows) for name, rows in still.items()} == {name: len(rows) for name, rows in whole.items()}
    assert place in {row["physical_offset"] for row in still["consumequeue_units"]}
    report = IngestReport()
    ingest_store(plain_spark(), lake, BrokerSource("b", root, version="5.3.3"), report)
    assert report.files_read == 0, "nothing is in progress in it"


def test_what_leads_behind_the_logs_end_is_no_work_in_progress(root: Path) -> None:
    end = watermark(open_store(root)).log_end
    copy_tree(root / "consumequeue", root.parent / "queues")
    undispatched(root, end - end // 8)
    place = misled(root)
    store, known = opened(root, "5.3.3")
    since, found = Moment.of(store), verify(store, known)
    shutil.rmtree(root / "consumequeue")
    copy_tree(root.parent / "queues", root / "consumequeue")
    assert misled(root) == place
    now = store.listed_again()
    settled = without_progress(found, now, known, since, Moment.of(now))
    behind = {finding.span.physical_offset for finding in settled.findings if finding.kind == "unit_beyond_log"}
    assert place in behind
    assert len(settled.findings) < len(found.findings), "what was not dispatched yet is in progress"
