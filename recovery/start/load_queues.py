"""The queues as a broker loads them: files, the database in their place, or both.

Source: ConsumeQueueStore#load, RocksDBConsumeQueueStore#<init>, #load @5.3.1 … 5.5.1, CombineConsumeQueueStore @5.4.0.
"""

from __future__ import annotations

from dataclasses import replace

from parsers.values.topics import is_lmq
from recovery.broker.mapped_file_queue import LoadFailed, list_files
from recovery.broker.memory import BrokerMemory
from recovery.broker.queue_database import QueueDatabase
from recovery.broker.queues_beside import QueuesBeside
from recovery.broker.store_folder import DatabaseFolder, Evidence
from recovery.rules.settings import FILE_STORE, ROCKSDB_STORE, StoreSettings
from recovery.rules.versions import BrokerVersion


class StoreNotMade(LoadFailed):
    """The store's constructor throws: nothing of the store is read or written."""


def combined(evidence: Evidence, version: BrokerVersion, settings: StoreSettings) -> Evidence:
    """The evidence as a broker takes it that combines stores of queues: without a database that it does not load, or
    with that database as its queues where it answers."""
    if evidence.second_database is None or not version.combines_queue_stores:
        return evidence
    if ROCKSDB_STORE not in settings.loaded_queue_stores:
        return replace(evidence, second_database=None, database_elsewhere=None)
    if settings.combining_queue_stores[1] == ROCKSDB_STORE:
        return replace(evidence, second_database=None, database=evidence.second_database)
    return evidence


def make_store(memory: BrokerMemory) -> None:
    """BrokerController#initializeMessageStore: a database of queues in the folder that the setting does not name; a
    store of queues that is to decide or to answer, and is not loaded."""
    settings = memory.settings
    combines = memory.version.combines_queue_stores and settings.rocksdb_cq_double_write_enable
    if combines and not settings.uses_rocksdb_queues:
        for store in settings.combining_queue_stores:
            if store not in settings.loaded_queue_stores:
                raise StoreNotMade(
                    "a store of queues that decides or answers is none of those that are loaded",
                    "CombineConsumeQueueStore#<init> (IllegalArgumentException)",
                    f"{store}; combineCQLoadingCQTypes: {settings.combine_cq_loading_cq_types}",
                )
        wrong = parts_wrongly(memory.version, settings)
        if wrong is not None:
            raise StoreNotMade(
                "a setting that keeps some queues in one store alone does not go with the stores that are combined",
                "CombineConsumeQueueStore#<init> (IllegalArgumentException: maybe incorrect config, is not ready)",
                wrong,
            )
    elsewhere = memory.evidence.database_elsewhere
    if elsewhere is not None and memory.version.may_keep_database_apart:
        raise StoreNotMade(
            "the database of queues lies in another folder than useSeparateStorePathForRocksdbCQ says",
            "RocksDBConsumeQueueStore#<init> (IllegalStateException: maybe incompatible config)",
            f"{elsewhere}/CURRENT; the setting names {memory.settings.queue_database_folder}/",
        )


def parts_wrongly(version: BrokerVersion, settings: StoreSettings) -> str | None:
    """Which setting that keeps some queues in one store alone the combined stores refuse, and why; None where none.

    combineCQUseRocksdbForLmq @5.5.0, rocksdbCQSelectiveDoubleWriteEnable @5.5.1.
    """
    assigns, answers = settings.combining_queue_stores
    light, selective = "combineCQUseRocksdbForLmq", "rocksdbCQSelectiveDoubleWriteEnable"
    if settings.combine_cq_use_rocksdb_for_lmq and settings.is_read(light, version):
        if ROCKSDB_STORE not in settings.loaded_queue_stores:
            return f"{light} with combineCQLoadingCQTypes={settings.combine_cq_loading_cq_types}"
        if assigns != FILE_STORE:
            return f"{light} with combineAssignOffsetCQType={settings.combine_assign_offset_cq_type}"
    if settings.rocksdb_cq_selective_double_write_enable and settings.is_read(selective, version):
        if assigns != FILE_STORE:
            return f"{selective} with combineAssignOffsetCQType={settings.combine_assign_offset_cq_type}"
        if answers != FILE_STORE:
            return f"{selective} with combineCQPreferCQType={settings.combine_cq_prefer_cq_type}"
    return None


def load_queues(memory: BrokerMemory) -> None:
    """Take the queues from the evidence. Raises LoadFailed: a database of queues that RocksDB does not open.

    A version that does not know useSeparateStorePathForRocksdbCQ makes a new database in consumequeue/.
    """
    evidence, version = memory.evidence, memory.version
    is_new = memory.settings.use_separate_store_path_for_rocksdb_cq and not version.may_keep_database_apart
    if evidence.second_database is not None and version.combines_queue_stores and is_new:
        memory.second_noted = 0
    elif evidence.second_database is not None and version.combines_queue_stores:
        _opens(evidence.second_database)
        table = evidence.second_database.table
        memory.second_noted = 0 if table is None else table.dispatched_to or 0
    if evidence.database is None or not version.keeps_queues_in_rocksdb:
        batch_queues = evidence.batch_queues if version.has_batch_queues else {}
        for key, entries in (*evidence.queues.items(), *batch_queues.items()):
            queue = memory.queue(*key)
            list_files(queue.mapped, entries, version)
            if queue.ext is not None:
                list_files(queue.ext.mapped, evidence.ext_queues.get(key, ()), version)
        return
    combines = version.combines_queue_stores and memory.settings.rocksdb_cq_double_write_enable
    if combines and not memory.settings.uses_rocksdb_queues and FILE_STORE in memory.settings.loaded_queue_stores:
        files_decide = memory.settings.combining_queue_stores[0] == FILE_STORE
        beside = QueuesBeside(version, memory.settings.consume_queue_file_size, files_decide)
        memory.second_queues = beside
        for key, entries in evidence.queues.items():
            list_files(beside.queue(*key).mapped, entries, version)
    if is_new:
        memory.database = QueueDatabase.loaded(None, memory.commitlog)
        return
    _opens(evidence.database)
    memory.database = QueueDatabase.loaded(evidence.database.table, memory.commitlog)


def _opens(database: DatabaseFolder) -> None:
    if database.refused is not None:
        raise LoadFailed(
            "the database of queues cannot be opened",
            "RocksDBConsumeQueueStore#load, ConsumeQueueRocksDBStorage#postLoad",
            database.refused,
        )


def level_stores(memory: BrokerMemory) -> None:
    """What start() does before a broker serves, where queue files give messages their numbers and a database answers.

    A queue that only the files have is made empty in the database, to go on from their end. Raises LoadFailed: a queue
    ends elsewhere in the database, and is no light queue that the database alone keeps.
    CombineConsumeQueueStore#start, #verifyAndInitOffsetForAllStore @5.4.0, 5.5.0.
    """
    database, beside = memory.database, memory.second_queues
    if database is None or beside is None or not beside.decide:
        return
    found = {key: (queue.max_queue_offset, database.queue(*key)) for key, queue in beside.queues.items()}
    unlike = {key: (end, queue) for key, (end, queue) in found.items() if end > 0 and end != queue.max_queue_offset}
    if memory.settings.light_queues_in_database(memory.version):
        unlike = {key: it for key, it in unlike.items() if not is_lmq(key[0]) or it[1].max_queue_offset <= 0}
    refused = next(((key, end, queue) for key, (end, queue) in unlike.items() if queue.max_queue_offset > 0), None)
    if refused is not None:
        (topic, queue_id), end, queue = refused
        raise LoadFailed(
            "the database of queues is to answer, and a queue ends elsewhere in it than in the files",
            "CombineConsumeQueueStore#start (RuntimeException)",
            f"{topic}/{queue_id}: {end} in the files, {queue.max_queue_offset} in the database",
        )
    for end, queue in unlike.values():
        queue.begin_at(end)
    if unlike:
        memory.because(
            "a queue that the database has no message of begins in it where the files end: pulls, which it answers, "
            "find none of the messages before (combineCQPreferCQType=default lets the files answer)",
            "CombineConsumeQueueStore#verifyAndInitOffsetForAllStore, RocksDBConsumeQueue#initializeWithOffset",
            f"{len(unlike)} queues",
        )
