"""Which version reads and lists which files how: messages, files of a log or queue, databases."""

from __future__ import annotations

from parsers.values.version import Version
from recovery.rules.version_rule import Rule, before, since


class FileRules(Version):
    """Which version reads and lists which files how: messages, files of a log or queue, databases."""

    __slots__ = ()

    has_dledger = since("4.5.0", "enableDLegerCommitLog exists. DLedgerCommitLog @4.5.0.")

    # -- reading a message: CommitLog#checkMessageAndReturnSize

    reads_v2_messages = since("5.1.0", "The two-byte topic length (magic 0xDAA320AB) is known. MessageVersion @5.1.0.")
    reads_ipv6_hosts = since("4.6.0", "The host bits of sysFlag are known. MessageSysFlag @4.6.0.")
    bounds_record_size = since(
        "5.3.2", "The size field is compared with the bytes left before anything is allocated. @5.3.2."
    )
    rejects_negative_record_size = since(
        "5.5.1", "A negative size field ends the log at once, before the magic code is looked at. @5.5.1."
    )
    reuses_record_buffer = since(
        "5.5.1",
        "Fields are read into a scratch buffer that keeps its size, so one longer than the record passes. @5.5.1.",
    )
    checks_duplication_info = since(
        "5.0.0", "duplicationEnable asks every message for a two-part DUP_INFO property. @5.0.0."
    )
    verifies_record_crc = since("5.2.0", "forceVerifyPropCRC exists. CommitLog#checkMessageAndReturnSize @5.2.0.")
    reads_inner_batches = since(
        "5.0.0", "INNER_NUM and INNER_BASE are parsed as numbers; text that is none ends the log. @5.0.0."
    )
    keeps_property_values_with_separators = since(
        "4.9.1", "A property value may hold 0x01. MessageDecoder#string2messageProperties @4.9.1."
    )
    adds_up_record_sizes = since(
        "4.0.0",
        "The sizes inside a record have to add up to its size field (before: the size field is believed, and fields "
        "are read into the append buffer of maxMessageSize). CommitLog#checkMessageAndReturnSize @4.0.0.",
    )

    # -- listing files: MappedFileQueue#doLoad

    skips_folders_among_files = since(
        "5.1.0", "A folder between the files of a log or queue is skipped (before: its size does not match). @5.1.0."
    )
    deletes_empty_last_file = since(
        "5.1.3", "The last file of a log or queue is deleted when it has 0 bytes (before: load fails). @5.1.3."
    )
    stops_listing_at_wrong_size = Rule(
        lambda version: version <= (4, 4, 0) or version == (4, 9, 2),
        "A file of another size ends the listing, later files are ignored and load succeeds. @4.4.0 and 4.9.2.",
    )
    finds_files_by_offset = since(
        "4.3.0",
        "A file is found by the bytes it holds (before: by its place in the list, whatever files are missing). "
        "MappedFileQueue#findMappedFileByOffset @4.3.0.",
    )
    skips_odd_index_names = since(
        "4.0.0",
        "A file in index/ whose name is no number is left alone (before: load fails). IndexService#load @4.0.0.",
    )
    has_batch_queues = since("5.0.0", "batchconsumequeue/ is loaded too. ConsumeQueueStore#load @5.0.0.")
    has_compaction = since(
        "5.1.0", "Topics of cleanup.policy=COMPACTION have copies in compaction/. CompactionStore @5.1.0."
    )
    starts_without_compacted_queue = since(
        "5.1.1",
        "A compacted queue whose files cannot be listed is left out (before: load fails). "
        "CompactionStore#loadAndGetClog @5.1.1.",
    )
    cuts_copies_at_last_unit = since(
        "5.1.1",
        "A start cuts a compacted queue's log after the last unit of its last file (before: after the first). "
        "SparseConsumeQueue#getMax @5.1.1.",
    )
    bounds_compaction_threads = since(
        "5.1.1",
        "Passes share maxOffsetMapSize by compactionThreadNum, 6 unless said, and by no more than the processors "
        "(before: by what is said, and by the processors where that is 0, which it is unless said). "
        "CompactionStore#<init> @5.1.1.",
    )
    keeps_tables_in_rocksdb = since(
        "5.1.4",
        "storeType=defaultRocksDB puts topics, groups and offsets into databases. BrokerController#<init> @5.1.4.",
    )
    keeps_queues_in_rocksdb = since(
        "5.2.0", "storeType=defaultRocksDB puts the queues into a database too. RocksDBMessageStore @5.2.0."
    )
    has_timer_wheel = since("5.0.0", "timerWheelEnable exists. BrokerController#initialize @5.0.0.")
    needs_timers_to_shut_down = Rule(
        lambda version: (5, 1, 2) <= version < (5, 3, 4),
        "A shutdown before timers are loaded ends with a NullPointerException, and nothing is written. "
        "TimerMessageStore#initService, #shutdown @5.1.2, until 5.3.3.",
    )
    throws_on_wheel = before(
        "5.3.0",
        "A timer wheel of another size ends the start with a RuntimeException, without a shutdown. "
        "BrokerController#initialize, BrokerStartup#createBrokerController @5.0.0, 5.1.4, 5.2.0, not @5.3.3.",
    )
    throws_on_timer_size = before(
        "5.4.0",
        "The last unit of the timer log with a size that no message can have ends the start with an "
        "IllegalArgumentException, without a shutdown. TimerMessageStore#getMessageByCommitOffset @5.3.1, 5.3.3; "
        "caught in StoreUtil#getMessage @5.4.0.",
    )
    deletes_timers_by_topic = since(
        "5.3.2",
        "A timer's deletion names its topic and unique key, joined by `+` (before: the unique key alone). "
        "TimerMessageStore#buildDeleteKey @5.3.2.",
    )
    truncates_database_by_its_limits = since(
        "5.3.2",
        "A truncation moves back every queue that the database of queues has (before: those of the topics that the "
        "broker knows, and one that it cannot move back stops the load). "
        "RocksDBConsumeQueueOffsetTable#truncateDirty @5.3.2.",
    )
    combines_queue_stores = since(
        "5.4.0",
        "rocksdbCQDoubleWriteEnable loads and recovers files and database together (before: the database is written "
        "beside the files, and recovered for nothing). CombineConsumeQueueStore @5.4.0.",
    )
    passes_over_unwritten_queue_stores = since(
        "5.5.0",
        "Of combined stores of queues one that was never written to has no say in where reading begins (before: it "
        "takes the search further back). CombineConsumeQueueStore#isMappedFileMatchedRecover @5.5.0.",
    )
    needs_database_for_light_queues = since(
        "5.5.0",
        "A broker that combines stores of queues stops after it has loaded them unless combineCQUseRocksdbForLmq is "
        "set, whether it has light queues or not. RocksDBLiteLifecycleManager#init @5.5.0, 5.5.1.",
    )
    may_keep_database_apart = since(
        "5.5.0",
        "useSeparateStorePathForRocksdbCQ says in which folder the database of queues lies, and a broker does not "
        "start where the other one has a database. RocksDBConsumeQueueStore#<init> @5.5.0.",
    )
    recovers_databases_accelerated = since(
        "5.5.1",
        "enableAcceleratedRecovery begins inside the file that is found (before, with a database of queues: at a "
        "position that may be negative, so that whole files after it are deleted). CommitLog#recoverNormally @5.5.1.",
    )
