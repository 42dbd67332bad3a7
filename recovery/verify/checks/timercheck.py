"""timercheck against the queue of timer messages, the timer log, and itself.

Source: TimerMessageStore#prepareTimerCheckPoint, #recover, #shutdown, TimerFlushService#run, TimerEnqueuePutService#run
@5.0.0, 5.3.3, 5.5.1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from parsers.timer.check import TIMER_CHECK
from parsers.timer.log import TIMER_UNIT
from parsers.values.topics import TIMER_TOPIC
from recovery.verify.checks.timer_sides import LogSide, TimerLogShape, TimerUnits
from recovery.verify.findings.finding import Finding, Place, Span

LEAST_MESSAGE = 128
"""Bytes that a timer message has at least: its topic and the properties that the broker sets included."""
MOST_BLANK = 68
"""TimerLog#append ends a file when fewer bytes are left: a unit and a blank @5.3.3."""
CLOCK_STEP_MS = 60_000
"""A clock may have been put back by so much while the broker ran."""
WHEEL_MS = 7 * 24 * 3600 * 1000
"""A start goes back by at most so much for what was not delivered. TimerMessageStore#recover (TIMER_WHEEL_TTL_DAY)."""
QUEUE_OFFSET, MASTER_OFFSET, FLUSHED = "last_queue_offset", "master_queue_offset", "last_flush_position"
READ = "last_read_time_ms"
FOLDER = "timerlog"


def check_timercheck(
    check: dict[str, int], units: TimerUnits, log: TimerLogShape, side: LogSide, *, knows_end: bool, is_first: bool
) -> Iterator[Finding]:
    """What of timercheck the others contradict, or what it says of its last change.

    Args:
        knows_end: no slot leads to units behind the timer log's end.
        is_first: nothing else of the timer files is wrong, which would explain units that are not there.
    """
    found = [*_offsets(check, side)]
    if knows_end:
        found += _flushed(check[FLUSHED], log)
    if is_first and not found:
        found += _without_unit(check, units, log, side)
    yield from (*found, *_times(check, side))


def _flushed(flushed: int, log: TimerLogShape) -> Iterator[Finding]:
    """A flush position beyond the timer log's end; it may be that of a file's end that no unit fits before."""
    at_file_end = flushed == log.file_end and flushed - log.end < MOST_BLANK
    if not (0 <= flushed <= log.end or at_file_end):
        lost = [log.place(log.end, flushed - log.end)] if log.end < flushed <= log.file_end else []
        yield _finding(FLUSHED, flushed, f"timer log: ends at {log.end}", *lost)


def _offsets(check: dict[str, int], side: LogSide) -> Iterator[Finding]:
    """A queue offset beyond the queue's maximum or the master's: a broker gives the lesser of both."""
    offset, master = check[QUEUE_OFFSET], check[MASTER_OFFSET]
    slack = side.unforced // LEAST_MESSAGE
    if side.queue_end is not None and not 0 <= offset <= side.queue_end + slack:
        yield _finding(QUEUE_OFFSET, offset, f"queue {TIMER_TOPIC}/0: ends at {side.queue_end}")
    elif offset > master:
        yield _finding(MASTER_OFFSET, master, f"timercheck: {QUEUE_OFFSET} {offset}, which is at most that")


def _times(check: dict[str, int], side: LogSide) -> Iterator[Finding]:
    """A time up to which timers are delivered that is later than the file was written, or earlier than a start begins.

    A broker writes the clock's time with every change. Zeros are what a start leaves that was refused before it read
    the file (5.0.0, 5.1.0, 5.1.1, 5.4.0 and later).
    """
    read_ms, written_ms = check[READ], check["timestamp_ms"]
    if side.dates_check and check["counter"] > 0:
        written = f"timercheck: written at {written_ms} (timestamp_ms)"
        if read_ms > written_ms + CLOCK_STEP_MS:
            yield _finding(READ, read_ms, written)
        elif read_ms < written_ms - WHEEL_MS - CLOCK_STEP_MS:
            yield _finding(READ, read_ms, f"{written}, and the start before began with the seven days before it")


def _without_unit(check: dict[str, int], units: TimerUnits, log: TimerLogShape, side: LogSide) -> Iterator[Finding]:
    """Timer messages that were taken in, were not due by then, and have no unit: what is due later gets one, and units
    are forced to disk before timercheck is. Where files before the timer log's first one are missed, they had them."""
    head_is_missed = log.start > 0 == side.start
    if side.taken_in is None or head_is_missed or not side.dates_check or check["counter"] <= 0:
        return
    places, due_ms = side.taken_in
    later = (due_ms > check["timestamp_ms"] + CLOCK_STEP_MS) & ~side.lost.hold(places)
    rows = np.flatnonzero(later & ~np.isin(places, units.physical_offset))
    if len(rows):
        first = rows[0]
        said = f"timer log: no unit for {len(rows)} timer messages before it, the first at {places[first]}"
        room = min(len(rows) * TIMER_UNIT.size, log.file_end - log.end)
        lost = [log.place(log.end, room)] if room > 0 else [] if log.names else [Place(FOLDER, 0, 0)]
        yield _finding(QUEUE_OFFSET, check[QUEUE_OFFSET], f"{said}, due {due_ms[first]}", *lost)


def _finding(name: str, value: int, other: str, *places: Place) -> Finding:
    place = Place("config/timercheck", TIMER_CHECK.offsets[name], 8)
    return Finding("timer_check_wrong", Span(), (place, *places), 1, (f"timercheck: {name} {value}", other))
