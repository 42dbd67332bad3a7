"""Offsets that went with a deleted group, or with the end of a log: what is known of them, and what is not."""

from __future__ import annotations

from pathlib import Path

from parsers.damage.errors import Damage
from pipelines.answers.derived.ledger_rows import ledger_rows
from pipelines.answers.offsets.corrections import FORMER_LIFE, NOT_TOLD, OF_RESET, corrections
from pipelines.answers.offsets.event import SavedTable
from pipelines.answers.offsets.events import event_rows, events_of, offset_events
from pipelines.answers.offsets.record import OffsetRecord, Presence
from pipelines.answers.offsets.saved import OffsetsAt
from recovery.query.move_kind import MoveKind
from recovery.verify.ledger_in_motion import ledger_in_motion
from tests.support.build_store import FIRST_MS, StoreBuilder
from tests.support.opened import opened
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


BY_TOPIC = (
    "2026-11-21 03:12:07 INFO Admin_1 - AdminBrokerProcessor#deleteTopic: broker receive request to delete topic=T, "
    "caller=10.0.0.1:4000\n"
    "2026-11-21 03:12:07 INFO Admin_1 - delete topic config OK, topic: TopicConfig [topicName=T, readQueueNums=1]\n"
)
NAMED = "2026-11-21 03:12:07 WARN Admin_1 - Clean topic's offset, T@G, {0=90}\n"
BEYOND = (
    "2026-11-21 03:12:22 INFO Pull_1 - the request offset: 90 over flow badly, fix to 4, broker max offset: 4, "
    "consumer: 10.0.0.9:4000\n"
    "2026-11-21 03:12:22 WARN Pull_1 - PULL_OFFSET_MOVED:correction offset. topic=T, groupId=G, requestOffset=90, "
    "newOffset=4, suggestBrokerId=0\n"
    "2026-11-21 03:12:22 WARN Commit_1 - [NOTIFYME]update consumer offset less than store. "
    "clientHost=10.0.0.9:4000, key=T@G, queueId=0, requestOffset=4, storeOffset=90\n"
)


def test_a_life_that_has_left_the_log_explains_its_offsets_where_a_line_tells_of_its_deletion(tmp_path: Path) -> None:
    """The consumer went on with what it had in memory; nothing of this was set by hand or came again."""
    builder = StoreBuilder(tmp_path / "store", base_offset=1 << 16)
    for _ in range(4):
        builder.put("T")
    store = opened(builder.finish(), "5.3.3")
    (tmp_path / "logs").mkdir()
    log = tmp_path / "logs" / "broker.log"
    log.write_text(BY_TOPIC)
    [[deleted]] = offset_record(log).deletions.values()
    at_ms = deleted.earliest_ms or 0
    offsets = ((-10, 70), (-5, 80), (5, 90), (10, 90), (20, 4))
    tables = [OffsetsAt(at_ms + seconds * 1_000, {("G", "T"): {0: offset}}) for seconds, offset in offsets]
    for named, is_certain in ((NAMED, True), ("", False)):
        log.write_text(BY_TOPIC + named + BEYOND)
        lost = list[Damage]()
        *removed, corrected = events_of(*store, offset_record(log), tables, damage=lost.append)
        assert [(event.kind, event.before, event.by) for event in removed] == [
            (MoveKind.REMOVED, 90, "10.0.0.1:4000")
        ] * is_certain
        assert (corrected.kind, corrected.cause, corrected.certain) == (MoveKind.CORRECTED, FORMER_LIFE, is_certain)
        assert (corrected.skipped, corrected.repeated, corrected.queue_id) == (4, 0, 0)


STEPS = ((-1, 35), (1, None), (2, 57))
"""Offset of the group's queue in the tables that were saved around the deletion."""


def test_an_offset_beyond_the_end_was_set_by_hand_for_sure_while_nobody_read(tmp_path: Path) -> None:
    """A store that was put back from an older copy lacks what consumers had read since."""
    builder = StoreBuilder(tmp_path / "store")
    for _ in range(4):
        builder.put("T")
    store = opened(builder.finish(), "4.9.7")
    since_ms, until_ms = FIRST_MS + 60_000, FIRST_MS + 70_000
    tables = [OffsetsAt(since_ms, {("G", "T"): {0: 4}}), OffsetsAt(until_ms, {("G", "T"): {0: 9}})]
    nobody = OffsetRecord(covered=[(FIRST_MS, until_ms)], boots=[FIRST_MS])
    for record, is_certain in ((nobody, True), (OffsetRecord(), False)):
        lost = list[Damage]()
        moved = events_of(*store, record, tables, damage=lost.append)[0]
        assert (moved.kind, moved.after, moved.skipped) == (MoveKind.MOVED_FORWARD, 9, None)
        assert moved.certain is is_certain
        assert ("put back from an older copy" in (moved.reason or "")) is not is_certain


def test_a_busy_broker_takes_seconds_to_carry_a_reset_out(tmp_path: Path) -> None:
    asked = "[reset-offset] reset offset started by 10.0.0.1:4000. topic=T, group=g, timestamp=1, isForce=true"
    done = 'Reset offset, topic=T, group=g, queues={"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:34}}'
    lines = ((10, asked), (13, done), (20, asked))
    (tmp_path / "broker.log").write_text(
        "".join(f"2026-11-21 03:12:{at} INFO Admin_1 - {text}\n" for at, text in lines)
    )
    moved = [(event.kind, event.after, event.by) for event in offset_events(offset_record(tmp_path), [])]
    assert moved == [(MoveKind.RESET, 34, "10.0.0.1:4000"), (MoveKind.RESET_REFUSED, None, "10.0.0.1:4000")]


def test_an_admin_who_sets_an_offset_by_hand_after_a_reset_moved_it_twice(tmp_path: Path) -> None:
    """The reset was carried out by the client it was sent to; what its admin commits soon after is another act."""
    less = "[NOTIFYME]update consumer offset less than store. clientHost={}, key=T@g, queueId=0, requestOffset={}, "
    lines = (
        (10, "[reset-offset] reset offset started by 10.0.0.1:4000. topic=T, group=g, timestamp=1, isForce=true"),
        (10, "[reset-offset] reset offset success. topic=T, group=g, clientId=10.0.0.9@c"),
        (20, f"{less.format('10.0.0.9:7', 50)}storeOffset=80"),
        (34, f"{less.format('10.0.0.1:4000', 3)}storeOffset=95"),
    )
    (tmp_path / "broker.log").write_text(
        "".join(f"2026-11-21 03:12:{at} WARN Admin_1 - {text}\n" for at, text in lines)
    )
    moved = [(event.kind, event.before, event.after, event.by) for event in offset_events(offset_record(tmp_path), [])]
    assert moved == [(MoveKind.RESET, 80, 50, "10.0.0.1:4000"), (MoveKind.RESET, 95, 3, "10.0.0.1:4000")]


def test_an_offset_stands_since_its_consumers_went(tmp_path: Path) -> None:
    """The last of them left two seconds after the table that holds it first."""
    builder = StoreBuilder(tmp_path / "store")
    for _ in range(4):
        builder.put("T")
    store = opened(builder.finish(), "4.9.7")
    since_ms, until_ms = FIRST_MS + 60_000, FIRST_MS + 180_000
    tables = [OffsetsAt(at_ms, {("G", "T"): {0: 2}}) for at_ms in (since_ms, until_ms)]
    gone = OffsetRecord(covered=[(FIRST_MS, until_ms - 9_000)], presence={"G": Presence(nobody_ms=[since_ms + 2_000])})
    stale = OffsetRecord(covered=[(FIRST_MS, since_ms + 9_000)], presence=gone.presence)
    for record, cause in ((gone, "no consumer of the group was connected since"), (stale, "not told")):
        lost = list[Damage]()
        [stalled] = events_of(*store, record, tables, damage=lost.append)
        assert (stalled.kind, stalled.cause.startswith(cause)) == (MoveKind.STALLED, True)


def test_what_was_read_or_set_is_no_row_and_nothing_certain_in_the_ledger(tmp_path: Path) -> None:
    """Whoever stops a group and resets it at once has both between two saved tables."""
    builder = StoreBuilder(tmp_path / "store")
    for _ in range(8):
        builder.put("T")
    store, known = opened(builder.finish(), "4.9.7")
    since_ms, until_ms = FIRST_MS + 60_000, FIRST_MS + 65_000
    tables = [OffsetsAt(since_ms, {("G", "T"): {0: 2}}), OffsetsAt(until_ms, {("G", "T"): {0: 6}})]
    went = Presence(nobody_ms=[since_ms + 2_000])
    record = OffsetRecord(covered=[(FIRST_MS, until_ms)], presence={"G": went})
    lost = list[Damage]()
    moved = events_of(store, known, record, tables, damage=lost.append)
    assert list(event_rows(moved)) == []
    rows = [row for row in ledger_rows(store, ledger_in_motion(store, known), tables[-1], moved) if row["group"]]
    assert [(row["state"], row["end_queue_offset"], row["certain"]) for row in rows] == [
        ("consumed", 2, True),
        ("consumed", 6, False),
        ("waiting", 8, True),
    ]


def test_offsets_that_went_back_to_an_older_table_are_told_as_put_back() -> None:
    """A store that was put back from a copy has the table of that time; a reset to the same place has not all of it."""
    ways = (([(3, 4), (7, 8), (3, 4)], True), ([(3, 4), (7, 8), (3, 5)], False))
    for offsets, is_put_back in ways:
        tables = [
            SavedTable(FIRST_MS + at * 5_000, {("g", "T"): dict(enumerate(pair))}) for at, pair in enumerate(offsets)
        ]
        moved = offset_events(OffsetRecord(), tables)
        assert {event.kind for event in moved} == {MoveKind.MOVED_BACK}
        assert all(("put back from a copy" in event.cause) is is_put_back and not event.certain for event in moved)


RESET_AND_PULL = (
    "2026-11-21 03:12:04 INFO Admin_1 - [reset-offset] reset offset started by 10.0.0.1:4000. topic=T, group=G, "
    "timestamp=1795382146850, isForce=true\n"
    "2026-11-21 03:12:04 INFO Pull_1 - The queue under pulling was previously reset to start from 60\n"
    "2026-11-21 03:12:04 WARN Pull_1 - PULL_OFFSET_MOVED:correction offset. topic=T, groupId=G, requestOffset=240, "
    "newOffset={}, suggestBrokerId=0\n"
    "2026-11-21 03:12:05 INFO Admin_1 - Reset offset, topic=T, group=G, queues="
    '{{"offsetTable":{{{{"brokerName":"b","queueId":0,"topic":"T"}}:60}}}}\n'
)


def test_a_pull_that_is_answered_before_the_reset_is_told_is_of_the_reset(tmp_path: Path) -> None:
    """A broker since 5.1.0 keeps the reset for the pulls, and logs the reset as done after the first of them."""
    log = tmp_path / "broker.log"
    for landing, cause in ((60, OF_RESET), (61, NOT_TOLD)):
        log.write_text(RESET_AND_PULL.format(landing))
        (corrected,) = (each for each in corrections(offset_record(log), []) if each.kind is MoveKind.CORRECTED)
        assert (corrected.before, corrected.repeated, corrected.cause) == (240, 240 - landing, cause)
