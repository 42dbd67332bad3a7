"""One damage for each kind of finding, on a small store: the kind is reported at that place, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.commitlog.record.layout import PROPERTIES_SIZE, TOPIC_SIZE_V1
from recovery.verify.findings.kinds import KINDS
from tests.support.build_store import StoreBuilder, shop
from tests.support.cli import call
from tests.support.kind_damages import DAMAGES, INT, findings_of, log_write, with_record_crc


@pytest.fixture
def built(tmp_path: Path) -> StoreBuilder:
    return with_record_crc(shop(tmp_path / "store"), ("TAGS", "A"))


def test_the_undamaged_store_has_no_finding(built: StoreBuilder) -> None:
    assert findings_of(built.finish()) == ()


@pytest.mark.parametrize("kind", sorted(DAMAGES))
def test_a_damage_is_one_finding_of_its_kind_at_its_place(kind: str, built: StoreBuilder) -> None:
    root = built.finish()
    place = DAMAGES[kind](root, built.records)
    found = findings_of(root)
    assert [one.kind for one in found] == [kind]
    assert any(named.file.startswith(place) for named in found[0].places)
    assert found[0].evidence
    assert found[0].severity in ("info", "warning", "error", "critical")


@pytest.mark.parametrize("field", ["body", "properties"])
def test_a_length_below_zero_is_said_of_its_record(built: StoreBuilder, field: str) -> None:
    """A broker reads it as 0, so that the record stays in the log (CommitLog#calMsgLength @5.3.3)."""
    bare = built.put(body=b"", properties=())
    from_end = PROPERTIES_SIZE.size + (len(bare.topic) + TOPIC_SIZE_V1.size + INT if field == "body" else 0)
    root = built.finish()
    assert findings_of(root) == ()
    log_write(root, bare, bare.total_size - from_end, b"\xff" * (INT if field == "body" else PROPERTIES_SIZE.size))
    (found,) = findings_of(root)
    assert (found.kind, found.span.physical_offset) == ("record_contradicts_itself", bare.physical_offset)
    assert "below 0" in found.evidence[1]


def test_a_size_that_a_setting_says_is_not_put_on_the_other_files(built: StoreBuilder) -> None:
    told = call("verify", built.finish(), "--version", "5.3.3", "--config", "mappedFileSizeConsumeQueue=40000")
    sizes = [row["evidence"] for row in told.rows if row["kind"] == "file_size_wrong"]
    assert sizes
    assert all(text.endswith("; expected: 40000 bytes") for text in sizes)


def test_kinds_without_a_case_above_are_those_of_rarer_stores() -> None:
    elsewhere = {"unit_into_deleted_log", "index_unreadable", "topic_config_without_queue"}
    elsewhere |= {"consumer_offset_below_min", "delay_offset_below_min", "queue_database_damaged", "queue_limit_wrong"}
    elsewhere |= {"record_of_newer_version", "queues_of_newer_version", "light_queues_off"}
    elsewhere |= {"unit_wrong_store_time", "log_begins_late", "ext_unit_missing", "ext_unit_wrong", "ext_unit_broken"}
    elsewhere |= {"consumer_offset_of_former_life", "consumer_offset_of_unknown_life", "queue_numbers_restarted"}
    elsewhere |= {"entry_header_wrong", "entry_index_wrong", "dledger_state_wrong"}
    elsewhere |= {
        "timer_wheel_size_wrong",
        "timer_log_size_wrong",
        "timer_wheel_missing",
        "timer_check_missing",
        "timer_log_missing",
        "timer_unit_wrong",
        "timer_slot_wrong",
        "timer_check_wrong",
    }
    elsewhere |= {"message_row_unreadable", "message_row_wrong", "message_row_missing"}  # test_verify_message_rows
    elsewhere |= {"index_entries_lost", "checkpoint_rest_written"}  # test_verify_index, test_verify_checkpoint
    elsewhere |= {"epochs_unreadable", "epochs_backup_unreadable", "epochs_wrong"}  # test_verify_epochs
    elsewhere |= {"compaction_files_apart", "compaction_positions_wrong", "compaction_log_damaged"}
    elsewhere |= {"compaction_unit_wrong", "compaction_copy_differs", "compaction_message_missing"}
    elsewhere |= {
        "tiered_queue_behind",
        "tiered_queue_ahead",
    }  # test_tiered_truth; the six above: test_verify_compaction
    assert KINDS.keys() - DAMAGES.keys() == elsewhere
