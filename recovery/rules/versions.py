"""Broker versions, and every behaviour of the store that changed: which version does what, from which source.

A predicate is asked by the code that needs it; nothing else in this room compares version numbers.
"""

from __future__ import annotations

from parsers.version import Version


class BrokerVersion(Version):
    """The release of a broker, and what its store does."""

    __slots__ = ()

    # -- reading a message: CommitLog#checkMessageAndReturnSize

    @property
    def reads_v2_messages(self) -> bool:
        """The two-byte topic length (magic 0xDAA320AB) is known. MessageVersion @5.1.0."""
        return self >= (5, 1, 0)

    @property
    def is_by_specification(self) -> bool:
        """Maven Central has no broker of it (3.2.7 to 3.6.x): its rules follow from its neighbours', and no file of it
        was seen."""
        return (3, 2, 6) < self < (4, 0, 0)

    @property
    def reads_ipv6_hosts(self) -> bool:
        """The host bits of sysFlag are known. MessageSysFlag @4.6.0."""
        return self >= (4, 6, 0)

    @property
    def bounds_record_size(self) -> bool:
        """The size field is compared with the bytes left before anything is allocated. @5.3.2."""
        return self >= (5, 3, 2)

    @property
    def rejects_negative_record_size(self) -> bool:
        """A negative size field ends the log at once, before the magic code is looked at. @5.5.1."""
        return self >= (5, 5, 1)

    @property
    def reuses_record_buffer(self) -> bool:
        """Fields are read into a scratch buffer that keeps its size, so one longer than the record passes. @5.5.1."""
        return self >= (5, 5, 1)

    @property
    def checks_duplication_info(self) -> bool:
        """duplicationEnable asks every message for a two-part DUP_INFO property. @5.0.0."""
        return self >= (5, 0, 0)

    @property
    def verifies_record_crc(self) -> bool:
        """forceVerifyPropCRC exists. CommitLog#checkMessageAndReturnSize @5.2.0."""
        return self >= (5, 2, 0)

    @property
    def reads_inner_batches(self) -> bool:
        """INNER_NUM and INNER_BASE are parsed as numbers; text that is none ends the log. @5.0.0."""
        return self >= (5, 0, 0)

    @property
    def keeps_property_values_with_separators(self) -> bool:
        """A property value may hold 0x01. MessageDecoder#string2messageProperties @4.9.1."""
        return self >= (4, 9, 1)

    @property
    def adds_up_record_sizes(self) -> bool:
        """The sizes inside a record have to add up to its size field (before: the size field is believed, and fields
        are read into the append buffer of maxMessageSize). CommitLog#checkMessageAndReturnSize @4.0.0."""
        return self >= (4, 0, 0)

    # -- listing files: MappedFileQueue#doLoad

    @property
    def skips_folders_among_files(self) -> bool:
        """A folder between the files of a log or queue is skipped (before: its size does not match). @5.1.0."""
        return self >= (5, 1, 0)

    @property
    def deletes_empty_last_file(self) -> bool:
        """The last file of a log or queue is deleted when it has 0 bytes (before: load fails). @5.1.3."""
        return self >= (5, 1, 3)

    @property
    def stops_listing_at_wrong_size(self) -> bool:
        """A file of another size ends the listing, later files are ignored and load succeeds. @4.4.0 and 4.9.2."""
        return self <= (4, 4, 0) or self == (4, 9, 2)

    @property
    def finds_files_by_offset(self) -> bool:
        """A file is found by the bytes it holds (before: by its place in the list, whatever files are missing).
        MappedFileQueue#findMappedFileByOffset @4.3.0."""
        return self >= (4, 3, 0)

    @property
    def skips_odd_index_names(self) -> bool:
        """A file in index/ whose name is no number is left alone (before: load fails). IndexService#load @4.0.0."""
        return self >= (4, 0, 0)

    @property
    def has_batch_queues(self) -> bool:
        """batchconsumequeue/ is loaded too. ConsumeQueueStore#load @5.0.0."""
        return self >= (5, 0, 0)

    @property
    def has_compaction(self) -> bool:
        """Topics of cleanup.policy=COMPACTION have copies in compaction/. CompactionStore @5.1.0."""
        return self >= (5, 1, 0)

    @property
    def starts_without_compacted_queue(self) -> bool:
        """A compacted queue whose files cannot be listed is left out (before: load fails).
        CompactionStore#loadAndGetClog @5.1.1."""
        return self >= (5, 1, 1)

    @property
    def cuts_copies_at_last_unit(self) -> bool:
        """A start cuts a compacted queue's log behind the last unit of its last file (before: behind the first).
        SparseConsumeQueue#getMax @5.1.1."""
        return self >= (5, 1, 1)

    @property
    def keeps_queues_in_rocksdb(self) -> bool:
        """storeType=defaultRocksDB exists. RocksDBMessageStore @5.2.0."""
        return self >= (5, 2, 0)

    @property
    def deletes_timers_by_topic(self) -> bool:
        """A timer's deletion names its topic and unique key, joined by `+` (before: the unique key alone).
        TimerMessageStore#buildDeleteKey @5.3.2."""
        return self >= (5, 3, 2)

    @property
    def truncates_database_by_its_limits(self) -> bool:
        """A truncation moves back every queue that the database of queues has (before: those of the topics that the
        broker knows, and one that it cannot move back stops the load). RocksDBConsumeQueueOffsetTable#truncateDirty
        @5.3.2."""
        return self >= (5, 3, 2)

    @property
    def combines_queue_stores(self) -> bool:
        """rocksdbCQDoubleWriteEnable loads and recovers files and database together (before: the database is written
        beside the files, and recovered for nothing). CombineConsumeQueueStore @5.4.0."""
        return self >= (5, 4, 0)

    @property
    def recovers_databases_accelerated(self) -> bool:
        """enableAcceleratedRecovery begins inside the file that is found (before, with a database of queues: at a
        position that may be negative, so that whole files behind it are deleted). CommitLog#recoverNormally @5.5.1."""
        return self >= (5, 5, 1)

    # -- configuration: BrokerController#initialize, ConfigManager

    @property
    def keeps_tables_in_one_database(self) -> bool:
        """configManagerVersion=v2 exists. ConfigStorage @5.3.2."""
        return self >= (5, 3, 2)

    @property
    def may_keep_tables_in_metadata(self) -> bool:
        """useSingleRocksDBForAllConfigs exists. RocksDBTopicConfigManager @5.4.0."""
        return self >= (5, 4, 0)

    @property
    def merges_json_into_databases(self) -> bool:
        """A JSON file beside the database of the same table is loaded over it where its data version counts further
        (before: see `merges_json_if_told`). RocksDBTopicConfigManager#merge @5.3.2."""
        return self >= (5, 3, 2)

    @property
    def merges_json_if_told(self) -> bool:
        """`merges_json_into_databases` holds with transferMetadataJsonToRocksdb of topics and groups, and with
        transferOffsetJsonToRocksdb of offsets; no other version has the two. RocksDBTopicConfigManager#merge @5.3.1."""
        return self == (5, 3, 1)

    @property
    def opens_one_family_of_tables(self) -> bool:
        """A database of topics, groups or offsets that has more than the default column family is refused: since 5.3.1
        a broker makes two more. ConfigRocksDBStorage#postLoad @5.2.0, 5.3.0, 5.3.1."""
        return self < (5, 3, 1)

    @property
    def loads_config_of_brokers_5(self) -> bool:
        """topicQueueMapping.json, consumerOrderInfo.json, timermetrics and messageRequestMode.json exist, and
        BrokerController loads delayOffset.json (before: the store does). BrokerController#initialize @5.0.0."""
        return self >= (5, 0, 0)

    @property
    def parses_config_with_fastjson2(self) -> bool:
        """RemotingSerializable decodes with fastjson 2, which takes no `[]` for a map. @5.4.0."""
        return self >= (5, 4, 0)

    @property
    def deletes_unreadable_config(self) -> bool:
        """load() deletes a main file that is empty or cannot be parsed before it turns to the .bak.
        ConfigManager#load @5.4.0."""
        return self >= (5, 4, 0)

    # -- recovery: DefaultMessageStore#recover, CommitLog#recoverNormally, #recoverAbnormally

    @property
    def loads_delay_offsets(self) -> bool:
        """The store reads config/delayOffset.json itself and fails when it and its .bak are broken. Until 4.9.8."""
        return self < (5, 0, 0)

    @property
    def dispatches_before_delay_levels(self) -> bool:
        """load() dispatches before messageDelayLevel is read: a delayed message's unit gets the hash of its tags for a
        delivery time; then it asks for the queue of every delay level. Before, load() begins with
        config/delayOffset.json and asks for none.

        Source: DefaultMessageStore#load, ScheduleMessageService#correctDelayOffset @4.9.2 to 4.9.8.
        """
        return (4, 9, 2) <= self < (5, 0, 0)

    @property
    def needs_index(self) -> bool:
        """An index that cannot be listed fails load(), after recovery. DefaultMessageStore#load @5.1.0."""
        return self >= (5, 1, 0)

    @property
    def takes_records_of_wrong_sizes(self) -> bool:
        """After a crash a record whose sizes do not add up is no end of the log: it is dispatched as an empty message.
        CommitLog#recoverAbnormally, until 4.3.1."""
        return self < (4, 3, 2)

    @property
    def truncates_queues_by_maximum(self) -> bool:
        """Queues are cut to the log's end where their maximum reaches it, after every exit (before: always after a
        crash, never after an orderly exit). CommitLog#recoverNormally, #recoverAbnormally @4.3.2."""
        return self >= (4, 3, 2)

    @property
    def forgets_queues_without_log(self) -> bool:
        """Without a file of the log all queue files are deleted after an orderly exit, too (before: after a crash
        alone). CommitLog#recoverNormally @4.5.1."""
        return self >= (4, 5, 1)

    @property
    def queue_max_is_message_end(self) -> bool:
        """A queue's maximum physical offset is the end of its last message (before: its start). @4.5.1."""
        return self >= (4, 5, 1)

    @property
    def redispatches_after_clean_exit(self) -> bool:
        """recoverNormally starts at the queues' maximum and dispatches what they lack. @5.3.2."""
        return self >= (5, 3, 2)

    @property
    def matches_whole_first_record(self) -> bool:
        """A file matches by its whole first record and by what the queues have persisted.
        CommitLog#isMappedFileMatchedRecover @5.3.4."""
        return self >= (5, 3, 4)

    @property
    def limits_matched_files(self) -> bool:
        """The search for a file to recover from ends at the commitLogRecoverMaxNum-th newest. @5.4.0."""
        return self >= (5, 4, 0)

    @property
    def keeps_dispatched_offset(self) -> bool:
        """The checkpoint has logicsPhysicalOffset, set by thorough queue flushes only. StoreCheckpoint @5.5.0."""
        return self >= (5, 5, 0)

    @property
    def searches_minimum_from_the_end(self) -> bool:
        """Minimum correction looks at the queue's last unit first and then searches. ConsumeQueue @5.0.0."""
        return self >= (5, 0, 0)

    @property
    def restarts_overflown_at_zero(self) -> bool:
        """A pull beyond the end of a queue that begins at 0 goes on at 0. DefaultMessageStore#getMessage @4.9.3."""
        return self < (4, 9, 4)

    @property
    def starts_by_page_cache(self) -> bool:
        """Whether a group without an offset starts at 0 depends on the page cache, not on the log's size.
        ConsumerManageProcessor#queryConsumerOffset, #checkInMemByConsumeOffset @5.1.0."""
        return self >= (5, 1, 0)

    @property
    def may_have_proxy(self) -> bool:
        """Consumers may come through a proxy, which in cluster mode registers none of them with the broker: no line of
        its log shows them. ClusterTransactionService has the only heartbeats of proxy/ @5.0.0, 5.3.3."""
        return self >= (5, 0, 0)

    @property
    def resets_empty_queue(self) -> bool:
        """Minimum correction forgets what it knew of a queue without files. ConsumeQueue#correctMinOffset @5.5.1."""
        return self >= (5, 5, 1)

    @property
    def passes_empty_last_file(self) -> bool:
        """Minimum correction passes a newest file without a unit by (before: it fails). @5.5.0."""
        return self >= (5, 5, 0)

    @property
    def passes_lost_writes(self) -> bool:
        """A unit that cannot be written moves its file's write position on as if it were (since: it stays).
        DefaultMappedFile#appendMessageUsingFileChannel, until 5.3.3."""
        return self < (5, 3, 4)

    @property
    def truncation_goes_on_deleting(self) -> bool:
        """truncateDirtyLogicFiles never takes back that a file is to be deleted. ConsumeQueue @5.0.0."""
        return self >= (5, 0, 0)

    @property
    def skips_repeated_units(self) -> bool:
        """A unit whose place lies before the queue's end is left out (before: it is appended at the end).
        ConsumeQueue#putMessagePositionInfo @4.2.0."""
        return self >= (4, 2, 0)

    # -- dispatching again: DefaultMessageStore#start, ReputMessageService#doReput

    @property
    def starts_dispatch_at_queue_maximum(self) -> bool:
        """start() dispatches from the queues' maximum and waits for it. 4.5.1 … 4.9.8."""
        return (4, 5, 1) <= self < (5, 0, 0)

    @property
    def starts_dispatch_at_log_end(self) -> bool:
        """start() dispatches from the log's end, whatever the queues hold; with duplicationEnable from what is
        confirmed. Until 4.4.0."""
        return self < (4, 5, 1)

    @property
    def moves_dispatch_to_log_start(self) -> bool:
        """Dispatch that stands before the log's first file goes on there (before: it finds no file and stays).
        ReputMessageService#doReput @4.5.1."""
        return self >= (4, 5, 1)

    @property
    def keeps_abort_while_behind(self) -> bool:
        """A shutdown leaves `abort` where dispatch is behind the log. DefaultMessageStore#shutdown @4.2.0."""
        return self >= (4, 2, 0)

    @property
    def dispatches_confirmed_only(self) -> bool:
        """The checkpoint keeps a confirmed offset, recovery sets it, and dispatch ends there.
        CommitLog#getConfirmOffset, ReputMessageService#getReputEndOffset @5.0.0."""
        return self >= (5, 0, 0)

    @property
    def may_recheck_dispatch_start(self) -> bool:
        """recheckReputOffsetFromCq exists. @5.0.0."""
        return self >= (5, 0, 0)

    @property
    def dispatches_flushed_only(self) -> bool:
        """With SYNC_FLUSH dispatch ends at what is flushed. ReputMessageService#getReputEndOffset @5.3.0."""
        return self >= (5, 3, 0)

    @property
    def dispatches_dledger_after_crash(self) -> bool:
        """load() dispatches a DLedger log after an unclean exit. DLedgerCommitLog#dledgerRecoverAbnormally @5.2.0."""
        return self >= (5, 2, 0)

    @property
    def tells_dledger_its_disk_ratio(self) -> bool:
        """diskMaxUsedSpaceRatio holds for a DLedger log, too. DLedgerCommitLog constructor @4.9.4, not @4.9.2."""
        return self >= (4, 9, 3)

    @property
    def indexes_tags(self) -> bool:
        """The index also holds `topic#T#tag`. IndexService#buildIndex @5.4.0."""
        return self >= (5, 4, 0)

    @property
    def searches_time_by_boundary(self) -> bool:
        """A search by time picks the queue file by its messages' store times, and knows LOWER and UPPER (before: by the
        file's modification time, to the nearest message). ConsumeQueue#binarySearchInQueueByTime @5.1.1."""
        return self >= (5, 1, 1)

    @property
    def writes_process_id_to_abort(self) -> bool:
        """start() also writes into `abort`, by way of `abort.bak`. DefaultMessageStore#createTempFile @5.0.0."""
        return self >= (5, 0, 0)

    @property
    def shuts_down_after_failed_start(self) -> bool:
        """shutdown() works after a start() that threw (before: it does nothing). DefaultMessageStore @5.5.0."""
        return self >= (5, 5, 0)

    @property
    def keeps_time_search_in_queue(self) -> bool:
        """What a search by time finds is put between the queue's minimum and maximum.
        DefaultMessageStore#getOffsetInQueueByTime @5.0.0."""
        return self >= (5, 0, 0)

    # -- filtering: SelectorParser

    @property
    def filters_by_parts_of_texts(self) -> bool:
        """CONTAINS, STARTSWITH and ENDSWITH are words of SQL92 filters (before: names, behind which a filter ends).
        SelectorParser.jj @5.1.3."""
        return self >= (5, 1, 3)

    # -- cleaning: CleanCommitLogService

    @property
    def deletes_at_once_by_itself(self) -> bool:
        """A nearly full disk makes the cleaner work (before: only diskMaxUsedSpaceRatio does); its ratios are settings
        kept inside bounds, the batch is one too. CleanCommitLogService#isSpaceToDelete @5.0.0."""
        return self >= (5, 0, 0)

    # -- writing messages, queues and index

    @property
    def stamps_batches_in_lock(self) -> bool:
        """A batch gets its store time under the append lock (before: earlier, so that a message before it in the log
        may be later). CommitLog#putMessages @4.9.1."""
        return self >= (4, 9, 1)

    @property
    def reckons_delays_from_store_time(self) -> bool:
        """The tags code of a delayed message is its store time and its delay (before: another clock's time, read before
        the append lock, and its delay). CommitLog#putMessage @3.2.6, ReputMessageService @4.0.0."""
        return self >= (4, 0, 0)

    @property
    def indexes_commits(self) -> bool:
        """Records that commit a transaction have their keys in the index. IndexService#buildIndex @4.0.0."""
        return self >= (4, 0, 0)

    @property
    def indexes_unique_ids(self) -> bool:
        """The index holds UNIQ_KEY besides KEYS. IndexService#buildIndex @4.0.0."""
        return self >= (4, 0, 0)

    @property
    def counts_index_puts_as_slots(self) -> bool:
        """The index header's hashSlotCount goes up with every put (since: with every slot first used). Until 4.7.0."""
        return self < (4, 7, 1)

    @property
    def writes_count_of_empty_index(self) -> bool:
        """A shutdown writes indexCount 1 into an index file without entries (before: it stays 0). @5.0.0."""
        return self >= (5, 0, 0)

    @property
    def multi_dispatch_excludes_retry(self) -> bool:
        """INNER_MULTI_DISPATCH is not looked for on %RETRY% topics. MultiDispatch @5.1.1."""
        return self >= (5, 1, 1)

    @property
    def multi_dispatch_excludes_schedule(self) -> bool:
        """… nor on the schedule and timer topics, and names with a path separator are left out. @5.1.2."""
        return self >= (5, 1, 2)

    @property
    def multi_dispatch_excludes_system(self) -> bool:
        """… nor on any rmq_sys_ topic. MultiDispatchUtils#isNeedHandleMultiDispatch @5.2.0."""
        return self >= (5, 2, 0)


PROVEN = tuple(
    map(
        BrokerVersion.parse,
        ("3.2.6", "4.2.0", "4.3.2", "4.4.0", "4.5.2", "4.7.1", "4.9.8", "5.3.1", "5.3.3", "5.5.1"),
    )
)
"""Versions whose behaviour on damaged stores was recorded and is reproduced case by case."""
