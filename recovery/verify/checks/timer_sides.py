"""What the timer files, the CommitLog and the queue of timer messages hold, as the rules about timers compare them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.kernels.arrays import Longs, Mask
from recovery.scan.intervals import Intervals
from recovery.verify.findings.finding import Place


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
    `dates_check`: timercheck has the date of its last change also where this broker became a slave; `taken_in`: where
    the timer messages before timercheck's queue offset are, and when they are due, None where that is not known.
    """

    start: int
    end: int
    lost: Intervals
    unforced: int
    queue_end: int | None
    dates_check: bool
    taken_in: tuple[Longs, Longs] | None = None
