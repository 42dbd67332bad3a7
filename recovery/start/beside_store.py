"""What stands beside a broker's message store and stops a start: the timer wheel before load(), timer log and epochs
after it.

Source: BrokerController#initializeMessageStore, #recoverAndInitService, TimerWheel#<init>, TimerLog#load,
AutoSwitchHAService#init @5.0.0, 5.1.4, 5.3.3.
"""

from __future__ import annotations

from parsers.timer.wheel import WHEEL_BYTES
from recovery.broker.mapped_file_queue import FileList, LoadFailed, list_files
from recovery.broker.memory import BrokerMemory


class WheelRefused(LoadFailed):
    """BrokerController#initialize fails before the store loads."""


def timer_wheel_refused(memory: BrokerMemory) -> WheelRefused | None:
    """Why BrokerController#initialize fails before the store loads; None where the wheel has its size, or no byte."""
    size = memory.evidence.timer_wheel_size
    if not (memory.version.has_timer_wheel and memory.settings.timer_wheel_enable) or size in (None, 0, WHEEL_BYTES):
        return None
    return WheelRefused(
        "the file of the timer wheel has another size, so BrokerController#initialize fails",
        "TimerWheel#<init> (RuntimeException), BrokerController#initializeMessageStore",
        f"timerwheel: {size} bytes, expected {WHEEL_BYTES}",
    )


def timer_log_refused(memory: BrokerMemory) -> LoadFailed | None:
    """Why TimerMessageStore#load is false, or throws; None where the files of the timer log have the setting's size."""
    settings = memory.settings
    if not (memory.version.has_timer_wheel and settings.timer_wheel_enable):
        return None
    try:
        list_files(FileList(settings.mapped_file_size_timer_log), memory.evidence.timer_log, memory.version)
    except LoadFailed as refused:
        return LoadFailed(
            "the timer log does not load, so BrokerController#initialize fails",
            f"TimerLog#load, {refused.source}",
            refused.evidence,
        )
    return None


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
