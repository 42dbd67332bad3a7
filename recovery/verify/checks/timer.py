"""The timer log, the timer wheel and timercheck against the CommitLog and against each other.

A unit names the record of a timer message and the unit before it in its slot; a slot of the wheel names the first and
the last unit of this chain. Source: TimerMessageStore#doEnqueue, #dequeue, #recover, #recoverAndRevise,
#reviseQueueOffset, TimerWheel, TimerLog @5.3.3, 5.5.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from parsers.damage.runs import runs
from parsers.timer.check import TIMER_CHECK
from parsers.timer.log import TIMER_UNIT
from parsers.timer.wheel import TIMER_SLOT, WHEEL_BYTES
from parsers.values.topics import TIMER_TOPIC
from recovery.scan.intervals import Intervals, Longs, Mask, found_at, neighbours
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span
from recovery.verify.settle.timer_kernel import (
    BEYOND,
    BROKEN,
    EXPIRED,
    NO_RECORD,
    NONE,
    OTHER_SIZE,
    OTHER_TIME,
    OTHER_TOPIC,
    RIGHT,
    walk_chains,
)

PRECISIONS_MS = (1000, 500, 200, 100)
"""The values that MessageStoreConfig#setTimerPrecisionMs leaves @5.3.3."""
WHEEL = "timerwheel"
SLOTS = WHEEL_BYTES // TIMER_SLOT.size
LEAST_MESSAGE = 128
"""Bytes that a timer message has at least: its topic and the properties that the broker sets included."""
MOST_BLANK = 68
"""TimerLog#append ends a file when fewer bytes are left: a unit and a blank @5.3.3."""
CLOCK_STEP_MS = 60_000
"""A clock may have been put back by so much while the broker ran."""
QUEUE_OFFSET, MASTER_OFFSET, FLUSHED = "last_queue_offset", "master_queue_offset", "last_flush_position"
SAYS = {
    NO_RECORD: "no record starts there",
    OTHER_TOPIC: f"the record there is not of {TIMER_TOPIC}",
    OTHER_SIZE: "the record there has another size",
    OTHER_TIME: "the record there is due at another time (TIMER_OUT_MS)",
    BEYOND: "it ends before that",
}


@dataclass(frozen=True, slots=True)
class TimerUnits:
    """The units of the timer log that can be read, in order. `verdict`: of `judge_records`, or BEYOND the log's end."""

    position: Longs
    prev_position: Longs
    due_ms: Longs
    is_rolled: Mask
    is_deletion: Mask
    physical_offset: Longs
    msg_size: Longs
    verdict: Longs


@dataclass(frozen=True, slots=True)
class TimerLogShape:
    """Where the timer log's files start, their names below the store, its end; and what cannot be read of it.

    `end`: the byte after the last unit; `file_end`: after the last file. `refused`: bytes of units at
    which recovery cuts the timer log.
    """

    bases: tuple[int, ...]
    names: tuple[str, ...]
    end: int
    file_end: int
    refused: Intervals

    @property
    def start(self) -> int:
        return self.bases[0] if self.bases else 0

    def place(self, position: int, length: int) -> Place:
        """Bytes of the timer log in the file that they are in."""
        number = max(0, int(np.searchsorted(self.bases, position, side="right")) - 1)
        return Place(self.names[number], position - self.bases[number], length)


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of the wheel that are in use; `wheel_is_whole`: its file has all slots."""

    slot: Longs
    time: Longs
    first_position: Longs
    last_position: Longs
    timer_count: Longs
    wheel_is_whole: bool


@dataclass(frozen=True, slots=True)
class LogSide:
    """What the CommitLog and the queue of timer messages say.

    `lost`: ranges that a finding about the log covers; `unforced`: bytes that an unclean exit may have taken from the
    log's end, 0 after a shutdown in order; `queue_end`: the queue's maximum, None where it is not known;
    `dates_check`: timercheck has the date of its last change also where this broker became a slave.
    """

    start: int
    end: int
    lost: Intervals
    unforced: int
    queue_end: int | None
    dates_check: bool


def check_timer(
    units: TimerUnits, log: TimerLogShape, slots: Slots, check: dict[str, int] | None, side: LogSide
) -> Judgement:
    """Every unit that names no timer message, every slot without its chain, and a timercheck beyond both."""
    found, explained = _units(units, log, side)
    broken_slots, uncounted = _slots(units, log, slots, side)
    findings = [*_refused(log), *found, *broken_slots]
    if check is not None and slots.wheel_is_whole:
        findings += _without_a_slot(units, log, slots, check, broken_slots)
    if check is not None:
        findings += _check(check, log, side, knows_end=not broken_slots)
    return Judgement(tuple(findings), (*explained, *uncounted))


def _refused(log: TimerLogShape) -> Iterator[Finding]:
    for start, end in zip(log.refused.starts.tolist(), log.refused.ends.tolist(), strict=True):
        place = log.place(start, end - start)
        evidence = (f"timer log: no unit at {start}: its size is not {TIMER_UNIT.size}, or its magic is none",)
        yield Finding("timer_unit_wrong", Span(), (place,), max(1, (end - start) // TIMER_UNIT.size), evidence)


def _units(units: TimerUnits, log: TimerLogShape, side: LogSide) -> tuple[list[Finding], list[Explained]]:
    expired = (units.physical_offset < side.start) & (units.physical_offset >= 0)
    reaches_to = units.physical_offset + units.msg_size
    gone = (units.verdict == BEYOND) & (reaches_to <= side.end + side.unforced)
    wrong = (units.verdict != RIGHT) & ~side.lost.hold(units.physical_offset)
    explained = []
    for what, mask, why in (
        ("expired timers", expired, "their messages expired from the CommitLog"),
        ("timers beyond the log", gone & wrong, "an unclean exit took their messages, which were not forced to disk"),
    ):
        places = tuple(_unit_places(log, units.position, np.flatnonzero(mask)))
        if places:
            explained.append(Explained(what, why, places=places))
    wrong &= ~gone & ~expired
    findings = [
        _unit_finding(units, log, side, first, end)
        for verdict in SAYS
        for first, end in runs(wrong & (units.verdict == verdict))
    ]
    return findings, explained


def _unit_finding(units: TimerUnits, log: TimerLogShape, side: LogSide, first: int, end: int) -> Finding:
    offset, size = int(units.physical_offset[first]), int(units.msg_size[first])
    verdict = int(units.verdict[first])
    return Finding(
        "timer_unit_wrong",
        Span(TIMER_TOPIC, 0, None, None, offset, offset + max(size, 1)),
        tuple(_unit_places(log, units.position, np.arange(first, end))),
        end - first,
        (
            f"timer log: the unit at {units.position[first]} names {size} bytes at {offset}, due {units.due_ms[first]}",
            f"log to {side.end}: {SAYS[verdict]}",
        ),
    )


def _unit_places(log: TimerLogShape, position: Longs, rows: Longs) -> Iterator[Place]:
    """Units one after another are one place."""
    breaks = np.flatnonzero((np.diff(position[rows]) != TIMER_UNIT.size) | (np.diff(rows) != 1)) + 1
    for part in np.split(rows, breaks):
        if len(part):
            yield log.place(int(position[part[0]]), len(part) * TIMER_UNIT.size)


def _slots(
    units: TimerUnits, log: TimerLogShape, slots: Slots, side: LogSide
) -> tuple[list[Finding], tuple[Explained, ...]]:
    last, has_last = found_at(units.position, slots.last_position)
    _, has_first = found_at(units.position, slots.first_position)
    expired = (slots.last_position < log.start) & (slots.last_position >= 0)
    first_expired = (slots.first_position < log.start) & (slots.first_position >= 0)
    refused = log.refused.hold(slots.last_position) | log.refused.hold(slots.first_position)
    judged = ~expired & ~refused
    most_ahead = log.file_end if side.unforced else log.end
    ahead = (slots.last_position >= log.end) & (slots.last_position < most_ahead)
    lost = judged & ~(has_last & (has_first | first_expired)) & ~ahead
    whole = judged & has_last & (has_first | first_expired)
    findings = _slot_findings(slots, lost, f"timer log: no unit there; its units are from {log.start} to {log.end}")
    why = "an unclean exit took their units; recovery sets the slots' last positions again"
    explained = _explained_slots(slots, judged & ahead, "timer slots ahead of the timer log", why)
    if not len(units.position):
        return findings, explained
    fits = [units.due_ms[last] // each == slots.time for each in PRECISIONS_MS]
    other_time = whole & (units.verdict[last] != OTHER_TIME) & ~np.logical_or.reduce(fits)
    findings += _slot_findings(slots, other_time, "timer log: the unit at its last position is due at another time")
    root, counts = _chains(units, log)
    begins = units.position[np.maximum(root[last], 0)]
    broken = whole & ~other_time & (root[last] >= 0) & (begins != slots.first_position) & ~first_expired
    findings += _slot_findings(slots, broken, "timer log: the chain from its last position does not end at its first")
    findings += _broken_links(units, log)
    counted = whole & ~other_time & ~broken & (root[last] >= 0)
    uncounted = counted & (counts[last] != slots.timer_count)
    why = "a start after an unclean exit sets the positions again, not the number, which only metrics read"
    return findings, (*explained, *_explained_slots(slots, uncounted, "number of timers in a slot", why))


def _without_a_slot(
    units: TimerUnits,
    log: TimerLogShape,
    slots: Slots,
    check: dict[str, int],
    told: list[Finding],
) -> list[Finding]:
    """Units whose timers are still to be delivered and whose slot is of another time, or of none.

    The wheel lacks the units after the last flush of the timer log that timercheck tells, also after a shutdown in
    order, which flushes the log once more, and the wheel not; the next start sets their slots from the log.
    TimerMessageStore#prepareTimerCheckPoint, #shutdown, TimerFlushService#run @5.3.3.
    """
    precision_ms = _precision(units, slots)
    key = units.due_ms // precision_ms
    slot = key % SLOTS
    cut = int(log.refused.starts.min()) if len(log.refused.starts) else log.end
    waits = (key * precision_ms >= check["last_read_time_ms"]) & (units.verdict == RIGHT)
    waits &= units.position < min(check[FLUSHED], cut)
    row, is_used = found_at(slots.slot, slot)
    time = slots.time[row] if len(slots.slot) else np.zeros_like(key)
    known = _slots_at(place for found in told for place in found.places if place.file == WHEEL)
    rows = np.flatnonzero(waits & ~(is_used & (time == key)) & ~np.isin(slot, known))
    if not len(rows):
        return []
    at = rows[0]
    said = f"timer wheel: slot {slot[at]} " + (f"holds time {time[at]}" if is_used[at] else "is not in use")
    other = f"timer log: the unit at {units.position[at]} is of time {key[at]}, still to be delivered"
    wrong, rolled = np.unique(slot[rows]), rows[units.is_rolled[rows]]  # of a roll the unit alone tells the time
    places = (*_slot_places(wrong), *_unit_places(log, units.position, rolled))
    return [Finding("timer_slot_wrong", Span(), places, len(wrong), (said, other))]


def _precision(units: TimerUnits, slots: Slots) -> int:
    """The one by which the most slots have the time of their last unit; the default where none does."""
    last, has_last = found_at(units.position, slots.last_position)
    if not has_last.any():
        return PRECISIONS_MS[0]
    due, time = units.due_ms[last[has_last]], slots.time[has_last]
    return max(PRECISIONS_MS, key=lambda each: int(np.count_nonzero(due // each == time)))


def _chains(units: TimerUnits, log: TimerLogShape) -> tuple[Longs, Longs]:
    before = _before(units, log)
    root, counts = np.empty_like(before), np.empty_like(before)
    walk_chains(before, np.where(units.is_deletion, -1, 1), root, counts)
    return root, counts


def _before(units: TimerUnits, log: TimerLogShape) -> Longs:
    """The row of the unit before each in its slot, or NONE, EXPIRED, BROKEN."""
    row, is_unit = found_at(units.position, units.prev_position)
    is_unit &= row < np.arange(len(row))
    before = np.where(is_unit, row, BROKEN)
    before[(units.prev_position >= 0) & (units.prev_position < log.start)] = EXPIRED
    before[units.prev_position == NONE] = NONE
    return before.astype(np.int64)


def _broken_links(units: TimerUnits, log: TimerLogShape) -> list[Finding]:
    broken = (_before(units, log) == BROKEN) & ~log.refused.hold(units.prev_position)
    return [
        Finding(
            "timer_slot_wrong",
            Span(),
            tuple(_unit_places(log, units.position, np.arange(first, end))),
            end - first,
            (
                f"timer log: the unit at {units.position[first]} names {units.prev_position[first]} before it",
                f"timer log: no earlier unit there; its units are from {log.start} to {log.end}",
            ),
        )
        for first, end in runs(broken)
    ]


def _slot_findings(slots: Slots, mask: Mask, other: str) -> list[Finding]:
    """One finding for all slots of one cause."""
    rows = np.flatnonzero(mask)
    if not len(rows):
        return []
    at = rows[0]
    said = (
        f"timer wheel: slot {slots.slot[at]} of time {slots.time[at]} holds {slots.first_position[at]} "
        f"to {slots.last_position[at]}"
    )
    return [Finding("timer_slot_wrong", Span(), _slot_places(slots.slot[rows]), len(rows), (said, other))]


def _explained_slots(slots: Slots, mask: Mask, what: str, why: str) -> tuple[Explained, ...]:
    rows = np.flatnonzero(mask)
    return (Explained(what, why, places=_slot_places(slots.slot[rows])),) if len(rows) else ()


def _slot_places(slots: Longs) -> tuple[Place, ...]:
    """Slots one after another are one place."""
    size = TIMER_SLOT.size
    return tuple(Place(WHEEL, int(slots[first]) * size, (end - first) * size) for first, end in neighbours(slots))


def _slots_at(places: Iterable[Place]) -> Longs:
    size = TIMER_SLOT.size
    of_place = (np.arange(each.file_pos, each.file_pos + each.length, size) // size for each in places)
    return np.concatenate([np.empty(0, np.int64), *of_place])


def _check(check: dict[str, int], log: TimerLogShape, side: LogSide, *, knows_end: bool) -> Iterator[Finding]:
    """A queue offset beyond the queue's maximum or the master's, a flush position beyond the timer log's end, and a
    time up to which timers are delivered that is later than the file was written.

    TimerMessageStore#prepareTimerCheckPoint @5.0.0, 5.3.3 gives the lesser of both offsets, and the clock's time with
    every change; a start that writes a later time of delivery without it passes over timers (#recover).
    """
    offset, flushed, master = (check[name] for name in (QUEUE_OFFSET, FLUSHED, MASTER_OFFSET))
    slack = side.unforced // LEAST_MESSAGE
    if side.queue_end is not None and not 0 <= offset <= side.queue_end + slack:
        yield _check_finding(QUEUE_OFFSET, offset, f"queue {TIMER_TOPIC}/0: ends at {side.queue_end}")
    elif offset > master:
        yield _check_finding(MASTER_OFFSET, master, f"timercheck: {QUEUE_OFFSET} {offset}, which is at most that")
    read_ms, written_ms = check["last_read_time_ms"], check["timestamp_ms"]
    if side.dates_check and check["counter"] > 0 and read_ms > written_ms + CLOCK_STEP_MS:
        yield _check_finding("last_read_time_ms", read_ms, f"timercheck: written at {written_ms} (timestamp_ms)")
    at_file_end = flushed == log.file_end and flushed - log.end < MOST_BLANK
    if knows_end and not (0 <= flushed <= log.end or at_file_end):
        lost = [log.place(log.end, flushed - log.end)] if log.end < flushed <= log.file_end else []
        yield _check_finding(FLUSHED, flushed, f"timer log: ends at {log.end}", *lost)


def _check_finding(name: str, value: int, other: str, *places: Place) -> Finding:
    place = Place("config/timercheck", TIMER_CHECK.offsets[name], 8)
    return Finding("timer_check_wrong", Span(), (place, *places), 1, (f"timercheck: {name} {value}", other))
