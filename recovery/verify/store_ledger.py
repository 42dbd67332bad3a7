"""The loss ledger of a store: what became of every queue offset that its queues and its log ever gave.

It comes from the pass over the log that `verify` makes, so that both say the same of a queue: memory is bounded by what
is out of place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from parsers.commitlog.compiled.resync import BODY_CRC_WRONG, RECORD_CRC_WRONG
from parsers.commitlog.record.layout import SMALLEST_MESSAGE
from parsers.kernels.arrays import Longs, Mask
from parsers.store.store import Store
from parsers.store.store_file import QueueKey, StoreFile
from parsers.values.java import LONG_MAX
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.life import QueueLife, TopicLives
from recovery.lives.offset_lives import DoubtfulOffset, GroupOffsets, OffsetLife, doubtful_offsets
from recovery.query.ledger import GroupPlace, Layer, LedgerRange, State, next_to_read, of_group, painted
from recovery.rebuild.queue_writer import MOST_OFFSET
from recovery.scan.intervals import Intervals, found_at
from recovery.scan.queue_rows import NO_ROWS, queue_rows
from recovery.verify.checks.queue.batch import written_units
from recovery.verify.checks.queue.compared import Compared, LogFacts
from recovery.verify.checks.queue.queue import OFFSET_TAKEN, absent_kinds
from recovery.verify.findings.kinds import KINDS
from recovery.verify.first_pass import files_of, first_pass
from recovery.verify.settle.log_columns import LogColumns
from recovery.verify.settle.outline import Files, Outline, QueueTrace
from recovery.verify.verify import QueueSide, QueueSides, queue_sides

NOTHING_HELD = "no file has a unit or a record of these numbers"
BEFORE_LOG = "before the log's first byte: its file was deleted"
DAMAGED_BYTES = "the unit is there, and where its message was the log is damaged or has no file"
BEYOND_LOG = "the unit leads beyond the log's end: the message is gone, and recovery cuts the queue here"
FORMER = "of a life of the topic that a deletion ended: in the log, and in no queue"
CUT_FILE = "the queue's file is cut short where its unit was"
CRC_WRONG = "the record is there, and its CRC does not fit its bytes"
STATES = {
    "unit_beyond_log": State.TRUNCATED,
    "unit_wrong_tags_code": State.STORED,
    "not_dispatched": State.NEVER_DISPATCHED,
    "not_dispatched_yet": State.NOT_DISPATCHED_YET,
}
"""Kinds of finding that are a state of their own; the others are damage."""


PassedOver = Mapping[tuple[str, str, int], Sequence[LedgerRange]]
"""(group, topic, queue_id) -> ranges that a movement took the group's offset over."""
NOTHING_PASSED: PassedOver = {}
Popped = Mapping[tuple[str, str], str]
"""(group, topic) -> what a stored offset says of messages of a group that pops."""
NOTHING_POPPED: Popped = {}


@dataclass(frozen=True, slots=True)
class QueueLedger:
    """The queue offsets of one queue in one life of its numbers, from 0 to its maximum.

    Attributes:
        group: whose view it is, None: the store's own.
        life: the life of the topic (see `rocketlens topics`); a queue that lost its files and started again has one
            more.
    """

    group: str | None
    topic: str
    queue_id: int
    life: int
    ranges: tuple[LedgerRange, ...]

    @property
    def max_queue_offset(self) -> int:
        return self.ranges[-1].end if self.ranges else 0


@dataclass(frozen=True, slots=True)
class StoreLedger:
    """The ledgers of a store's queues by topic, queue and life, and the lives of its topics."""

    queues: tuple[QueueLedger, ...]
    lives: TopicLives

    def of_groups(
        self, offsets: GroupOffsets, passed: PassedOver = NOTHING_PASSED, popped: Popped = NOTHING_POPPED
    ) -> Iterator[QueueLedger]:
        """Per group with a stored offset on a topic, each living queue of it as the group had it.

        Args:
            passed: what movements took a group's offset over in the topic's present life.
            popped: why what a group had of a topic may not be acknowledged, where it pops.
        """
        living = {(q.topic, q.queue_id): q for q in self.queues if q.life == self._living(q)}
        ends = {key: (_first_held(queue), queue.max_queue_offset) for key, queue in living.items()}
        doubts = {(d.group, d.topic, d.queue_id): d for d in doubtful_offsets(self.lives, offsets, ends)}
        by_topic: dict[str, list[QueueLedger]] = {}
        for (topic, _), queue in sorted(living.items()):
            by_topic.setdefault(topic, []).append(queue)
        for (group, topic), stored in sorted(offsets.items()):
            for queue in by_topic.get(topic, ()):
                offset = stored.get(queue.queue_id)
                at = None if offset is None else next_to_read(group, offset, queue.max_queue_offset)
                key = group, topic, queue.queue_id
                place = _place(at, doubts.get(key))
                place = replace(place, passed=tuple(passed.get(key, ())), popped=popped.get((group, topic)))
                yield replace(queue, group=group, ranges=tuple(of_group(queue.ranges, place)))

    def _living(self, queue: QueueLedger) -> int | None:
        return None if self.lives.is_deleted(queue.topic) else _living_life(self.lives, (queue.topic, queue.queue_id))


def store_ledger(store: Store, known: StoreKnowledge) -> StoreLedger:
    """The ledger of every queue of a store, from one pass over its log. Reads only."""
    files = replace(files_of(store, known), compares_index=False, index=())
    return ledger_of(store, known, files, first_pass(store, known, files))


def ledger_of(store: Store, known: StoreKnowledge, files: Files, seen: Outline) -> StoreLedger:
    """The ledger after the first pass over the log."""
    if files.unread is not None:
        return StoreLedger(tuple(_unread(seen, files.unread)), TopicLives())
    sides = queue_sides(store, known, files, seen)
    living = _Living(store, files, seen, sides)
    found = [*living.queues(), *_former(sides.lives)]
    return StoreLedger(tuple(sorted(found, key=lambda q: (q.topic, q.queue_id, q.life))), sides.lives)


def _unread(seen: Outline, why: str) -> Iterator[QueueLedger]:
    for (topic, queue_id), trace in sorted(seen.queues.items()):
        whole = LedgerRange(0, trace.most + 1, State.UNKNOWN, certain=False, reason=f"the queues cannot be read: {why}")
        if trace.most >= 0:
            yield QueueLedger(None, topic, queue_id, 1, (whole,))


def _living_life(lives: TopicLives, key: QueueKey) -> int:
    of_topic = lives.topics.get(key[0])
    return (of_topic[-1].life if of_topic else 1) + (key in lives.restarted)


def _damaged_by_queue(log: LogColumns) -> dict[QueueKey, Longs]:
    """Rows of the log's units whose record a CRC contradicts."""
    damaged = np.flatnonzero(np.isin(log.messages.crc[log.units.record], (BODY_CRC_WRONG, RECORD_CRC_WRONG)))
    found = queue_rows(log.units.topic[damaged], log.units.queue_id[damaged])
    return {(log.topics[code], queue_id): damaged[rows] for (code, queue_id), rows in found.items()}


class _Living:
    """The queues as they are now, each painted from what the first pass settled and what the rules say of the rest."""

    def __init__(self, store: Store, files: Files, seen: Outline, sides: QueueSides) -> None:
        self._store, self._files, self._seen, self._sides = store, files, seen, sides
        self._most_messages = sum(file.size for file in store.commitlog) // SMALLEST_MESSAGE
        doubt = sides.head_doubt
        expired = BEFORE_LOG if doubt is None else f"{BEFORE_LOG}, or lost ({_meaning(doubt.kind)})"
        self._expired = Layer.empty(State.EXPIRED, expired, certain=doubt is None)
        self._damaged = _damaged_by_queue(sides.log)
        self._undecided = {life.topic: life.evidence for life in sides.lives.undecided}

    def queues(self) -> Iterator[QueueLedger]:
        for key in sorted(self._seen.queues.keys() | self._files.queues.keys() | self._store.batch_queues.keys()):
            if key in self._store.batch_queues:
                layers = list(_batch_layers(key, self._store.batch_queues[key], self._sides, self._expired))
            else:
                layers = [self._damaged_records(key), *self._layers(key)]
            ranges = tuple(painted(layers, self._before(), Layer.empty(State.UNKNOWN, NOTHING_HELD)))
            if ranges:
                yield QueueLedger(None, *key, _living_life(self._sides.lives, key), ranges)

    def _damaged_records(self, key: QueueKey) -> Layer:
        """Messages whose bytes a CRC contradicts."""
        log = self._sides.log
        rows = self._damaged.get(key, NO_ROWS)
        places = log.messages.physical_offset[log.units.record[rows]]
        living = rows[places >= self._sides.lives.living_start(key)]
        return Layer.of_offsets(log.units.queue_offset[living], State.DAMAGED, CRC_WRONG)

    def _before(self) -> Layer:
        """The state of numbers before the first that any file has."""
        if self._sides.facts.start > 0:
            return self._expired
        why = f"{NOTHING_HELD}, and the log begins at byte 0"
        return Layer.empty(State.UNKNOWN, why, certain=False)

    def _layers(self, key: QueueKey) -> Iterator[Layer]:
        side = self._sides.queues.get(key)
        if side is None:
            trace = self._seen.queues.get(key, QueueTrace())
            yield _settled(trace.first, trace.following, Intervals.of(trace.spans))
            return
        head, before = side.head, self._before()
        yield from _unit_layers(side.compared, self._sides.facts, self._expired)
        yield Layer.of_offsets(side.compared.holes, State.DAMAGED, _meaning("unit_invalid"))
        if head.expired:
            yield _spanning(self._expired, head.first_expired, head.last_expired + 1)
        yield _settled(head.settled_from, head.settled_to, head.unsettled)
        yield from self._absent_layers(key, side)
        if head.blanks:
            yield _spanning(before, head.first_blank, head.first_blank + head.blanks)
        blanks = Layer.of_offsets(side.units.queue_offset[side.units.is_pre_blank], before.state)
        yield replace(before, starts=blanks.starts, ends=blanks.ends)

    def _absent_layers(self, key: QueueKey, side: QueueSide) -> Iterator[Layer]:
        """Messages of the log that no unit leads to."""
        absent = side.compared.absent
        kinds = absent_kinds(absent, side.compared.served, side.places, self._sides.facts)
        known = int(max(side.units.queue_offset.max(initial=-1), side.head.settled_to))
        first = int(absent.queue_offset.min(initial=LONG_MAX))
        possible = absent.queue_offset <= max(known, first) + self._most_messages
        possible &= (absent.queue_offset >= 0) & (kinds != OFFSET_TAKEN)
        undecided = self._undecided.get(key[0])
        for kind in np.unique(kinds[possible]).tolist():
            reason = _meaning(kind) if kind else CUT_FILE
            is_open = kind == "queue_missing" and undecided is not None
            yield Layer.of_offsets(
                absent.queue_offset[possible & (kinds == kind)],
                STATES.get(kind, State.DAMAGED),
                f"{reason}; {undecided}" if is_open else reason,
                certain=not is_open,
            )


def _unit_layers(found: Compared, facts: LogFacts, expired: Layer) -> Iterator[Layer]:
    """The units that are there and not settled."""
    slots, places = found.own.queue_offset, found.own.physical_offset
    right = found.verdict == ""
    yield Layer.of_offsets(slots[right & found.is_own], State.STORED)
    yield from _stray_layers(slots, places, right & ~found.is_own, facts, expired)
    for kind in np.unique(found.verdict[~right]).tolist():
        yield Layer.of_offsets(slots[found.verdict == kind], STATES.get(kind, State.DAMAGED), _meaning(kind))


def _stray_layers(slots: Longs, places: Longs, stray: Mask, facts: LogFacts, expired: Layer) -> Iterator[Layer]:
    """Units without a record whose absence the log explains: it begins later, ends earlier, or is damaged there."""
    below, beyond = places < facts.start, places >= facts.end
    gone = Layer.of_offsets(slots[stray & below], expired.state)
    yield replace(expired, starts=gone.starts, ends=gone.ends)
    yield Layer.of_offsets(slots[stray & beyond], State.TRUNCATED, BEYOND_LOG)
    yield Layer.of_offsets(slots[stray & ~below & ~beyond], State.DAMAGED, DAMAGED_BYTES)


def _settled(first: int, end: int, unsettled: Intervals) -> Layer:
    """What the first pass found in its place, byte for byte."""
    if end <= first:
        return Layer.empty(State.STORED)
    starts, ends = np.array([first], np.int64), np.array([end], np.int64)
    return Layer(np.concatenate((starts, unsettled.ends)), np.concatenate((unsettled.starts, ends)), State.STORED)


def _spanning(layer: Layer, first: int, end: int) -> Layer:
    return replace(layer, starts=np.array([first], np.int64), ends=np.array([end], np.int64))


def _meaning(kind: str) -> str:
    """A kind of finding, and what it does to a message."""
    return f"{kind}: {KINDS[kind].broker_would}"


def _batch_layers(key: QueueKey, files: Sequence[StoreFile], sides: QueueSides, expired: Layer) -> Iterator[Layer]:
    """A queue of batches: each unit stands for as many queue offsets as its record has messages."""
    log, facts = sides.log, sides.facts
    code = log.topics.index(key[0]) if key[0] in log.topics else -1
    rows = np.flatnonzero((log.units.topic == code) & (log.units.queue_id == key[1]))
    records = log.messages.physical_offset[log.units.record[rows]]
    units = [written_units(file) for file in files]
    first = np.concatenate([np.empty(0, np.int64), *(found["queue_offset"] for found in units)])
    count = np.concatenate([np.empty(0, np.int64), *(found["message_count"] for found in units)])
    places = np.concatenate([np.empty(0, np.int64), *(found["physical_offset"] for found in units)])
    possible = (first >= 0) & (count > 0) & (first <= MOST_OFFSET)
    first, count, places = first[possible], count[possible], places[possible]
    _, is_own = found_at(records, places)
    below, beyond = ~is_own & (places < facts.start), ~is_own & (places >= facts.end)
    yield _of_runs(Layer.empty(State.STORED), first[is_own], count[is_own])
    yield _of_runs(expired, first[below], count[below])
    yield _of_runs(Layer.empty(State.TRUNCATED, BEYOND_LOG), first[beyond], count[beyond])
    wrong = ~is_own & ~below & ~beyond
    yield _of_runs(Layer.empty(State.DAMAGED, _meaning("unit_points_to_nothing")), first[wrong], count[wrong])
    absent = ~np.isin(records, places) & (log.units.message_count[rows] > 0)
    for kind, chosen in (
        ("not_dispatched", records < facts.dispatched_to),
        ("not_dispatched_yet", records >= facts.dispatched_to),
    ):
        layer = Layer.empty(STATES[kind], _meaning(kind))
        mine = rows[absent & chosen]
        yield _of_runs(layer, log.units.queue_offset[mine], log.units.message_count[mine].astype(np.int64))


def _of_runs(layer: Layer, first: Longs, count: Longs) -> Layer:
    runs = Intervals.of(zip(first.tolist(), (first + count).tolist(), strict=True))
    return replace(layer, starts=runs.starts, ends=runs.ends)


def _former(lives: TopicLives) -> Iterator[QueueLedger]:
    """The queues of lives that are over: deleted topics, and queues that lost their files and started again."""
    for life in lives.former:
        yield from (_former_queue(life.topic, life.life, queue, State.FORMER_LIFE, FORMER) for queue in life.queues)
    for (topic, _), restarted in lives.restarted.items():
        life_no = lives.topics[topic][-1].life
        reason = _meaning("queue_numbers_restarted")
        yield _former_queue(topic, life_no, restarted.former, State.DAMAGED, reason, certain=restarted.lost_files)


def _former_queue(
    topic: str, life: int, queue: QueueLife, state: State, reason: str, *, certain: bool = True
) -> QueueLedger:
    first, end = queue.first_queue_offset, queue.last_queue_offset + 1
    held = end - first == queue.messages
    told = reason if held else f"{reason}; the log has {queue.messages} of them"
    own = LedgerRange(first, end, state, certain and held, told)
    ranges = [LedgerRange(0, first, State.EXPIRED, reason=NOTHING_HELD), own]
    return QueueLedger(None, topic, queue.queue_id, life, tuple(ranges if first else ranges[1:]))


def _first_held(queue: QueueLedger) -> int:
    """The first queue offset whose message is there; the end where none is."""
    return next((each.first for each in queue.ranges if each.state is State.STORED), queue.max_queue_offset)


def _place(offset: int | None, doubt: DoubtfulOffset | None) -> GroupPlace:
    """Where a group stands, by its offset and what speaks against that."""
    if doubt is None:
        return GroupPlace(offset)
    theirs = f"the group's offset {offset}"
    if doubt.life is OffsetLife.FORMER:
        return GroupPlace(offset, unread=f"{theirs} is of a former life of the topic: it read none of these")
    return GroupPlace(offset, doubt=f"{theirs} may be of a former life of the topic: the store does not tell")
