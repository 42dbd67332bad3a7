"""What stands beside a broker's message store and stops a start: timercheck and timer wheel before load(), timer log,
the service of light topics and epochs after it.

Source: BrokerController#initializeMessageStore, #recoverAndInitService, TimerWheel#<init>, TimerLog#load,
AutoSwitchHAService#init @5.0.0, 5.1.4, 5.3.3; TimerMessageStore#reviseQueueOffset @5.3.1, 5.3.3.
"""

from __future__ import annotations

from parsers.timer.log import TIMER_UNIT
from parsers.timer.wheel import WHEEL_BYTES
from recovery.broker.mapped_file_queue import FileList, LoadFailed, list_files
from recovery.broker.memory import BrokerMemory
from recovery.config.load import ConfigLoad
from recovery.config.start import TIMERCHECK, StoreFailure
from recovery.start.timer_start import last_unit

READ_BESIDE = 100
"""Bytes for which a timer message is read beyond maxMessageSize."""


class StoppedBeforeLoad(LoadFailed):
    """BrokerController#initialize fails before the store loads; `by` says at what."""

    def __init__(self, by: StoreFailure, rule: str, source: str, evidence: str) -> None:
        super().__init__(rule, source, evidence)
        self.by = by


class ConfigRefused(LoadFailed):
    """A ConfigManager's load() is false."""


class TimerRefused(LoadFailed):
    """BrokerController#initialize throws after the store has loaded, so that nothing is written on the way out."""


def config_refused(load: ConfigLoad) -> ConfigRefused:
    """Why the broker stops at a file of config/ whose load() is false."""
    name = load.file.name
    return ConfigRefused(
        f"neither config/{name} nor its .bak can be read, so BrokerController#initialize is false",
        f"{load.file.manager}#load (ConfigManager#load, #loadBak), {load.stage}",
        "; ".join(f"{copy.name}: {copy.why or copy.state}" for copy in (load.main, load.backup)),
    )


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
    return _last_timer_refused(memory) if memory.version.throws_on_timer_size else None


def _last_timer_refused(memory: BrokerMemory) -> TimerRefused | None:
    """The timer log's last unit is read also where it is the blank of a file behind which no unit is left; a size that
    the buffer cannot have throws. #reviseQueueOffset."""
    last = last_unit(memory)
    if last is None or 0 <= last.msg_size <= memory.settings.max_message_size + READ_BESIDE:
        return None
    return TimerRefused(
        "the timer log's last message has a size that none can have, so BrokerController#initialize throws",
        "TimerMessageStore#reviseQueueOffset, #getMessageByCommitOffset (IllegalArgumentException)",
        f"timerlog/{last.file.name}: {last.msg_size} bytes, at {last.begin + TIMER_UNIT.offsets['msg_size']}; units "
        f"end at {last.log_end}",
    )


def light_service_refused(memory: BrokerMemory) -> LoadFailed | None:
    """Why the service of light topics does not start, and so the broker; None where it does, or there is none."""
    settings, version = memory.settings, memory.version
    combines = settings.rocksdb_cq_double_write_enable and not settings.uses_rocksdb_queues
    if not (version.needs_database_for_light_queues and combines) or settings.light_queues_in_database(version):
        return None
    return LoadFailed(
        "queues are kept in files and in a database, and light ones not in the database alone, so "
        "BrokerController#initialize is false",
        "RocksDBLiteLifecycleManager#init (unexpected, rocksdbCQ is not ready for LMQ), "
        "BrokerController#initLiteService @5.5.0",
        "rocksdbCQDoubleWriteEnable=true without combineCQUseRocksdbForLmq=true",
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
