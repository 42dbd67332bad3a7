"""Which version starts how: configuration, recovery, dispatching again."""

from __future__ import annotations

from recovery.rules.version_of_files import FileRules


class StartRules(FileRules):
    """Which version starts how: configuration, recovery, dispatching again."""

    __slots__ = ()

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
    def keeps_messages_in_database(self) -> bool:
        """rocksdbstore may hold index and half messages, and recovery begins at a file whose start they have.
        CommitLog#isMappedFileMatchedRecover @5.4.0."""
        return self >= (5, 4, 0)

    @property
    def dispatches_to_databases(self) -> bool:
        """Messages behind what they note are dispatched again. DefaultMessageStore#recover @5.5.0."""
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
    def syncs_timer_version(self) -> bool:
        """A slave takes the DataVersion of timercheck from its master, beside the offset and the time of delivery
        (before: these alone). SlaveSynchronize#syncTimerCheckPoint @5.1.4, 5.2.0."""
        return self >= (5, 2, 0)

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
