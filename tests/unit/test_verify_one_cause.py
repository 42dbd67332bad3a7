"""One cause is one finding, on recorded stores: a log file cut anywhere, queue files swapped, a first store time."""

from __future__ import annotations

import os
import shutil
from itertools import combinations
from pathlib import Path

import pytest

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.record.layout import HEAD
from parsers.consumequeue.layout import CQ_UNIT
from parsers.store.store import open_store
from parsers.store.store_file import QueueKey, classify
from recovery.knowledge.knowledge import knowledge_of
from recovery.verify import queues_beside_log
from recovery.verify.checks.queue.compared import QueueMessages
from recovery.verify.findings.finding import Finding, Place
from recovery.verify.queue_columns import queue_messages
from recovery.verify.settle.log_columns import LogColumns
from recovery.verify.verify import verify
from tests.support.build_store import overwrite, shop
from tests.support.copies import copy_tree
from tests.support.kind_damages import INT, log_write, unit_write
from tests.support.recovery_cases import golden_cases
from tests.support.stores import store_root

CLEAN, HALTED = "s551-clean", "s551-halt-sync"


@pytest.fixture
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the base store that the test names."""
    return copy_tree(golden_cases().base(request.param), tmp_path / "store")


def findings(root: Path) -> list[Finding]:
    store = open_store(root)
    return list(verify(store, knowledge_of(store)).findings)


@pytest.mark.parametrize("root", [CLEAN, HALTED], indirect=True)
@pytest.mark.parametrize("left", [0, 1, 100, 32_805, 60_000, -4_096, -20, -1])
def test_a_log_file_that_was_cut_is_one_finding(root: Path, left: int) -> None:
    first = min((root / "commitlog").iterdir())
    size = first.stat().st_size
    os.truncate(first, left % size)
    (found,) = findings(root)
    assert (found.kind, found.places[0].file) == ("file_size_wrong", f"commitlog/{first.name}")
    assert found.places[0].file_pos <= left % size
    assert found.places[0].file_pos + found.places[0].length == size


@pytest.mark.parametrize("root", [CLEAN], indirect=True)
def test_log_files_that_changed_places_blame_no_checkpoint(root: Path) -> None:
    """What they hold was dispatched, as the checkpoint has it."""
    files = sorted(path for path in (root / "commitlog").iterdir() if any(path.read_bytes()[:8]))
    assert len(files) > 2
    end = int(files[-1].name) + 2_000
    checkpoint = bytearray((root / "checkpoint").read_bytes())
    checkpoint[40:48] = end.to_bytes(8)
    (root / "checkpoint").write_bytes(checkpoint)
    assert not findings(root)
    files[-1].rename(root / "aside")
    files[-2].rename(files[-1])
    (root / "aside").rename(files[-2])
    assert {found.kind for found in findings(root)} == {"log_damaged"}


@pytest.mark.parametrize("root", [HALTED], indirect=True)
def test_units_in_another_queues_file_name_the_places_that_they_left(root: Path) -> None:
    longer, shorter = (next((root / "consumequeue" / name).iterdir()) for name in ("TopicB/0", "TopicA/0"))
    content = longer.read_bytes(), shorter.read_bytes()
    longer.write_bytes(content[1])
    shorter.write_bytes(content[0])
    found = findings(root)
    assert {one.kind for one in found} == {"unit_of_other_message"}
    places = {place.file for one in found for place in one.places}
    assert {longer.relative_to(root).as_posix(), shorter.relative_to(root).as_posix()} <= places


@pytest.mark.parametrize("root", [CLEAN], indirect=True)
def test_an_empty_queue_file_is_not_to_blame_for_a_cut_one_before_it(root: Path) -> None:
    full = max((root / "consumequeue").rglob("0" * 20), key=lambda path: any(path.read_bytes()[-20:]))
    (full.parent / f"{full.stat().st_size:020d}").write_bytes(bytes(full.stat().st_size))
    for later in sorted(full.parent.iterdir())[2:]:
        later.unlink()
    os.truncate(full, 1_714)
    kinds = {found.kind for found in findings(root)}
    assert "file_size_wrong" in kinds
    assert "queue_file_superfluous" not in kinds


@pytest.mark.parametrize("root", [CLEAN], indirect=True)
def test_no_unit_is_missed_between_a_queues_end_and_bytes_that_stand_behind_it(root: Path) -> None:
    file = max(path for path in (root / "consumequeue").rglob("0" * 20) if not any(path.read_bytes()[-20:]))
    at = file.stat().st_size - 5
    overwrite(file, at, b"\x08")
    stray = Place(file.relative_to(root).as_posix(), file.stat().st_size - CQ_UNIT.size, CQ_UNIT.size)
    assert [place for found in findings(root) for place in found.places if place.file == stray.file] == [stray]
    overwrite(file, 0, bytes(at))
    assert [found.places for found in findings(root) if found.kind == "unit_invalid"] == [(stray,)]


@pytest.mark.parametrize("root", [CLEAN], indirect=True)
def test_a_first_store_time_that_is_wrong_blames_neither_index_nor_checkpoint(root: Path) -> None:
    with min((root / "commitlog").iterdir()).open("r+b") as log:
        log.seek(56)
        log.write(bytes.fromhex("0000030000000000"))
    assert [found.kind for found in findings(root)] == ["store_timestamp_disorder"]


@pytest.mark.parametrize("root", [CLEAN], indirect=True)
def test_a_message_without_a_store_time_is_found_at_the_logs_very_start(root: Path) -> None:
    with min((root / "commitlog").iterdir()).open("r+b") as log:
        log.seek(56)
        log.write(bytes(8))
    (found,) = findings(root)
    assert (found.kind, found.span.physical_offset) == ("store_timestamp_disorder", 0)


def test_a_unit_without_any_log_is_named(tmp_path: Path) -> None:
    queue = tmp_path / "consumequeue" / "T" / "0"
    queue.mkdir(parents=True)
    unit = CQ_UNIT.pack({"physical_offset": 0, "msg_size": 200, "tags_code": 5})
    (queue / f"{0:020d}").write_bytes(unit.ljust(2_000, b"\0"))
    (found,) = findings(tmp_path)
    assert found.kind == "log_tail_missing"
    assert "consumequeue/T/0" in {place.file for place in found.places}


@pytest.mark.parametrize("rest", [b"\xff" * 40, bytes(300)], ids=["no-text", "zeros-to-the-end"])
def test_what_was_written_over_the_end_of_a_record_is_part_of_the_damage_behind_it(rest: bytes, tmp_path: Path) -> None:
    builder = shop(tmp_path / "store")
    root, record = builder.finish(), builder.records[-2]
    torn = record.total_size - 3
    file = log_write(root, record, torn, rest)
    at = record.physical_offset + torn
    (found,) = [each for each in findings(root) if each.kind in ("log_damaged", "log_tail_missing")]
    place = next(place for place in found.places if place.file == file)
    assert int(Path(file).name) + place.file_pos <= at < found.span.end_physical_offset


def test_a_last_record_that_ends_in_zeros_is_named_where_the_log_is_all_that_is_left(tmp_path: Path) -> None:
    """A broker takes it: of its properties no CRC tells."""
    builder = shop(tmp_path / "store")
    root, record = builder.finish(), builder.records[-1]
    for folder in ("consumequeue", "index", "config"):
        shutil.rmtree(root / folder)
    file = log_write(root, record, record.total_size - 9, bytes(9))
    (found,) = (each for each in findings(root) if each.kind == "record_contradicts_itself")
    end = record.physical_offset + record.total_size
    assert found.places == (Place(file, end - 9 - int(Path(file).name), 9),)
    assert "end in 9 zeros" in found.evidence[1]


@pytest.mark.parametrize("root", [CLEAN], indirect=True)
def test_one_damaged_queue_offset_does_not_start_a_queue_anew(root: Path) -> None:
    file, place, number = first_of_topic(root, "TopicB", behind=20)
    with file.open("r+b") as log:
        log.seek(place + HEAD.offsets["queue_offset"])
        log.write((number + 979).to_bytes(8))
    assert {found.kind for found in findings(root)} == {"queue_order"}


def first_of_topic(root: Path, topic: str, *, behind: int) -> tuple[Path, int, int]:
    """File, place there and queue offset of the first message of a topic's queue 0 with a greater queue offset."""
    for file in sorted((root / "commitlog").iterdir()):
        for batch in read_commitlog(
            [classify(root, file)], columns=["topic", "queue_id", "queue_offset", "physical_offset"]
        ):
            for row in batch.to_pylist():
                if row["topic"] == topic and row["queue_id"] == 0 and row["queue_offset"] > behind:
                    return file, row["physical_offset"] - int(file.name), row["queue_offset"]
    raise AssertionError(f"no message of {topic} behind {behind}")


@pytest.mark.parametrize("pair", list(combinations(range(4), 2)))
def test_two_log_files_that_were_exchanged_are_one_finding_each(pair: tuple[int, int], tmp_path: Path) -> None:
    root = shop(tmp_path / "store", 80).finish()
    one, other = (sorted((root / "commitlog").iterdir())[number] for number in pair)
    content = one.read_bytes(), other.read_bytes()
    one.write_bytes(content[1])
    other.write_bytes(content[0])
    size = len(content[0])
    assert [(found.kind, found.places) for found in findings(root)] == [
        ("log_damaged", (Place(f"commitlog/{file.name}", 0, size),)) for file in (one, other)
    ]


@pytest.mark.parametrize("queue_id", [100, 2**31 - 1])
def test_a_record_of_another_queue_id_makes_no_queue(queue_id: int, tmp_path: Path) -> None:
    """Its unit is in the queue that it was of; nobody has unread messages in the one that it names now."""
    root = copy_tree(store_root("4.5.2-clean"), tmp_path / "store")
    file = open_store(root).commitlog[-1]
    (batch, *_) = read_commitlog([file], columns=["physical_offset", "topic"])
    rows = zip(batch["physical_offset"].to_pylist(), batch["topic"].to_pylist(), strict=True)
    places = [place for place, topic in rows if topic == "OldTopic1"]
    with file.path.open("r+b") as log:
        log.seek(places[-1] - (file.base_offset or 0) + HEAD.offsets["queue_id"])
        log.write(queue_id.to_bytes(4, "big"))
    assert [found.kind for found in findings(root)] == ["unit_of_other_message"]


def test_the_log_is_summed_up_once_however_many_queues_have_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a thousand queues gone of a long log, a sum for each of them would take hours."""
    summed: list[int] = []

    def counting(log: LogColumns) -> dict[QueueKey, QueueMessages]:
        summed.append(len(log.units.record))
        return queue_messages(log)

    monkeypatch.setattr(queues_beside_log, "queue_messages", counting)
    root = shop(tmp_path / "store", 80).finish()
    folders = sorted((root / "consumequeue").glob("*/*"))
    assert len(folders) > 2
    shutil.rmtree(folders[0])
    findings(root)
    once = len(summed)
    summed.clear()
    for folder in folders[1:]:
        shutil.rmtree(folder)
    assert findings(root)
    assert len(summed) <= once


def test_a_unit_of_a_lost_message_that_reaches_over_the_next_one_is_wrong(tmp_path: Path) -> None:
    builder = shop(tmp_path / "store")
    root = builder.finish()
    first, lost = [each for each in builder.records[20:] if (each.topic, each.queue_id) == ("Orders", 1)][:2]
    for path in sorted((root / "commitlog").iterdir()):
        at = max(0, first.physical_offset - int(path.name))
        overwrite(path, at, bytes(max(0, path.stat().st_size - at)))
    assert [found.kind for found in findings(root)] == ["log_tail_missing"]
    unit_write(root, lost.queue_offset, "msg_size", lost.total_size + 1, INT)
    wrong = [found for found in findings(root) if found.kind != "log_tail_missing"]
    assert [(found.kind, found.span.queue_offset) for found in wrong] == [("unit_wrong_size", lost.queue_offset)]
