"""The queues as a broker loads them: files, the database in their place, or both.

Source: ConsumeQueueStore#load, RocksDBConsumeQueueStore#<init>, #load @5.3.1 … 5.5.1, CombineConsumeQueueStore @5.4.0.
"""

from __future__ import annotations

from dataclasses import replace

from recovery.broker.consume_queue import Queue
from recovery.broker.mapped_file_queue import FileList, LoadFailed, list_files
from recovery.broker.memory import BrokerMemory
from recovery.broker.queue_database import QueueDatabase
from recovery.broker.store_folder import DatabaseFolder, Evidence
from recovery.rules.settings import FILE_STORE, ROCKSDB_STORE, StoreSettings
from recovery.rules.versions import BrokerVersion


class StoreNotMade(LoadFailed):
    """The store's constructor throws: nothing of the store is read or written."""


def combined(evidence: Evidence, version: BrokerVersion, settings: StoreSettings) -> Evidence:
    """The evidence as a broker takes it that combines stores of queues: without a database that it does not load, or
    with that database as its queues where it decides and answers."""
    if evidence.second_database is None or not version.combines_queue_stores:
        return evidence
    if ROCKSDB_STORE not in settings.loaded_queue_stores:
        return replace(evidence, second_database=None, database_elsewhere=None)
    if settings.combining_queue_stores == (ROCKSDB_STORE, ROCKSDB_STORE):
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
    elsewhere = memory.evidence.database_elsewhere
    if elsewhere is not None and memory.version.may_keep_database_apart:
        raise StoreNotMade(
            "the database of queues lies in another folder than useSeparateStorePathForRocksdbCQ says",
            "RocksDBConsumeQueueStore#<init> (IllegalStateException: maybe incompatible config)",
            f"{elsewhere}/CURRENT; the setting names {memory.settings.queue_database_folder}/",
        )


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
        memory.second_queues = []
        for key, entries in evidence.queues.items():
            second = Queue(*key, FileList(memory.settings.consume_queue_file_size), version)
            list_files(second.mapped, entries, version)
            memory.second_queues.append(second)
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
