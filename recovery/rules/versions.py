"""Broker versions, and every behaviour of the store that changed: which version does what, from which source.

A predicate is asked by the code that needs it; nothing else in this room compares version numbers.
"""

from __future__ import annotations

from recovery.rules.version_of_start import StartRules
from recovery.rules.version_rule import before, since


class ServiceRules(StartRules):
    """Which version filters, cleans and writes how."""

    __slots__ = ()

    # -- filtering: SelectorParser

    filters_by_parts_of_texts = since(
        "5.1.3",
        "CONTAINS, STARTSWITH and ENDSWITH are words of SQL92 filters (before: names, after which a filter ends). "
        "SelectorParser.jj @5.1.3.",
    )

    # -- cleaning: CleanCommitLogService

    deletes_at_once_by_itself = since(
        "5.0.0",
        "A nearly full disk makes the cleaner work (before: only diskMaxUsedSpaceRatio does); its ratios are "
        "settings kept inside bounds, the batch is one too. CleanCommitLogService#isSpaceToDelete @5.0.0.",
    )

    # -- writing messages, queues and index

    stamps_batches_in_lock = since(
        "4.9.1",
        "A batch gets its store time under the append lock (before: earlier, so that a message before it in the log "
        "may be later). CommitLog#putMessages @4.9.1.",
    )
    reckons_delays_from_store_time = since(
        "4.0.0",
        "The tags code of a delayed message is its store time and its delay (before: another clock's time, read "
        "before the append lock, and its delay). CommitLog#putMessage @3.2.6, ReputMessageService @4.0.0.",
    )
    indexes_commits = since(
        "4.0.0", "Records that commit a transaction have their keys in the index. IndexService#buildIndex @4.0.0."
    )
    indexes_unique_ids = since("4.0.0", "The index holds UNIQ_KEY besides KEYS. IndexService#buildIndex @4.0.0.")
    counts_index_puts_as_slots = before(
        "4.7.1",
        "The index header's hashSlotCount goes up with every put (since: with every slot first used). Until 4.7.0.",
    )
    writes_count_of_empty_index = since(
        "5.0.0", "A shutdown writes indexCount 1 into an index file without entries (before: it stays 0). @5.0.0."
    )
    multi_dispatch_excludes_retry = since(
        "5.1.1", "INNER_MULTI_DISPATCH is not looked for on %RETRY% topics. MultiDispatch @5.1.1."
    )
    multi_dispatch_excludes_schedule = since(
        "5.1.2",
        "INNER_MULTI_DISPATCH is not looked for on the schedule and timer topics, and names with a path separator "
        "are left out. MultiDispatch @5.1.2.",
    )
    multi_dispatch_excludes_system = since(
        "5.2.0",
        "INNER_MULTI_DISPATCH is not looked for on any rmq_sys_ topic. Source: "
        "MultiDispatchUtils#isNeedHandleMultiDispatch @5.2.0.",
    )


class BrokerVersion(ServiceRules):
    """The release of a broker, and what its store does."""

    __slots__ = ()

    @property
    def is_by_specification(self) -> bool:
        """Maven Central has no broker of it (3.2.7 to 3.6.x): its rules follow from its neighbours', and no file of it
        was seen."""
        return (3, 2, 6) < self < (4, 0, 0)


PROVEN = tuple(
    map(BrokerVersion.parse, ("3.2.6", "4.2.0", "4.3.2", "4.4.0", "4.5.2", "4.7.1", "4.9.8", "5.3.1", "5.3.3", "5.5.1"))
)
"""Versions whose behaviour on damaged stores was recorded and is reproduced case by case."""
