"""What stands beside a broker's message store and stops a start: the timer wheel before load(), timer log and epochs
after it.

Source: BrokerController#initializeMessageStore, #recoverAndInitService, TimerWheel#<init>, TimerLog#load,
AutoSwitchHAService#init @5.0.0, 5.1.4, 5.3.3.
"""

from __future__ import annotations

from parsers.timer.wheel import WHEEL_BYTES
from recovery.broker.mapped_file_queue import LoadFailed
from recovery.broker.memory import BrokerMemory


def timer_wheel_refused(memory: BrokerMemory) -> LoadFailed | None:
    """Why BrokerController#initialize fails before the store loads; None where the wheel has its size, or no byte."""
    size = memory.evidence.timer_wheel_size
    if not (memory.version.has_timer_wheel and memory.settings.timer_wheel_enable) or size in (None, 0, WHEEL_BYTES):
        return None
    return LoadFailed(
        "the file of the timer wheel has another size, so BrokerController#initialize fails",
        "TimerWheel#<init> (RuntimeException), BrokerController#initializeMessageStore",
        f"timerwheel: {size} bytes, expected {WHEEL_BYTES}",
    )


def timer_log_refused(memory: BrokerMemory) -> LoadFailed | None:
    """Why TimerMessageStore#load is false; None where the files of the timer log have one size, be it the setting's.

    Files of several sizes are refused whatever mappedFileSizeTimerLog is.
    """
    sizes = memory.evidence.timer_log_sizes
    if not (memory.version.has_timer_wheel and memory.settings.timer_wheel_enable):
        return None
    if sizes and not sizes[-1] and memory.version.deletes_empty_last_file:
        sizes = sizes[:-1]
    if len({*sizes}) < 2 and 0 not in sizes:
        return None
    return LoadFailed(
        "files of the timer log have several sizes, or no byte, so BrokerController#initialize is false",
        "TimerLog#load, MappedFileQueue#doLoad",
        f"timerlog/: files of {', '.join(map(str, sorted({*sizes})))} bytes",
    )


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
