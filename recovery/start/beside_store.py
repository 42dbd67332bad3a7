"""What of a broker stands beside its message store and stops a start: the timer wheel before load(), epochs after it.

Source: BrokerController#initializeMessageStore, TimerWheel#<init>, AutoSwitchHAService#init @5.0.0, 5.1.4, 5.3.3.
"""

from __future__ import annotations

from parsers.timer import WHEEL_BYTES
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
