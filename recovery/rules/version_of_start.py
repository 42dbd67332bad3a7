"""Which version starts how: configuration, recovery, dispatching again."""

from __future__ import annotations

from recovery.rules.version_of_files import FileRules
from recovery.rules.version_rule import Rule, before, since


class StartRules(FileRules):
    """Which version starts how: configuration, recovery, dispatching again."""

    __slots__ = ()

    # -- configuration: BrokerController#initialize, ConfigManager

    keeps_tables_in_one_database = since("5.3.2", "configManagerVersion=v2 exists. ConfigStorage @5.3.2.")
    may_keep_tables_in_metadata = since(
        "5.4.0", "useSingleRocksDBForAllConfigs exists. RocksDBTopicConfigManager @5.4.0."
    )
    merges_json_into_databases = since(
        "5.3.2",
        "A JSON file beside the database of the same table is loaded over it where its data version counts further "
        "(before: see `merges_json_if_told`). RocksDBTopicConfigManager#merge @5.3.2.",
    )
    merges_json_if_told = Rule(
        lambda version: version == (5, 3, 1),
        "`merges_json_into_databases` holds with transferMetadataJsonToRocksdb of topics and groups, and with "
        "transferOffsetJsonToRocksdb of offsets; no other version has the two. RocksDBTopicConfigManager#merge "
        "@5.3.1.",
    )
    opens_one_family_of_tables = before(
        "5.3.1",
        "A database of topics, groups or offsets that has more than the default column family is refused: since "
        "5.3.1 a broker makes two more. ConfigRocksDBStorage#postLoad @5.2.0, 5.3.0, 5.3.1.",
    )
    loads_config_of_brokers_5 = since(
        "5.0.0",
        "topicQueueMapping.json, consumerOrderInfo.json, timermetrics and messageRequestMode.json exist, and "
        "BrokerController loads delayOffset.json (before: the store does). BrokerController#initialize @5.0.0.",
    )
    saves_delay_offsets_before_loading = Rule(
        lambda version: (5, 0, 0) <= version < (5, 1, 2),
        "delayOffset.json is saved every flushDelayOffsetInterval from 10 s after the broker was made, also while the "
        "store still loads and no delay offset has been read. ScheduleMessageService constructor @5.0.0 to 5.1.1.",
    )
    parses_config_with_fastjson2 = since(
        "5.4.0", "RemotingSerializable decodes with fastjson 2, which takes no `[]` for a map. @5.4.0."
    )
    deletes_unreadable_config = since(
        "5.4.0",
        "load() deletes a main file that is empty or cannot be parsed before it turns to the .bak. "
        "ConfigManager#load @5.4.0.",
    )

    # -- recovery: DefaultMessageStore#recover, CommitLog#recoverNormally, #recoverAbnormally

    loads_delay_offsets = before(
        "5.0.0",
        "The store reads config/delayOffset.json itself and fails when it and its .bak are broken. Until 4.9.8.",
    )
    dispatches_before_delay_levels = Rule(
        lambda version: (4, 9, 2) <= version < (5, 0, 0),
        "load() dispatches before messageDelayLevel is read: a delayed message's unit gets the hash of its tags for "
        "a delivery time; then it asks for the queue of every delay level. Before, load() begins with "
        "config/delayOffset.json and asks for none. Source: DefaultMessageStore#load, "
        "ScheduleMessageService#correctDelayOffset @4.9.2 to 4.9.8.",
    )
    needs_index = since(
        "5.1.0", "An index that cannot be listed fails load(), after recovery. DefaultMessageStore#load @5.1.0."
    )
    takes_records_of_wrong_sizes = before(
        "4.3.2",
        "After a crash a record whose sizes do not add up is no end of the log: it is dispatched as an empty "
        "message. CommitLog#recoverAbnormally, until 4.3.1.",
    )
    truncates_queues_by_maximum = since(
        "4.3.2",
        "Queues are cut to the log's end where their maximum reaches it, after every exit (before: always after a "
        "crash, never after an orderly exit). CommitLog#recoverNormally, #recoverAbnormally @4.3.2.",
    )
    forgets_queues_without_log = since(
        "4.5.1",
        "Without a file of the log all queue files are deleted after an orderly exit, too (before: after a crash "
        "alone). CommitLog#recoverNormally @4.5.1.",
    )
    queue_max_is_message_end = since(
        "4.5.1", "A queue's maximum physical offset is the end of its last message (before: its start). @4.5.1."
    )
    redispatches_after_clean_exit = since(
        "5.3.2", "recoverNormally starts at the queues' maximum and dispatches what they lack. @5.3.2."
    )
    matches_whole_first_record = since(
        "5.3.4",
        "A file matches by its whole first record and by what the queues have persisted. "
        "CommitLog#isMappedFileMatchedRecover @5.3.4.",
    )
    limits_matched_files = since(
        "5.4.0", "The search for a file to recover from ends at the commitLogRecoverMaxNum-th newest. @5.4.0."
    )
    keeps_dispatched_offset = since(
        "5.5.0", "The checkpoint has logicsPhysicalOffset, set by thorough queue flushes only. StoreCheckpoint @5.5.0."
    )
    keeps_messages_in_database = since(
        "5.4.0",
        "rocksdbstore may hold index and half messages, and recovery begins at a file whose start they have. "
        "CommitLog#isMappedFileMatchedRecover @5.4.0.",
    )
    dispatches_to_databases = since(
        "5.5.0", "Messages behind what they note are dispatched again. DefaultMessageStore#recover @5.5.0."
    )
    searches_minimum_from_the_end = since(
        "5.0.0", "Minimum correction looks at the queue's last unit first and then searches. ConsumeQueue @5.0.0."
    )
    restarts_overflown_at_zero = before(
        "4.9.4",
        "A pull beyond the end of a queue that begins at 0 goes on at 0. DefaultMessageStore#getMessage @4.9.3.",
    )
    starts_by_page_cache = since(
        "5.1.0",
        "Whether a group without an offset starts at 0 depends on the page cache, not on the log's size. "
        "ConsumerManageProcessor#queryConsumerOffset, #checkInMemByConsumeOffset @5.1.0.",
    )
    may_have_proxy = since(
        "5.0.0",
        "Consumers may come through a proxy, which in cluster mode registers none of them with the broker: no line "
        "of its log shows them. ClusterTransactionService has the only heartbeats of proxy/ @5.0.0, 5.3.3.",
    )
    resets_empty_queue = since(
        "5.5.1",
        "Minimum correction forgets what it knew of a queue without files. ConsumeQueue#correctMinOffset @5.5.1.",
    )
    passes_empty_last_file = since(
        "5.5.0", "Minimum correction passes a newest file without a unit by (before: it fails). @5.5.0."
    )
    passes_lost_writes = before(
        "5.3.4",
        "A unit that cannot be written moves its file's write position on as if it were (since: it stays). "
        "DefaultMappedFile#appendMessageUsingFileChannel, until 5.3.3.",
    )
    truncation_goes_on_deleting = since(
        "5.0.0", "truncateDirtyLogicFiles never takes back that a file is to be deleted. ConsumeQueue @5.0.0."
    )
    skips_repeated_units = since(
        "4.2.0",
        "A unit whose place lies before the queue's end is left out (before: it is appended at the end). "
        "ConsumeQueue#putMessagePositionInfo @4.2.0.",
    )

    # -- dispatching again: DefaultMessageStore#start, ReputMessageService#doReput

    starts_dispatch_at_queue_maximum = Rule(
        lambda version: (4, 5, 1) <= version < (5, 0, 0),
        "start() dispatches from the queues' maximum and waits for it. 4.5.1 … 4.9.8.",
    )
    starts_dispatch_at_log_end = before(
        "4.5.1",
        "start() dispatches from the log's end, whatever the queues hold; with duplicationEnable from what is "
        "confirmed. Until 4.4.0.",
    )
    moves_dispatch_to_log_start = since(
        "4.5.1",
        "Dispatch that stands before the log's first file goes on there (before: it finds no file and stays). "
        "ReputMessageService#doReput @4.5.1.",
    )
    keeps_abort_while_behind = since(
        "4.2.0", "A shutdown leaves `abort` where dispatch is behind the log. DefaultMessageStore#shutdown @4.2.0."
    )
    dispatches_confirmed_only = since(
        "5.0.0",
        "The checkpoint keeps a confirmed offset, recovery sets it, and dispatch ends there. "
        "CommitLog#getConfirmOffset, ReputMessageService#getReputEndOffset @5.0.0.",
    )
    may_recheck_dispatch_start = since("5.0.0", "recheckReputOffsetFromCq exists. @5.0.0.")
    dispatches_flushed_only = since(
        "5.3.0", "With SYNC_FLUSH dispatch ends at what is flushed. ReputMessageService#getReputEndOffset @5.3.0."
    )
    dispatches_dledger_after_crash = since(
        "5.2.0",
        "load() dispatches a DLedger log after an unclean exit. DLedgerCommitLog#dledgerRecoverAbnormally @5.2.0.",
    )
    tells_dledger_its_disk_ratio = since(
        "4.9.3", "diskMaxUsedSpaceRatio holds for a DLedger log, too. DLedgerCommitLog constructor @4.9.4, not @4.9.2."
    )
    indexes_tags = since("5.4.0", "The index also holds `topic#T#tag`. IndexService#buildIndex @5.4.0.")
    searches_time_by_boundary = since(
        "5.1.1",
        "A search by time picks the queue file by its messages' store times, and knows LOWER and UPPER (before: by "
        "the file's modification time, to the nearest message). ConsumeQueue#binarySearchInQueueByTime @5.1.1.",
    )
    syncs_timer_version = since(
        "5.2.0",
        "A slave takes the DataVersion of timercheck from its master, beside the offset and the time of delivery "
        "(before: these alone). SlaveSynchronize#syncTimerCheckPoint @5.1.4, 5.2.0.",
    )
    writes_process_id_to_abort = since(
        "5.0.0", "start() also writes into `abort`, by way of `abort.bak`. DefaultMessageStore#createTempFile @5.0.0."
    )
    shuts_down_after_failed_start = since(
        "5.5.0", "shutdown() works after a start() that threw (before: it does nothing). DefaultMessageStore @5.5.0."
    )
    keeps_time_search_in_queue = since(
        "5.0.0",
        "What a search by time finds is put between the queue's minimum and maximum. "
        "DefaultMessageStore#getOffsetInQueueByTime @5.0.0.",
    )
