"""Tiered storage that TieredMessageStore and PosixFileSegment of three releases wrote, against the log beside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from parsers.commitlog.record.layout import HEAD
from parsers.consumequeue.layout import CQ_UNIT
from parsers.layouts.fastjson import parse
from parsers.store.store import open_store
from parsers.tiered.metadata import read_tiered_metadata, segment_files, segment_name
from pipelines.answers.derived.store_rows import JUDGES
from pipelines.lake.configuration.sources import BrokerSource
from recovery.verify.checks.tiered import check_tiered
from tests.support.build_store import overwrite
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.fixtures import CHECKOUT, unpacked

VERSIONS = ("5.3.1", "5.3.3", "5.5.0")
MESSAGES = 300
COUNTS = ("equal", "different", "not_in_log", "wrong")


def made(version: str) -> Path:
    return unpacked(CHECKOUT / "tests" / "golden" / "tiered" / f"{version}.tar.gz")


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """A copy of a store and its segments that may be damaged."""
    for part in ("store", "segments"):
        copy_tree(made("5.3.3") / part, tmp_path / part)
    return tmp_path


def rows(root: Path, *more: str) -> list[dict[str, Any]]:
    called = call("tiered", root / "store", "--segments", root / "segments", *more)
    assert called.code in (0, 1, 4), called.err
    return called.rows


def sums(root: Path) -> dict[str, int]:
    return {name: sum(row[name] for row in rows(root)) for name in COUNTS}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_message_that_was_handed_over_is_the_logs(version: str) -> None:
    found = rows(made(version))
    assert sum(row["equal"] for row in found) == MESSAGES
    for row in found:
        assert (row["different"], row["not_in_log"], row["wrong"], row["reason"]) == (0, 0, 0, None)
        assert (row["min_queue_offset"], row["handed_to"], row["waiting"]) == (0, row["equal"], 0)
        assert row["found"] == row["segments"] > 1


@pytest.mark.parametrize("version", VERSIONS)
def test_each_segment_has_the_name_and_the_size_that_the_metadata_tells(version: str) -> None:
    metadata = read_tiered_metadata(open_store(made(version) / "store").config)
    assert metadata is not None
    for segment in metadata.segments:
        (path,) = segment_files(made(version) / "segments", segment)
        assert path.name == segment_name(segment.base_offset)
        assert path.stat().st_size == segment.size
    files = {path for path in (made(version) / "segments").rglob("*") if path.is_file()}
    assert len(files) == len(metadata.segments)


def test_without_segments_what_a_provider_holds_is_unknown() -> None:
    called = call("tiered", made("5.3.3") / "store")
    assert called.code == 0
    assert sum(row["handed_to"] for row in called.rows) == MESSAGES
    for row in called.rows:
        assert {row[name] for name in COUNTS} == {None}
        assert "cloud provider" in row["reason"]


def test_a_damaged_segment_is_told_from_a_damaged_log(broker: Path) -> None:
    segment = next((broker / "segments").glob("*/*/Bills/0/COMMIT_LOG/*0" + "0" * 19))
    overwrite(segment, HEAD.offsets["queue_offset"] + 7, b"\x09")
    assert sums(broker) == {"equal": MESSAGES - 1, "different": 0, "not_in_log": 0, "wrong": 1}
    unit = next((broker / "segments").glob("*/*/Orders/0/CONSUME_QUEUE/*0" + "0" * 19))
    overwrite(unit, 5 * CQ_UNIT.size + 7, b"\xff")
    assert sums(broker)["wrong"] == 2
    log = broker / "store" / "commitlog" / ("0" * 20)
    overwrite(log, 100, b"\xff")
    assert sums(broker) == {"equal": MESSAGES - 3, "different": 1, "not_in_log": 0, "wrong": 2}


def tiered_findings(root: Path) -> list[dict[str, Any]]:
    return [row for row in call("verify", root / "store").rows if row["kind"].startswith("tiered")]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_brokers_handed_over_is_no_finding(version: str) -> None:
    assert tiered_findings(made(version)) == []


def handed(root: Path, topic: str, queue_id: int, change: int) -> int:
    """Change how much of a queue the metadata says was handed over, in messages; what it says then."""
    file = root / "store" / "config" / "tieredStoreMetadata.json"
    metadata = parse(file.read_bytes())
    assert isinstance(metadata, dict)
    segments = metadata["consumeQueueFileSegmentTable"][f"broker-a/{topic}/{queue_id}"]
    last = max(segments, key=int)
    segments[last]["size"] += change * CQ_UNIT.size
    file.write_text(json.dumps(metadata), "utf-8")
    return int((int(last) + segments[last]["size"]) // CQ_UNIT.size)


def test_a_queue_that_lost_messages_after_they_were_handed_over_is_a_finding(broker: Path) -> None:
    end = handed(broker, "Orders", 0, 7)
    (found,) = tiered_findings(broker)
    assert found["kind"] == "tiered_queue_ahead"
    assert f"up to {end}" in found["evidence"]
    assert f"to {end - 7}" in found["evidence"]


def test_a_queue_that_deleted_messages_before_they_were_handed_over_is_a_finding(broker: Path) -> None:
    """MessageStoreDispatcherImpl#doScheduleDispatch destroys what is there of it: "current offset is too small"."""
    metadata = read_tiered_metadata(open_store(broker / "store").config)
    assert metadata is not None
    kept = of_queue(broker, "Orders", 0)["handed_to"]
    ends = {("Orders", 0): (kept + 3, kept + 9), ("Orders", 1): (0, 10**6)}
    (found,) = check_tiered(metadata, ends)
    assert (found.kind, found.span.queue_offset, found.span.end_queue_offset) == ("tiered_queue_behind", kept, kept + 3)
    assert list(check_tiered(metadata, {("Orders", 0): (kept, kept)})) == []


def test_the_table_has_the_rows_of_the_command(broker: Path) -> None:
    said = {"tieredStoreFilePath": "../segments"}
    made_rows = JUDGES["tiered_queues"](BrokerSource("b", broker / "store", version="5.3.3", settings=said))
    assert {row.pop("broker") for row in made_rows} == {"b"}
    assert made_rows == [{name: row[name] for name in made_rows[0]} for row in rows(broker)]
    untold = JUDGES["tiered_queues"](BrokerSource("b", broker / "store", version="5.3.3"))
    assert ["cloud provider" in row["reason"] for row in untold] == [True] * len(made_rows)


def test_segments_are_read_where_the_broker_says(broker: Path) -> None:
    said = ("--config", "tieredStoreFilePath=../segments")
    assert call("tiered", broker / "store", *said).rows == rows(broker)


def test_what_is_gone_on_either_side_is_told(broker: Path) -> None:
    (broker / "store" / "commitlog" / ("0" * 20)).unlink()
    assert sums(broker)["not_in_log"] > 0
    next((broker / "segments").glob("*/*/Orders/1/COMMIT_LOG/*")).unlink()
    (row,) = [row for row in rows(broker) if (row["topic"], row["queue_id"]) == ("Orders", 1)]
    assert row["found"] == row["segments"] - 1
    assert row["reason"] is not None


def of_queue(root: Path, topic: str, queue_id: int) -> dict[str, Any]:
    (row,) = [row for row in rows(root) if (row["topic"], row["queue_id"]) == (topic, queue_id)]
    return row


def test_a_segment_that_was_cut_is_not_called_whole(broker: Path) -> None:
    before = of_queue(broker, "Orders", 0)
    unit = next((broker / "segments").glob("*/*/Orders/0/CONSUME_QUEUE/*0" + "0" * 19))
    unit.write_bytes(unit.read_bytes()[: 10 * CQ_UNIT.size])
    row = of_queue(broker, "Orders", 0)
    assert (row["wrong"], row["different"]) == (0, 0)
    assert row["equal"] < before["equal"]
    assert "shorter" in row["reason"]


def test_units_of_expired_messages_are_not_wrong(broker: Path) -> None:
    """As destroyExpiredFile leaves it: the first COMMIT_LOG segment is gone, and from the metadata too."""
    file = broker / "store" / "config" / "tieredStoreMetadata.json"
    metadata = parse(file.read_bytes())
    assert isinstance(metadata, dict)
    segments = metadata["commitLogFileSegmentTable"]["broker-a/Orders/0"]
    first = min(segments, key=int)
    del segments[first]
    metadata["queueMetadataTable"] = {}
    file.write_text(json.dumps(metadata), "utf-8")
    next((broker / "segments").glob(f"*/*/Orders/0/COMMIT_LOG/*{int(first):020d}")).unlink()
    row = of_queue(broker, "Orders", 0)
    assert (row["wrong"], row["different"], row["reason"]) == (0, 0, None)
    assert row["min_queue_offset"] == row["handed_to"] - row["equal"] > 0


def test_without_the_brokers_queue_nothing_is_said_of_the_log(broker: Path) -> None:
    shutil.rmtree(broker / "store" / "consumequeue")
    for row in rows(broker):
        assert (row["not_in_log"], row["equal"], row["wrong"]) == (None, 0, 0)
        assert "not known" in row["reason"]


def test_messages_in_a_segment_that_is_not_there_are_not_wrong(broker: Path) -> None:
    next((broker / "segments").glob("*/*/Orders/1/COMMIT_LOG/*")).unlink()
    row = of_queue(broker, "Orders", 1)
    assert row["wrong"] == 0
    assert "lacks" in row["reason"]


@pytest.mark.parametrize(
    "path",
    [
        "../../../etc",
        "a/b/99999999999",
        "a/b/" + "9" * 5000,
        "a/../b",
        "a/b/1/../../..",
        "a/**b/1",
        "a/b/\\u0000",
        "/a/b/1",
    ],
)
def test_no_path_of_the_metadata_leads_out_of_the_folder(broker: Path, path: str) -> None:
    file = broker / "store" / "config" / "tieredStoreMetadata.json"
    file.write_text(file.read_text("utf-8").replace("broker-a/Bills/0", path), "utf-8")
    assert all(row["found"] in (0, row["segments"]) for row in rows(broker))
