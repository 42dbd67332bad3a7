"""What stands beside a broker's message store and stops a start: timercheck and timer wheel before load(), timer log
and epochs after it.

Source: BrokerController#initializeMessageStore, #recoverAndInitService, TimerWheel#<init>, TimerLog#load,
AutoSwitchHAService#init @5.0.0, 5.1.4, 5.3.3; TimerMessageStore#recover @5.3.1, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parsers.commitlog.record.layout import MAGIC_BLANK
from parsers.timer.log import TIMER_BLANK, TIMER_UNIT, UNIT_MAGIC_MASK
from parsers.timer.wheel import WHEEL_BYTES
from recovery.broker.mapped_file_queue import FileList, LoadFailed, LogFile, list_files
from recovery.broker.memory import BrokerMemory
from recovery.config.start import TIMERCHECK, StoreFailure, timer_check

READ_BESIDE = 100
"""Bytes for which a timer message is read beyond maxMessageSize."""


class StoppedBeforeLoad(LoadFailed):
    """BrokerController#initialize fails before the store loads; `by` says at what."""

    def __init__(self, by: StoreFailure, rule: str, source: str, evidence: str) -> None:
        super().__init__(rule, source, evidence)
        self.by = by


class TimerRefused(LoadFailed):
    """BrokerController#initialize throws after the store has loaded, so that nothing is written on the way out."""


def timers_not_made(memory: BrokerMemory) -> StoppedBeforeLoad | None:
    """Why BrokerController#initialize fails before the store loads; None where timercheck can be a file, and the wheel
    has its size, or no byte."""
    if not (memory.version.has_timer_wheel and memory.settings.timer_wheel_enable):
        return None
    check, size = (memory.evidence.config or {}).get(TIMERCHECK), memory.evidence.timer_wheel_size
    if check is not None and check.is_folder:
        return StoppedBeforeLoad(
            StoreFailure.CHECK,
            "timercheck is a folder, so BrokerController#initialize fails",
            "TimerCheckpoint#<init> (FileNotFoundException), BrokerController#initializeMessageStore",
            f"config/{TIMERCHECK} is no file",
        )
    if size in (None, 0, WHEEL_BYTES):
        return None
    return StoppedBeforeLoad(
        StoreFailure.WHEEL,
        "the file of the timer wheel has another size, so BrokerController#initialize fails",
        "TimerWheel#<init> (RuntimeException), BrokerController#initializeMessageStore",
        f"timerwheel: {size} bytes, expected {WHEEL_BYTES}",
    )


def timer_log_refused(memory: BrokerMemory) -> LoadFailed | None:
    """Why TimerMessageStore#load is false, or throws; None where the files of the timer log have the setting's size,
    and the last unit the size of a message."""
    settings = memory.settings
    if not (memory.version.has_timer_wheel and settings.timer_wheel_enable):
        return None
    listed = FileList(settings.mapped_file_size_timer_log)
    try:
        list_files(listed, memory.evidence.timer_log, memory.version)
    except LoadFailed as refused:
        return LoadFailed(
            "the timer log does not load, so BrokerController#initialize fails",
            f"TimerLog#load, {refused.source}",
            refused.evidence,
        )
    return _last_timer_refused(listed, memory) if memory.version.throws_on_timer_size else None


def _last_timer_refused(listed: FileList, memory: BrokerMemory) -> TimerRefused | None:
    """The last 24 bytes before the end that recovery finds are read as a unit's message, also where they are the blank
    of a file behind which no unit is left; a size that the buffer cannot have throws. #reviseQueueOffset."""
    end = _timers_end(listed.files, max(0, _flushed_to(memory) - listed.file_size))
    file = listed.find(end - 1, by_place=not memory.version.finds_files_by_offset)
    begin = -1 if file is None else end - TIMER_UNIT.size - file.base_offset
    if file is None or begin < 0:
        return None
    size = TIMER_UNIT.unpack(file.stored, begin)["msg_size"]
    if 0 <= size <= memory.settings.max_message_size + READ_BESIDE:
        return None
    return TimerRefused(
        "the timer log's last message has a size that none can have, so BrokerController#initialize throws",
        "TimerMessageStore#reviseQueueOffset, #getMessageByCommitOffset (IllegalArgumentException)",
        f"timerlog/{file.name}: {size} bytes, at {begin + TIMER_UNIT.offsets['msg_size']}; units end at {end}",
    )


def _flushed_to(memory: BrokerMemory) -> int:
    check = timer_check(memory.evidence.config or {})
    return 0 if check is None else check["last_flush_position"]


def _timers_end(files: Sequence[LogFile], begin: int) -> int:
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


def epochs_refused(memory: BrokerMemory) -> LoadFailed | None:
    """Why DefaultMessageStore#start throws as it begins, of a broker in controller mode; None where it goes on."""
    settings, evidence = memory.settings, memory.evidence
    reads = settings.enable_controller_mode and not settings.duplication_enable and not evidence.log_is_dledgers
    if not (reads and evidence.epochs.stops_broker):
        return None
    return LoadFailed(
        "a number in the epoch file is none, and the broker stops",
        "AutoSwitchHAService#init, CheckpointFile#read (NumberFormatException)",
        str(evidence.epochs.refused[-1]),
    )
