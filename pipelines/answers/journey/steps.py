"""The story of one message, step by step: stored, queued, indexed, owned, committed past, retried, given up.

Pure: a `Trail` of evidence in, steps in order of time out. What no evidence tells is a step that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from parsers.config.groups import is_system_group
from parsers.values.topics import (
    DATABASE_HALF_TOPIC,
    GIVEN_UP_TOPIC,
    SCHEDULE_TOPIC,
    TIMER_TOPIC,
    TRANSACTION_TOPIC,
    is_dead_letter,
    is_retry,
)
from pipelines.answers.journey.held_back import HeldBack
from pipelines.answers.journey.step import MessageLife, Step, StoredRecord
from pipelines.answers.journey.traced import TraceEvent, groups_of, sent, told_by_clients
from pipelines.answers.offsets.event import OffsetEvent
from rebalance.diagnosis.intervals import OwnershipInterval
from rebalance.model.timing import LATE_COMMIT_MS
from recovery.lives.offset_lives import OffsetLife

BEFORE_DELIVERY = {
    SCHEDULE_TOPIC: "waits there for its delay level",
    TRANSACTION_TOPIC: "waits there for its transaction",
    DATABASE_HALF_TOPIC: "waits there for its transaction",
    TIMER_TOPIC: "waits there for its timer",
    GIVEN_UP_TOPIC: "its transaction was given up: checked too often",
}
"""Topics from which no consumer of the message reads, and what a record in them says."""
NOT_DELIVERED = (
    "no consumer, as far as the log tells: no record of it is in a topic that consumers read; `transactions` and "
    "`delays` say what became of it"
)
POPPED = "the group popped it, and the broker stores the offset of a popped queue before anything is acknowledged"
"""PopBufferMergeService#scanCommitOffset @5.3.3."""

IN_FLIGHT = "the commit past the message may have been on its way then, so that it came again"


@dataclass(frozen=True, slots=True)
class Commit:
    """A consumer's commit on the message's queue, as a capture or a log saw it."""

    at_ms: int
    group: str
    client_id: str | None
    queue_offset: int
    evidence: str
    broker: str = ""


@dataclass(frozen=True, slots=True)
class Pull:
    """A consumer's pull from the message's queue, as a capture saw it; `queue_offset`: where it begins.

    `remote`: `ip:port` of its connection, which is one client's; the client's id is known by its heartbeats.
    """

    at_ms: int
    group: str
    client_id: str | None
    remote: str | None
    queue_offset: int
    evidence: str
    broker: str = ""


@dataclass(frozen=True, slots=True)
class KeptOffset:
    """A group's offset on the message's queue in one kept copy of consumerOffset.json; None: none stored.

    `doubt`: what speaks against its being of the topic's present life.
    """

    written_ms: int
    group: str
    queue_offset: int | None
    doubt: OffsetLife | None = None

    def is_past(self, message: StoredRecord) -> bool:
        """Whether it is beyond the message's number, and younger than the message."""
        is_younger = message.stored_ms is None or self.written_ms >= message.stored_ms
        return is_younger and self.queue_offset is not None and self.queue_offset > message.queue_offset


@dataclass(slots=True)
class Trail:
    """Everything the evidence holds about one message.

    Attributes:
        message: the record asked for. `records`: every record with its unique id, in physical order.
        unit_points_to: physical offset its queue unit points to; None: no unit there.
        index_files: names of the index files it was found in; None: there is no index to look in.
        life: which life of its topic the message is of, None where that is not known.
        traces: what clients wrote of the message, in the order of the log.
        held: what became of its waits and its pops.
        passed: by group the movement that took its offset over the message.
        broker: name of the broker that holds the message; None: not known. Recordings of another name are not certain.
        looked_at: what kind of evidence of consumers was given, in words.
    """

    message: StoredRecord
    records: Sequence[StoredRecord]
    unit_points_to: int | None
    index_files: Sequence[str] | None
    kept: Sequence[KeptOffset] = ()
    commits: Sequence[Commit] = ()
    pulls: Sequence[Pull] = ()
    traces: Sequence[TraceEvent] = ()
    intervals: Sequence[OwnershipInterval] = ()
    looked_at: Sequence[str] = field(default_factory=list)
    held: HeldBack = field(default_factory=HeldBack)
    passed: Mapping[str, OffsetEvent] = field(default_factory=dict)
    life: MessageLife | None = None
    broker: str | None = None

    def recorded(self) -> set[str]:
        """Brokers of whose queue of that number recordings tell."""
        of_requests = {commit.broker for commit in self.commits} | {pull.broker for pull in self.pulls}
        return of_requests | {row.broker for row in self.intervals}

    def of(self, broker: str | None) -> Trail:
        """The trail with this broker's recordings alone."""
        return replace(
            self,
            commits=[each for each in self.commits if each.broker == broker],
            pulls=[each for each in self.pulls if each.broker == broker],
            intervals=[each for each in self.intervals if each.broker == broker],
        )


def story(trail: Trail) -> list[Step]:
    """All steps, in order of time; queue and index follow what was stored, others without an instant come last.

    Groups of the broker's own are left out: that its check of transactions is past a half message is no consumption.
    """
    if trail.broker is not None and trail.broker in trail.recorded():
        trail = trail.of(trail.broker)
    steps = [*sent(trail.message, trail.traces), *_in_the_log(trail), *_queued(trail), *_indexed(trail)]
    steps += [*told_by_clients(trail.traces), *trail.held.steps()]
    groups = sorted(group for group in _groups(trail) if not is_system_group(group))
    popping = trail.held.groups()
    for group in groups:
        steps += _of_brokers(trail, group) if group not in popping else map(_of_popping, _of_brokers(trail, group))
    if not groups and not any(step.step == "delivered" for step in steps):
        looked = ", ".join(trail.looked_at) or "no offsets, no logs and no captures were given"
        waits = all(record.topic in BEFORE_DELIVERY for record in trail.records)
        words = NOT_DELIVERED if waits else "nothing tells who consumed it"
        steps.append(Step(None, "consumed", None, None, words, False, looked))
    stored_ms = trail.message.stored_ms
    dispatched = {"queued": stored_ms, "indexed": stored_ms}
    places = [dispatched.get(step.step) if step.at_ms is None else step.at_ms for step in steps]
    return [steps[n] for n in sorted(range(len(steps)), key=lambda n: (places[n] is None, places[n] or 0))]


def _of_popping(step: Step) -> Step:
    return replace(step, what=f"{step.what}; {POPPED}", certain=False) if step.step == "committed" else step


def _in_the_log(trail: Trail) -> Iterator[Step]:
    for record in trail.records:
        evidence = f"CommitLog at {record.physical_offset}"
        group = record.group
        if is_dead_letter(record.topic):
            yield Step(record.stored_ms, "given_up", group, None, f"dead letter: {record.place}", True, evidence)
        elif is_retry(record.topic):
            words = f"retry number {record.reconsume_times}: {record.place}"
            yield Step(record.stored_ms, "retried", group, None, words, True, evidence)
        else:
            yield Step(record.stored_ms, "stored", None, None, _stored(record), True, evidence)


def _stored(record: StoredRecord) -> str:
    words = f"in {record.place}, from {record.born_host or 'an unknown host'}"
    waits = BEFORE_DELIVERY.get(record.topic)
    transaction = f", transaction {record.transaction_type}" if record.transaction_type != "none" else ""
    return words + (f"; {waits}" if waits else "") + transaction


def _queued(trail: Trail) -> Iterator[Step]:
    message, place = trail.message, f"ConsumeQueue {trail.message.topic}/{trail.message.queue_id}"
    if message.transaction_type in ("prepared", "rollback"):
        yield Step(None, "queued", None, None, "not queued: a half or rolled-back message gets no unit", True, place)
    elif trail.unit_points_to == message.physical_offset:
        yield Step(None, "queued", None, None, f"unit {message.queue_offset} points to it", True, place)
    elif trail.life is not None and trail.life.is_over:
        words = f"no longer queued: the topic was deleted; the message is of life {trail.life.life}"
        yield Step(None, "queued", None, None, words, True, place)
    elif trail.unit_points_to is None:
        yield Step(None, "queued", None, None, f"no unit {message.queue_offset}: consumers cannot see it", True, place)
    else:
        words = f"unit {message.queue_offset} points to {trail.unit_points_to} instead: consumers cannot see it"
        yield Step(None, "queued", None, None, words, True, place)


def _indexed(trail: Trail) -> Iterator[Step]:
    if trail.index_files is None:
        yield Step(None, "indexed", None, None, "there is no index to look in", False, "index/")
    elif trail.index_files:
        names = ", ".join(trail.index_files)
        yield Step(None, "indexed", None, None, "queries by its unique id or keys find it", True, names)
    else:
        yield Step(None, "indexed", None, None, "no query by its unique id or keys finds it", True, "index/")


def _of_brokers(trail: Trail, group: str) -> Iterator[Step]:
    """Each broker has a queue of that number: unless it is known which one is meant, no recorded step is sure."""
    yield from _of_group(trail.of(trail.broker), group)
    for broker in sorted(trail.recorded() - {trail.broker}):
        for step in _of_group(replace(trail.of(broker), kept=()), group):
            words = f"{step.what}; on {broker}, which may be another broker than this store's"
            yield replace(step, certain=False, what=words)


def _of_group(trail: Trail, group: str) -> Iterator[Step]:
    past = min(
        (c for c in trail.commits if c.group == group and _is_past(trail, c)), key=lambda c: c.at_ms, default=None
    )
    kept = sorted((k for k in trail.kept if k.group == group), key=lambda k: k.written_ms)
    done_ms = past.at_ms if past else _done_by(trail, kept)
    yield from _owners(trail, group, done_ms)
    yield from _pulled(trail, group)
    if past is not None:
        words = f"first commit past it: next is {past.queue_offset}"
        yield Step(past.at_ms, "committed", group, past.client_id, words, True, past.evidence)
    elif kept:
        yield _by_copies(trail, group, kept)
    if (moved := trail.passed.get(group)) is not None:
        words = (
            f"its offset was taken over the message, from {moved.before} to {moved.after}: {moved.kind}, {moved.cause}"
        )
        yield Step(moved.latest_ms, "skipped", group, moved.by, words, moved.certain, moved.evidence)


def _is_past(trail: Trail, commit: Commit) -> bool:
    stored_ms = trail.message.stored_ms
    after = commit.queue_offset > trail.message.queue_offset and (stored_ms is None or commit.at_ms >= stored_ms)
    life = trail.life
    return after and (life is None or life.counts(commit.at_ms, life.doubt_of(commit.queue_offset)) is True)


def _counts(trail: Trail, copy: KeptOffset) -> bool | None:
    """Whether an offset counts messages of the message's life; None: that is open."""
    return True if trail.life is None else trail.life.counts(copy.written_ms, copy.doubt)


def _done_by(trail: Trail, kept: Sequence[KeptOffset]) -> int | None:
    return next((k.written_ms for k in kept if k.is_past(trail.message) and _counts(trail, k)), None)


def _by_copies(trail: Trail, group: str, kept: Sequence[KeptOffset]) -> Step:
    before, doubt = None, None
    for copy in kept:
        counts = _counts(trail, copy)
        if copy.is_past(trail.message) and not counts:
            doubt = _of_another_life(copy, counts)
        elif copy.is_past(trail.message):
            after = "" if before is None else ", not yet in the copy before"
            words = f"committed past it by then: next is {copy.queue_offset}{after}"
            return Step(copy.written_ms, "committed", group, None, words, False, "consumerOffset.json")
        before = copy
    last = kept[-1]
    if doubt is not None:
        return Step(last.written_ms, "consumed", group, None, doubt, False, "consumerOffset.json")
    words = (
        "no offset is stored for its queue" if last.queue_offset is None else f"not yet: next is {last.queue_offset}"
    )
    return Step(last.written_ms, "consumed", group, None, words, True, "consumerOffset.json")


def _of_another_life(copy: KeptOffset, counts: bool | None) -> str:
    if counts is None:
        return f"next is {copy.queue_offset}, but the topic had several lives: of which one the offset is, is not known"
    return f"next is {copy.queue_offset}, an offset of another life of the topic: it does not count this message"


def _owners(trail: Trail, group: str, done_ms: int | None) -> Iterator[Step]:
    """Who had the queue between the message's storing and the first commit past it, and who got it again: an owner
    that began at the message or below, after that commit or while it may have been on its way."""
    stored_ms, number = trail.message.stored_ms, trail.message.queue_offset
    for interval in trail.intervals:
        ended = interval.end_latest is not None and stored_ms is not None and interval.end_latest < stored_ms
        begins_ms = interval.begin_latest if interval.begin_earliest is None else interval.begin_earliest
        start, is_after = interval.start_queue_offset, done_ms is not None and begins_ms > done_ms
        on_its_way = done_ms is not None and begins_ms <= done_ms + LATE_COMMIT_MS
        comes_again = is_after and (on_its_way if start is None else start <= number)
        too_late = is_after and not comes_again
        if interval.group == group and not ended and not too_late:
            surely = stored_ms is not None and interval.begin_latest <= stored_ms <= interval.end_earliest
            words = f"owner of {interval.broker} {interval.topic}/{interval.queue_id}: {interval.cause}"
            if comes_again:
                words += f"; {IN_FLIGHT if start is None else f'it began at {start}: the message came again'}"
            at_ms = max(begins_ms, stored_ms or begins_ms)
            yield Step(at_ms, "owned", group, interval.client_id, words, surely, interval.evidence)


def _pulled(trail: Trail, group: str) -> Iterator[Step]:
    """The first pull of each connection that begins after the message, after one that did not."""
    number, stored_ms = trail.message.queue_offset, trail.message.stored_ms or 0
    before: dict[str | None, Pull] = {}
    done: set[str | None] = set()
    for pull in sorted((each for each in trail.pulls if each.group == group), key=lambda each: each.at_ms):
        if pull.queue_offset <= number:
            before[pull.remote] = pull
        elif pull.at_ms >= stored_ms and pull.remote in before and pull.remote not in done:
            done.add(pull.remote)
            first = before[pull.remote].queue_offset
            words = f"by then, unless its filter left it out: pulls from {first}, then from {pull.queue_offset}"
            yield Step(pull.at_ms, "pulled", group, pull.client_id, words, False, pull.evidence)


def _groups(trail: Trail) -> set[str]:
    known = {kept.group for kept in trail.kept} | {commit.group for commit in trail.commits}
    retrying = {record.group for record in trail.records if record.group is not None}
    known |= {pull.group for pull in trail.pulls} | groups_of(trail.traces) | trail.held.groups()
    return known | retrying | {interval.group for interval in trail.intervals}
