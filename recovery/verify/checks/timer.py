"""The timer log, the timer wheel and timercheck against the CommitLog and against each other.

A unit names the record of a timer message and the unit before it in its slot; a slot of the wheel names the first and
the last unit of this chain. Source: TimerMessageStore#doEnqueue, #dequeue, #recover, #recoverAndRevise,
#reviseQueueOffset, TimerWheel, TimerLog @5.3.3, 5.5.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from parsers.damage.runs import runs
from parsers.kernels.arrays import Longs, Mask
from parsers.timer.log import TIMER_UNIT
from parsers.timer.wheel import TIMER_SLOT, WHEEL_BYTES
from parsers.values.topics import TIMER_TOPIC
from recovery.scan.intervals import found_at, neighbours
from recovery.verify.checks.timer_sides import LogSide, Slots, TimerLogShape, TimerUnits
from recovery.verify.checks.timercheck import FLUSHED, check_timercheck
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
SAYS = {
    NO_RECORD: "no record starts there",
    OTHER_TOPIC: f"the record there is not of {TIMER_TOPIC}",
    OTHER_SIZE: "the record there has another size",
    OTHER_TIME: "the record there is due at another time (TIMER_OUT_MS)",
    BEYOND: "it ends before that",
}


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
        findings += check_timercheck(check, units, log, side, knows_end=not broken_slots, is_first=not findings)
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
    units: TimerUnits, log: TimerLogShape, slots: Slots, check: dict[str, int], told: list[Finding]
) -> list[Finding]:
    """Units whose timers are still to be delivered and whose slot is of another time, or of none.

    The wheel lacks the units after the last flush of the timer log that timercheck tells, also after a shutdown in
    order, which flushes the log once more, and the wheel not; the next start sets their slots from the log.
    TimerMessageStore#prepareTimerCheckPoint, #shutdown, TimerFlushService#run @5.3.3. A flush position beyond the timer
    log's files is wrong itself, and tells nothing of the wheel.
    """
    if check[FLUSHED] > log.file_end:
        return []
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
