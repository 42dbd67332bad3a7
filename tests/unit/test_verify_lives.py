"""verify and rebuild on small stores whose queues started again: lives of a topic, and queues that lost their files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from parsers.consumequeue.layout import CQ_UNIT
from recovery.forecast.forecast import forecast
from recovery.rebuild.rebuild import rebuild
from recovery.verify.verify import Verification, verify
from tests.support.build_store import (
    FIRST_MS,
    SETTINGS,
    STEP_MS,
    VERSION,
    StoreBuilder,
    overwrite,
    queue_file,
    write_json,
)
from tests.support.opened import opened

LATER = FIRST_MS + 1_000_000_000


def recreated(root: Path) -> StoreBuilder:
    """Orders with 10 messages in each of two queues, then 4 in queue 0 and 3 in queue 1 of a second life."""
    builder = StoreBuilder(root)
    for _ in range(10):
        builder.put("Orders", 0)
        builder.put("Orders", 1)
    for queue_id, offset in ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (0, 3)):
        builder.put("Orders", queue_id, queue_offset=offset)
    builder.put("Others", 0)
    return builder


def configured(root: Path, *topics: str, changed_ms: int = LATER, **offsets: int) -> None:
    named = {topic: {"topicName": topic, "perm": 6, "readQueueNums": 2} for topic in topics}
    write_json(root / "config" / "topics.json", {"topicConfigTable": named, "dataVersion": {"timestamp": changed_ms}})
    table = {f"Orders@{group}": {"0": offset, "1": 0} for group, offset in offsets.items()}
    write_json(root / "config" / "consumerOffset.json", {"offsetTable": table})


def verified(root: Path) -> Verification:
    return verify(*opened(root, VERSION, SETTINGS))


def kinds(root: Path) -> list[str]:
    return [finding.kind for finding in verified(root).findings]


def test_the_former_life_of_a_topic_is_no_finding(tmp_path: Path) -> None:
    root = recreated(tmp_path / "store").finish()
    configured(root, "Orders", "Others", back=4)
    assert kinds(root) == []
    assert [state.what for state in verified(root).explained if "life" in state.what] == ["former life of a topic"]


def test_what_was_never_written_of_a_queue_leads_to_no_message_of_a_former_life(tmp_path: Path) -> None:
    root = recreated(tmp_path / "store").finish()
    configured(root, "Orders", "Others", back=4)
    overwrite(queue_file(root, "Orders", 0), 8 * CQ_UNIT.size - 1, b"\1")
    assert set(kinds(root)) == {"unit_invalid"}


@pytest.mark.parametrize(("offset", "kind"), [(9, "former"), (2, "unknown")])
def test_a_stale_offset_is_a_finding_that_names_group_and_skipped(tmp_path: Path, offset: int, kind: str) -> None:
    root = recreated(tmp_path / "store").finish()
    configured(root, "Orders", "Others", away=offset)
    (finding,) = verified(root).findings
    assert finding.kind == f"consumer_offset_of_{kind}_life"
    assert finding.evidence[0].startswith("away on Orders/0: next message")
    assert f"{4 if kind == 'former' else 2} living messages would be skipped" in finding.evidence[1]
    assert "maximum" not in finding.rule.repair


def test_a_message_of_the_living_life_without_a_unit_is_one_still(tmp_path: Path) -> None:
    root = recreated(tmp_path / "store").finish()
    configured(root, "Orders", "Others", back=4)
    path = queue_file(root, "Orders", 0)
    path.write_bytes(path.read_bytes()[: 2 * CQ_UNIT.size].ljust(path.stat().st_size, b"\0"))
    assert kinds(root) == ["not_dispatched"]


def test_a_deleted_topic_is_no_finding_and_a_lost_queue_is_one(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "store")
    for _ in range(5):
        builder.put("Orders", 0)
        builder.put("Others", 0)
    root = builder.finish()
    queue_file(root, "Orders", 0).unlink()
    (root / "consumequeue" / "Orders" / "0").rmdir()
    (root / "consumequeue" / "Orders").rmdir()
    configured(root, "Others", away=5)
    assert kinds(root) == []
    configured(root, "Others", "Orders", away=5)
    assert "queue_missing" in kinds(root)
    missing = next(finding for finding in verified(root).findings if finding.kind == "queue_missing")
    assert "created again and got no message yet" in missing.evidence[-1]
    assert missing.rule.repair.startswith("If somebody deleted the topic, leave it as it is.")
    configured(root, "Others", changed_ms=FIRST_MS + STEP_MS)
    assert "queue_missing" in kinds(root)


def alone_again(root: Path) -> StoreBuilder:
    """Queue 1 starts again while queue 0 goes on."""
    builder = StoreBuilder(root)
    for _ in range(10):
        builder.put("Orders", 0)
        builder.put("Orders", 1)
    builder.put("Orders", 1, queue_offset=0)
    for _ in range(12):
        builder.put("Orders", 0)
    builder.put("Orders", 1)
    return builder


def test_a_queue_that_starts_again_alone_lost_its_files(tmp_path: Path) -> None:
    builder = alone_again(tmp_path / "store")
    root = builder.finish()
    configured(root, "Orders")
    (finding,) = verified(root).findings
    assert (finding.kind, finding.count) == ("queue_numbers_restarted", 10)
    report = rebuild(*opened(root, VERSION, SETTINGS), tmp_path / "new")
    units = CQ_UNIT.array((tmp_path / "new/consumequeue/Orders/1" / f"{0:020d}").read_bytes())
    living = [message.physical_offset for message in builder.records if message.queue_id == 1][10:]
    assert units["physical_offset"][:2].tolist() == living
    assert "Orders/1 lost its files" in " ".join(report.differences)


def test_no_repair_brings_a_deleted_topic_back(tmp_path: Path) -> None:
    """Orders was deleted. An abort file would give Others its lost units back, and Orders its queue as well."""
    builder = StoreBuilder(tmp_path / "store")
    for _ in range(6):
        builder.put("Orders", 0)
        builder.put("Others", 0)
    builder.put("Third", 0)
    root = builder.finish()
    for topic in ("Orders", "Others"):
        shutil.rmtree(root / "consumequeue" / topic)
    configured(root, "Orders", "Others", "Third", changed_ms=FIRST_MS)
    told = forecast(*opened(root, VERSION, SETTINGS))
    assert {loss.topic for loss in told.lost} == {"Orders", "Others"}
    assert any("abort" in advice.repair.files for advice in told.advice)
    configured(root, "Others", "Third", changed_ms=LATER)
    told = forecast(*opened(root, VERSION, SETTINGS))
    assert {loss.topic for loss in told.lost} == {"Others"}
    assert [each.what for each in told.unknown if "deleted" in each.what] == ["whether Others was deleted"]
    assert not any("abort" in advice.repair.files for advice in told.advice)


def test_a_lost_end_of_the_log_takes_the_living_messages_and_revives_none_of_a_former_life(tmp_path: Path) -> None:
    builder = recreated(tmp_path / "store")
    root = builder.finish()
    configured(root, "Orders", "Others", back=4)
    begins = builder.records[20].physical_offset
    for path in sorted((root / "commitlog").iterdir()):
        at = max(0, begins - int(path.name))
        overwrite(path, at, bytes(max(0, path.stat().st_size - at)))
    assert kinds(root) == ["log_tail_missing"]
    (former,) = (state for state in verified(root).explained if "life" in state.what)
    assert (former.what, former.span.end_physical_offset) == ("former life of a topic", begins)
