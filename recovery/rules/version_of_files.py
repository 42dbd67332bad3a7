"""Which version reads and lists which files how: messages, files of a log or queue, databases."""

from __future__ import annotations

from parsers.values.version import Version


class FileRules(Version):
    """Which version reads and lists which files how: messages, files of a log or queue, databases."""

    __slots__ = ()

    @property
    def has_dledger(self) -> bool:
        """enableDLegerCommitLog exists. DLedgerCommitLog @4.5.0."""
        return self >= (4, 5, 0)

    # -- reading a message: CommitLog#checkMessageAndReturnSize

    @property
    def reads_v2_messages(self) -> bool:
        """The two-byte topic length (magic 0xDAA320AB) is known. MessageVersion @5.1.0."""
        return self >= (5, 1, 0)

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
        """A start cuts a compacted queue's log after the last unit of its last file (before: after the first).
        SparseConsumeQueue#getMax @5.1.1."""
        return self >= (5, 1, 1)

    @property
    def bounds_compaction_threads(self) -> bool:
        """Passes share maxOffsetMapSize by compactionThreadNum, 6 unless said, and by no more than the processors
        (before: by what is said, and by the processors where that is 0, which it is unless said).
        CompactionStore#<init> @5.1.1."""
        return self >= (5, 1, 1)

    @property
    def keeps_tables_in_rocksdb(self) -> bool:
        """storeType=defaultRocksDB puts topics, groups and offsets into databases. BrokerController#<init> @5.1.4."""
        return self >= (5, 1, 4)

    @property
    def keeps_queues_in_rocksdb(self) -> bool:
        """storeType=defaultRocksDB puts the queues into a database too. RocksDBMessageStore @5.2.0."""
        return self >= (5, 2, 0)

    @property
    def has_timer_wheel(self) -> bool:
        """timerWheelEnable exists. BrokerController#initialize @5.0.0."""
        return self >= (5, 0, 0)

    @property
    def needs_timers_to_shut_down(self) -> bool:
        """A shutdown before timers are loaded ends with a NullPointerException, and nothing is written.
        TimerMessageStore#initService, #shutdown @5.1.2, until 5.3.3."""
        return (5, 1, 2) <= self < (5, 3, 4)

    @property
    def throws_on_wheel(self) -> bool:
        """A timer wheel of another size ends the start with a RuntimeException, without a shutdown.
        BrokerController#initialize, BrokerStartup#createBrokerController @5.0.0, 5.1.4, 5.2.0, not @5.3.3."""
        return self < (5, 3, 0)

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
    def may_keep_database_apart(self) -> bool:
        """useSeparateStorePathForRocksdbCQ says in which folder the database of queues lies, and a broker does not
        start where the other one has a database. RocksDBConsumeQueueStore#<init> @5.5.0."""
        return self >= (5, 5, 0)

    @property
    def recovers_databases_accelerated(self) -> bool:
        """enableAcceleratedRecovery begins inside the file that is found (before, with a database of queues: at a
        position that may be negative, so that whole files after it are deleted). CommitLog#recoverNormally @5.5.1."""
        return self >= (5, 5, 1)
