"""Offsets that went with a deleted group: who dropped them, and what comes again when its consumers come back."""

from __future__ import annotations

from pathlib import Path

from pipelines.answers.offsets.event import SavedTable
from pipelines.answers.offsets.events import offset_events
from recovery.query.move_kind import MoveKind
from tests.support.recorded import offset_record

DELETED = (
    "2026-11-21 03:12:07 INFO Admin_1 - AdminBrokerProcessor#deleteSubscriptionGroup, caller=10.0.0.1:4000\n"
    "2026-11-21 03:12:07 INFO Admin_1 - delete subscription group OK, subscription "
    "group:SubscriptionGroupConfig{groupName=g, consumeEnable=true}\n"
)


def test_a_line_says_who_deleted_the_group_whose_offsets_are_gone(tmp_path: Path) -> None:
    (tmp_path / "broker.log").write_text(DELETED)
    record = offset_record(tmp_path)
    [[deleted]] = record.deletions.values()
    at_ms = deleted.earliest_ms or 0
    tables = [SavedTable(at_ms + step * 5_000, {("g", "T"): {0: offset}} if offset else {}) for step, offset in STEPS]
    removed, again = offset_events(record, tables)
    assert (removed.kind, removed.before, removed.certain, removed.by) == (MoveKind.REMOVED, 35, True, "10.0.0.1:4000")
    assert (removed.earliest_ms, removed.latest_ms) == (at_ms, at_ms + 999)
    assert removed.cause == "the group was deleted, and the offset with it"
    assert (again.kind, again.after, again.repeated, again.certain) == (MoveKind.FIRST_OFFSET, 57, None, False)
    assert "at most 35 messages came again" in (again.reason or "")

    alone, _ = offset_events(offset_record(), tables)
    assert (alone.kind, alone.certain, alone.by) == (MoveKind.REMOVED, False, None)


STEPS = ((-1, 35), (1, None), (2, 57))
"""Offset of the group's queue in the tables that were saved around the deletion."""
