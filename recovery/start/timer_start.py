"""Where a start goes on with timers of any delay: at the end of the timer log, but at most where timercheck is.

Source: TimerMessageStore#recover, #recoverAndRevise, #reviseQueueOffset @5.0.0, 5.3.3, 5.5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from parsers.commitlog.record.layout import HEAD, MAGIC_BLANK, MAGIC_V1, MAGIC_V2
from parsers.timer.check import TIMER_CHECK
from parsers.timer.log import TIMER_BLANK, TIMER_UNIT, UNIT_MAGIC_MASK
from parsers.values.topics import TIMER_TOPIC
from recovery.broker.mapped_file_queue import FileList, LogFile, list_files
from recovery.broker.memory import BrokerMemory
from recovery.config.start import TIMERCHECK, ConfigStart, timer_check

NO_CHECK = dict.fromkeys(TIMER_CHECK.offsets, 0)
"""What a start reads where there is no timercheck: the file is made with zeros."""


class TimersStart(NamedTuple):
    """Where a start goes on with timers.

    Attributes:
        next_offset: queue offset of the first timer message that it takes in.
        queue_end: queue offset after the last timer message of the queue, as load() leaves it; 0 without the queue.
        taken_in_to: queue offset after the timer log's last message; None where none can be read.
        check: the numbers of timercheck.
    """

    next_offset: int
    queue_end: int
    taken_in_to: int | None
    check: dict[str, int]


class LastUnit(NamedTuple):
    """The last 24 bytes before the end that recovery finds in the timer log, which it reads as a unit's message."""

    file: LogFile
    begin: int
    log_end: int

    @property
    def place(self) -> int:
        return TIMER_UNIT.unpack(self.file.stored, self.begin)["physical_offset"]

    @property
    def msg_size(self) -> int:
        return TIMER_UNIT.unpack(self.file.stored, self.begin)["msg_size"]


def timers_start(memory: BrokerMemory, config: ConfigStart) -> TimersStart | None:
    """What TimerMessageStore#recover sets once the store is loaded.

    None of a store without timer messages, and where it is not known: of a config/ that was not copied, of a
    timercheck that cannot be read here, of a queue with an open end, and where rocksdbstore takes timers in.
    """
    in_database = memory.settings.timer_rocksdb_enable and memory.version.keeps_messages_in_database
    if not (config.has_files and config.has_timers) or in_database:
        return None
    key, listed = (TIMER_TOPIC, 0), memory.evidence.config or {}
    stored = timer_check(listed)
    if key in memory.undecided_queues or (stored is None and TIMERCHECK in listed):
        return None
    queue = memory.every_queue.get(key)
    first, end = (0, 0) if queue is None else (queue.min_queue_offset, queue.max_queue_offset)
    check = stored or NO_CHECK
    last = last_unit(memory)
    taken_in_to = None if last is None else _after_message(memory, last)
    if taken_in_to is None and not end:
        return None
    wanted = check["last_queue_offset"] if taken_in_to is None else taken_in_to
    wanted = min(wanted, check["master_queue_offset"])
    if queue is not None or memory.database is not None:  # a database makes the queue that is asked for
        wanted = first if wanted < first else min(wanted, end)
    return TimersStart(wanted, end, taken_in_to, check)


def last_unit(memory: BrokerMemory) -> LastUnit | None:
    """The timer log's last unit; None where there is none, or its files do not load."""
    listed = FileList(memory.settings.mapped_file_size_timer_log)
    list_files(listed, memory.evidence.timer_log, memory.version)
    check = timer_check(memory.evidence.config or {}) or NO_CHECK
    end = _units_end(listed.files, max(0, check["last_flush_position"] - listed.file_size))
    file = listed.find(end - 1, by_place=not memory.version.finds_files_by_offset)
    begin = -1 if file is None else end - TIMER_UNIT.size - file.base_offset
    return None if file is None or begin < 0 else LastUnit(file, begin, end)


def _after_message(memory: BrokerMemory, last: LastUnit) -> int | None:
    """The queue offset after that of a unit's message; None where the log has none at that place."""
    file = memory.find_log_file(last.place)
    at = -1 if file is None else last.place - file.base_offset
    if file is None or at < 0 or last.msg_size < HEAD.size or at + last.msg_size > len(file.stored):
        return None
    head = HEAD.unpack(file.stored, at)
    return head["queue_offset"] + 1 if head["magic_code"] in (MAGIC_V1, MAGIC_V2) else None


def _units_end(files: Sequence[LogFile], begin: int) -> int:
    """Where recovery finds the units' end, from the file with `begin` on. TimerMessageStore#recoverAndRevise."""
    first = max((number for number, file in enumerate(files) if file.base_offset <= begin), default=0)
    end = 0
    for file in files[first:]:
        units = TIMER_UNIT.array(file.stored[: len(file.stored) // TIMER_UNIT.size * TIMER_UNIT.size])
        is_unit = (units["unit_size"] == TIMER_UNIT.size) & (units["magic"] & ~UNIT_MAGIC_MASK == 0)
        count = len(units) if is_unit.all() else int(np.argmin(is_unit))
        position = count * TIMER_UNIT.size
        end, rest = file.base_offset + position, file.stored[position:]
        goes_on = not rest or (len(rest) >= TIMER_BLANK.size and TIMER_BLANK.unpack(rest)["magic"] == MAGIC_BLANK)
        if not goes_on:
            break
    return end
