"""Which version filters, cleans and writes how."""

from __future__ import annotations

from recovery.rules.version_of_start import StartRules


class ServiceRules(StartRules):
    """Which version filters, cleans and writes how."""

    __slots__ = ()

    # -- filtering: SelectorParser

    @property
    def filters_by_parts_of_texts(self) -> bool:
        """CONTAINS, STARTSWITH and ENDSWITH are words of SQL92 filters (before: names, after which a filter ends).
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
        """INNER_MULTI_DISPATCH is not looked for on the schedule and timer topics, and names with a path separator are
        left out. MultiDispatch @5.1.2."""
        return self >= (5, 1, 2)

    @property
    def multi_dispatch_excludes_system(self) -> bool:
        """INNER_MULTI_DISPATCH is not looked for on any rmq_sys_ topic.

        Source: MultiDispatchUtils#isNeedHandleMultiDispatch @5.2.0.
        """
        return self >= (5, 2, 0)
