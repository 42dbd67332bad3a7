"""One start of a broker, played in memory: load(), then start() until dispatch is quiet.

Source: DefaultMessageStore#load, #recover, #start, #shutdown @4.9.8, 5.3.1, 5.3.3, 5.5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from parsers.checkpoints.checkpoint import CHECKPOINT, decode_checkpoint
from parsers.commitlog.dledger_headers.layout import HEADER_SIZE
from parsers.commitlog.record.tags import DelayLevels
from parsers.index.geometry import Geometry
from recovery.broker.compaction import load_compaction
from recovery.broker.consume_queue import Hang
from recovery.broker.index_service import IndexFileNotMade, IndexFiles
from recovery.broker.mapped_file_queue import FileList, LoadFailed, list_files, why_left_out
from recovery.broker.memory import BrokerMemory
from recovery.broker.message_check import EntryCheck, MessageCheck, OutOfHeap
from recovery.broker.store_folder import Evidence
from recovery.broker.valid_runs import RecordRuns
from recovery.config.files import DELAYS, Stage
from recovery.config.load import load_config
from recovery.config.start import ConfigStart, StoreFailure
from recovery.rules.dispatch import DispatchRules
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.start import beside_store
from recovery.start.commitlog_recovery import recover_commitlog
from recovery.start.dledger_recovery import recover_dledger
from recovery.start.load_queues import StoreNotMade, combined, level_stores, load_queues, make_store
from recovery.start.not_played import NotPlayed, not_played
from recovery.start.offset_table import recover_offset_table
from recovery.start.redispatch import Redispatch
from recovery.start.timer_start import TimersStart, timers_start

Observer = Callable[[BrokerMemory], None]


@dataclass(slots=True)
class Restart:
    """What a start did.

    Attributes:
        memory: the broker's state at the end.
        load_error: why load() did not return true, None when it did.
        out_of_heap: load() ended with OutOfMemoryError.
        checkpoint_created: load() came as far as opening (creating) `checkpoint`.
        hang: load() or start() never returned, for this reason.
        start_error: what start() threw, after dispatch had begun.
        marked_as_running: start() came as far as making `abort`.
        dispatch: the re-dispatch service, None when the broker was not started, or as a DLedger node among others.
        config: what the broker made of config/; None where the store's classes are started without a broker.
        timers: where it goes on with timers; see `timers_start`.
        not_played: which parts of the start are not played, so that their outcome is open; where none is played,
            nothing else is stated.
    """

    memory: BrokerMemory
    load_error: LoadFailed | None = None
    out_of_heap: OutOfHeap | None = None
    checkpoint_created: bool = False
    hang: str | None = None
    start_error: str | None = None
    marked_as_running: bool = False
    dispatch: Redispatch | None = None
    config: ConfigStart | None = None
    timers: TimersStart | None = None
    not_played: tuple[NotPlayed, ...] = ()

    @property
    def is_open(self) -> bool:
        """Nothing of this start is decided."""
        return any(each.whole for each in self.not_played)

    @property
    def loaded(self) -> bool:
        return self.load_error is None and self.out_of_heap is None and self.hang is None and not self.is_open

    @property
    def started(self) -> bool:
        """load() was true and start() returned."""
        return self.loaded and self.start_error is None

    @property
    def is_left_to_others(self) -> bool:
        """What a DLedger node does once it has started, its other nodes decide, or those that nobody told of; of one
        with queues in a database it is not played."""
        knows = self.memory.settings.is_alone_in_group and self.memory.queues_are_known
        return self.memory.evidence.log_is_dledgers and not knows

    @property
    def dispatches(self) -> bool:
        """The broker started, and what it dispatches then is known: a DLedger node asks the others first."""
        return self.started and self.dispatch is not None and not self.not_played

    @property
    def abort_after(self) -> bool | None:
        """Whether `abort` is there after an orderly shutdown; None where that is not known."""
        memory, dispatch = self.memory, self.dispatch
        if self.is_open or (self.started and not self.dispatches):
            return None
        stops_before_store = self.config is not None and self.config.stops_before_store
        if self.hang or stops_before_store or isinstance(self.load_error, StoreNotMade):
            return memory.evidence.abort
        if not self.started and not memory.version.shuts_down_after_failed_start:
            return memory.evidence.abort or self.marked_as_running
        if dispatch is None and not memory.evidence.abort:
            return False
        behind_bytes = memory.behind_bytes(0 if dispatch is None else dispatch.position)
        if not memory.version.keeps_abort_while_behind:
            behind_bytes = 0
        return memory.evidence.abort_file.cannot_go or behind_bytes != 0 or not memory.queues_writable


def memory_before_load(
    evidence: Evidence,
    version: BrokerVersion,
    settings: StoreSettings,
    *,
    heap_bytes: int | None = None,
    with_index_entries: bool = False,
) -> BrokerMemory:
    """The memory of a broker that is about to load a store.

    Args:
        heap_bytes: the broker's Java heap, where known: before 5.3.2 a damaged size field may exceed it.
        with_index_entries: write the index entries in memory, record by record, instead of counting them.
    """
    index = Geometry(settings.max_hash_slot_num, settings.max_index_num)
    rules = DispatchRules.of(version, settings, evidence.batch_topics)
    if version.dispatches_before_delay_levels:
        rules = replace(rules, delay_levels=DelayLevels(()))
    runs = RecordRuns.under(rules, settings, HEADER_SIZE if evidence.log_is_dledgers else 0)
    runs.possible = runs.possible and not with_index_entries and not evidence.index_obstructed
    return BrokerMemory(
        evidence=combined(evidence, version, settings),
        version=version,
        settings=settings,
        check=(EntryCheck if evidence.log_is_dledgers else MessageCheck)(version, settings, heap_bytes),
        rules=rules,
        commitlog=FileList(settings.mapped_file_size_commit_log),
        index=IndexFiles(index, rules, with_index_entries, evidence.index_obstructed),
        runs=runs,
    )


def restart(
    memory: BrokerMemory,
    *,
    after_load: Observer = lambda memory: None,
    config: ConfigStart | None = None,
    also_open: tuple[NotPlayed, ...] = (),
) -> Restart:
    """Play one start of the store, and with `config` of the broker around it; what that leaves open is `not_played`.

    Args:
        memory: that of a broker that was just made (`memory_before_load`); the start fills it.
        after_load: sees the memory between load() and start(), when load() returned true.
        also_open: what is known beforehand not to be decided.
    """
    evidence, version, settings = memory.evidence, memory.version, memory.settings
    if config is not None:
        memory.knows_queue, memory.filters = config.knows_queue, config.filters
    found = () if config is None else tuple(not_played(evidence, version, settings))
    played = Restart(memory, config=config, not_played=also_open + found)
    if played.is_open:
        return played
    try:
        _load_metadata(played)
        make_store(memory)
        if config is not None and (refused := beside_store.timers_not_made(memory)) is not None:
            raise refused
        _load(played)
        after_load(memory)
        if _load_services(played) and not played.is_left_to_others:
            _start(played, Redispatch(memory, type(memory.check)(version, settings, memory.check.heap_bytes)))
    except LoadFailed as failed:
        played.load_error = failed
        memory.because(failed.rule, failed.source, failed.evidence)
        if config is not None and not isinstance(failed, beside_store.ConfigRefused | StoreNotMade):
            fails = failed.by if isinstance(failed, beside_store.StoppedBeforeLoad) else StoreFailure.LOAD
            played.config = replace(config, store_fails=fails)
    except OutOfHeap as failed:
        played.out_of_heap = failed
    except Hang as hang:
        played.hang = str(hang)
    return played


def _load_metadata(played: Restart) -> None:
    """BrokerController#initializeMetadata: where it is false the store is not even created."""
    config = played.config
    if config is not None and config.refused is not None and config.stops_before_store:
        raise beside_store.config_refused(config.refused)


def _load_services(played: Restart) -> bool:
    """What BrokerController#recoverAndInitService loads after the store, since 5.0.0, and what start() reads first;
    False where it stops there."""
    refused = None if played.config is None else played.config.refused
    failed = None if played.config is None else beside_store.timer_log_refused(played.memory)
    if failed is not None and played.config is not None and not isinstance(failed, beside_store.TimerRefused):
        played.config = replace(played.config, store_fails=StoreFailure.TIMER_LOG)
    if failed is None and refused is not None and refused.stage in (Stage.TIMER, Stage.SCHEDULE):
        failed = beside_store.config_refused(refused)
    if failed is None and played.config is not None:
        failed = beside_store.light_service_refused(played.memory)
        if failed is not None:
            played.config = replace(played.config, store_fails=StoreFailure.LIGHT)
    failed = beside_store.epochs_refused(played.memory) if failed is None else failed
    if failed is None:
        played.timers = None if played.config is None else timers_start(played.memory, played.config)
        return True
    played.start_error = f"{failed.rule} ({failed.evidence})"
    played.memory.because(failed.rule, failed.source, failed.evidence)
    return False


def _load(played: Restart) -> None:
    memory, evidence = played.memory, played.memory.evidence
    version = memory.version
    memory.because(
        "the last exit counts as abnormal" if evidence.abort else "the last exit counts as orderly",
        "DefaultMessageStore#isTempFileExist",
        f"abort is {'there' if evidence.abort else 'not there'}",
    )
    if version.loads_delay_offsets and not version.dispatches_before_delay_levels:
        _load_delay_offsets(memory)
    list_files(memory.commitlog, evidence.commitlog, version)
    if memory.commitlog.left_out:
        memory.because(
            "the log is taken up to the first file of another size than the configured one, and new messages are "
            "written over what the files behind it hold",
            "MappedFileQueue#load @4.4.0, #doLoad @4.9.2",
            why_left_out(memory.commitlog),
        )
    load_queues(memory)
    _load_compaction(memory)
    if not evidence.checkpoint_opens:
        raise LoadFailed("the checkpoint cannot be opened", "StoreCheckpoint (IOException)", "checkpoint is a folder")
    played.checkpoint_created = True
    stored = (evidence.checkpoint or b"").ljust(CHECKPOINT.size, b"\0")
    memory.checkpoint = decode_checkpoint(stored, version=version)
    if version.dispatches_confirmed_only:
        memory.confirm_offset = memory.checkpoint.confirm_physical_offset or 0
    index_loaded = _load_index(memory)
    for queue in (*memory.queues.values(), *(memory.second_queues.queues.values() if memory.second_queues else ())):
        queue.recover()
    _recover_commitlog(memory)
    recover_offset_table(memory)
    if version.dispatches_before_delay_levels:
        _load_delay_offsets(memory)
        memory.read_delay_levels()
        memory.create_delay_queues()
    if not index_loaded and version.needs_index:
        raise LoadFailed(
            "a folder among the index files stops the broker from loading",
            "IndexService#load",
            str(memory.index.unreadable and memory.index.unreadable.path),
        )


def _load_compaction(memory: BrokerMemory) -> None:
    memory.compacted = load_compaction(memory.evidence.compacted, memory.version, memory.settings)
    for (topic, queue_id), loaded in memory.compacted.items():
        if loaded.why_not is not None:
            memory.because(
                f"the broker starts without the copy of {topic}/{queue_id}: pulls of it find no queue",
                "CompactionStore#loadAndGetClog (IOException is caught), #getMessage",
                loaded.why_not,
            )
        elif loaded.log_end < loaded.queue.max_position:
            memory.because(
                f"the log of {topic}/{queue_id}'s copy is cut: pulls do not find the messages behind its new end",
                "SparseConsumeQueue#getMaxPhyOffsetInLog, CompactionLog.TopicPartitionLog#recover @5.1.0",
                f"cut at {loaded.log_end}; its queue leads up to {loaded.queue.max_position}",
            )


def _recover_commitlog(memory: BrokerMemory) -> None:
    if memory.evidence.log_is_dledgers:
        recover_dledger(memory)
        return
    try:
        recover_commitlog(memory, clean_exit=not memory.evidence.abort)
    except IndexFileNotMade as thrown:
        raise LoadFailed(
            "no index file can be made: the dispatch of a message during recovery ends load()",
            "IndexService#getAndCreateLastIndexFile (IllegalMonitorStateException)",
            str(thrown),
        ) from None


def _start(played: Restart, dispatch: Redispatch) -> None:
    played.dispatch = dispatch
    try:
        dispatch.start()
        level_stores(played.memory)
    except LoadFailed as failed:  # what stops load() may first be met when start() corrects the queues again
        played.start_error = f"{failed.rule} ({failed.evidence})"
        played.memory.because(f"start() fails: {failed.rule}", failed.source, failed.evidence)
    else:
        _mark_as_running(played)


def _mark_as_running(played: Restart) -> None:
    memory, played.marked_as_running = played.memory, True
    played.start_error = memory.evidence.abort_file.start_error(memory.version)
    if played.start_error is not None:
        memory.because(
            "start() cannot write its process id, so the broker stops again",
            "DefaultMessageStore#createTempFile, MixAll#string2File",
            played.start_error,
        )


def _load_index(memory: BrokerMemory) -> bool:
    evidence = memory.evidence
    loaded = memory.index.load(
        evidence.index, clean_exit=not evidence.abort, index_timestamp_ms=memory.checkpoint.index_msg_timestamp
    )
    if memory.index.skipped:
        memory.because(
            "a file in index/ whose name is no number is left alone",
            "IndexService#load (NumberFormatException is caught)",
            ", ".join(entry.name for entry in memory.index.skipped),
        )
    if memory.index.deleted:
        memory.because(
            "after a crash index files with entries newer than the checkpoint's index time are deleted",
            "IndexService#load",
            f"indexMsgTimestamp {memory.checkpoint.index_msg_timestamp}; "
            f"deleted: {', '.join(entry.name for entry in memory.index.deleted)}",
        )
    return loaded


def _load_delay_offsets(memory: BrokerMemory) -> None:
    load = load_config(memory.evidence.config or {}, DELAYS, Stage.STORE, memory.version)
    if load.refuses:
        raise beside_store.config_refused(load)
