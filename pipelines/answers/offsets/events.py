"""Every movement of offsets that logs, captures, saved tables and a store tell: rows of the table `offset_events`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from parsers.config.offsets import FILES, offset_table, read_offsets
from parsers.damage.errors import DamageSink
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from pipelines.answers.offsets.commits import (
    CorrectedCommits,
    dropped_with_topics,
    late_commits,
    rejected_commits,
    starts_above_commit,
)
from pipelines.answers.offsets.corrections import FORMER_LIFE, UNTOLD, corrections, with_former_lives
from pipelines.answers.offsets.ends import Ends
from pipelines.answers.offsets.event import OffsetEvent, SavedTable, moved, order_of
from pipelines.answers.offsets.moved_records import MovedRecord, moved_records
from pipelines.answers.offsets.record import OffsetRecord
from pipelines.answers.offsets.resets import Resets
from pipelines.answers.offsets.saved import OffsetsAt, offsets_of_store
from pipelines.answers.offsets.table_moves import TableMoves
from pipelines.answers.offsets.unnamed import with_queues
from pipelines.lake.tables.lag import OFFSET_EVENTS
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.topic_lives import StoreLives
from recovery.query.move_kind import MoveKind
from recovery.query.next_pull import PullAnswer, next_pull
from recovery.query.watermark import waits_for_dispatch
from recovery.rules.versions import BrokerVersion
from recovery.scan.log_access import LogAccess

NOT_DISPATCHED = (
    "the log goes on behind what the queues have: once a start has dispatched that, the queue may end elsewhere "
    "(`forecast`)"
)


def offset_events(
    record: OffsetRecord, copies: Sequence[SavedTable], moved: Sequence[MovedRecord] = (), ends: Ends | None = None
) -> list[OffsetEvent]:
    """Every movement that the sources tell, in order of time.

    Args:
        copies: of the broker's table, oldest first.
        moved: OFFSET_MOVED_EVENT messages of its log.
        ends: where its queues ended; without a store nothing is known of them.
    """
    known = ends or Ends()
    resets = Resets(record, copies, known)
    of_resets = list(resets.events())
    corrected = CorrectedCommits(list(corrections(record, moved)))
    of_commits = list(late_commits(record, resets.landed, corrected))
    tables = TableMoves(record, copies, known)
    named = with_queues(list(corrected.events()), known, tables.last_saved)
    told = [
        *with_former_lives(named, known, tables.doubt_of_deleted),
        *of_resets,
        *of_commits,
        *rejected_commits(record),
        *dropped_with_topics(record),
    ]
    told += list(tables.changes(told))
    told += list(tables.set_beyond_end(told))
    return sorted([*told, *starts_above_commit(record, told, tables.last_saved), *tables.stalls()], key=order_of)


def events_of(
    store: Store, known: StoreKnowledge, record: OffsetRecord, kept: Sequence[OffsetsAt] = (), *, damage: DamageSink
) -> list[OffsetEvent]:
    """The movements that a store's files, logs and captures (`record`), and kept copies of the offset table show."""
    copies = [SavedTable(copy.written_ms, copy.offsets) for copy in kept]
    copies = _in_order([*copies, *_tables_of(store, damage)])
    log = LogAccess(store.commitlog)
    with closing(StoreQueues(store, damage=damage)) as queues:
        ends = Ends(queues, log, StoreLives(store, known))
        found = offset_events(record, copies, list(moved_records(queues, log)), ends)
        if not copies:
            return found
        return [*found, *next_pulls(copies[-1], ends, known.version, may_grow=waits_for_dispatch(store))]


def _tables_of(store: Store, damage: DamageSink) -> Iterator[SavedTable]:
    """The store's own table, and the one before it, which the broker kept as .bak when it wrote the newer one."""
    own = offsets_of_store(store, damage)
    if own is None or own.times_lost is not None:
        return
    yield SavedTable(own.written_ms, own.offsets)
    backups = [file for file in store.config if file.path.name in {f"{name}.bak" for name in FILES}]
    read = read_offsets(backups, damage=damage) if backups else ()
    if table := offset_table(offset for _, offset in read if offset.kind != "pull"):
        yield SavedTable(own.written_ms - 1, table, dated=False)


def _in_order(copies: Sequence[SavedTable]) -> list[SavedTable]:
    """By time; of several of one instant the first, and no undated one that a dated one makes superfluous."""
    dated = {copy.written_ms: copy for copy in reversed(copies) if copy.dated}
    ordered = [dated[at] for at in sorted(dated)]
    older = [copy for copy in copies if not copy.dated]
    return [*older, *ordered] if len(ordered) == 1 else ordered


def next_pulls(
    table: SavedTable, ends: Ends, version: BrokerVersion, *, may_grow: bool = False
) -> Iterator[OffsetEvent]:
    """Offsets that the broker will not take as they are: where the group goes on with its next pull.

    Args:
        may_grow: the log goes on behind what the queues have, so that they may end elsewhere once that is dispatched.
    """
    for (group, topic), queues in sorted(table.offsets.items()):
        for queue_id, offset in sorted(queues.items()):
            limits = ends.limits(topic, queue_id, version)
            answer = None if limits is None else next_pull(offset, *limits, version)
            if answer is None or not answer.is_moved:
                continue
            is_beyond = answer.answer is PullAnswer.BEYOND_END
            is_open = may_grow and answer.answer in (PullAnswer.BEYOND_END, PullAnswer.EMPTY)
            is_former = is_beyond and ends.is_of_former_life(topic, queue_id, offset, None)
            is_untold = is_beyond and not is_former
            reasons = [*([UNTOLD] if is_untold else []), *([NOT_DISPATCHED] if is_open else [])]
            skipped = answer.skipped_at_most if is_former else answer.expired
            why = FORMER_LIFE if is_former else answer.answer.value
            event = moved(
                (group, topic, queue_id),
                MoveKind.NEXT_PULL,
                (offset, answer.queue_offset),
                (None, None),
                f"{why}: {version} goes on at {answer.queue_offset}",
                f"table of {table.written_ms}",
            )
            passed = (None, None) if is_untold or is_open else (skipped, 0)
            yield event.passing(*passed).doubted("; ".join(reasons), certain=not is_open)


def event_rows(events: Iterable[OffsetEvent], *, broker: str | None = None) -> Iterator[dict[str, Any]]:
    """The rows of the table `offset_events`."""
    told = (event for event in events if event.is_told)
    return (
        OFFSET_EVENTS.row(each, broker=broker, from_queue_offset=each.before, to_queue_offset=each.after)
        for each in told
    )


def offset_event_of(row: Mapping[str, Any]) -> OffsetEvent:
    """The movement of a row of the table `offset_events`, whose instants are epoch milliseconds here."""
    return OffsetEvent(
        row["group"],
        row["topic"],
        row["queue_id"],
        MoveKind(row["kind"]),
        row["from_queue_offset"],
        row["to_queue_offset"],
        row["skipped"],
        row["repeated"],
        row["earliest"],
        row["latest"],
        row["by"],
        row["cause"],
        row["certain"],
        row["reason"],
        row["evidence"],
    )
