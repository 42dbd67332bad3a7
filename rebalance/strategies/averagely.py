"""AVG, the default strategy: contiguous blocks, the first clients get one queue more; and AVG_BY_CIRCLE, which deals
queues out in turn, like cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalance.model.message_queue import MessageQueue
from rebalance.strategies.base import check_arguments, index_of


@dataclass(frozen=True, slots=True)
class Averagely:
    """AllocateMessageQueueAveragely.

    Example: queues 0-7, clients A, B, C -> A 0 1 2, B 3 4 5, C 6 7. Two queues, three clients -> A 0, B 1, C none.
    Invariant: each queue has one owner; shares are contiguous and differ by at most one.
    Source: AllocateMessageQueueAveragely#allocate; the `% mqAll.size()` of <= 5.2.0 never takes effect.
    """

    name: str = "AVG"

    def allocate(
        self, group: str, current_cid: str | None, mq_all: Sequence[MessageQueue] | None, cid_all: Sequence[str] | None
    ) -> list[MessageQueue]:
        """See `Strategy.allocate`."""
        current_cid, mq_all, cid_all = check_arguments(current_cid, mq_all, cid_all)
        index = index_of(current_cid, cid_all)
        if index is None:
            return []
        share, remainder = divmod(len(mq_all), len(cid_all))
        if index < remainder:
            start = index * (share + 1)
            return list(mq_all[start : start + share + 1])
        start = index * share + remainder
        return list(mq_all[start : start + share])


@dataclass(frozen=True, slots=True)
class AveragelyByCircle:
    """AllocateMessageQueueAveragelyByCircle.

    Example: queues 0-4, clients A, B, C -> A 0 3, B 1 4, C 2.
    Invariant: each queue has one owner; queue k belongs to client k mod c.
    Source: AllocateMessageQueueAveragelyByCircle#allocate, unchanged 4.4.0 - 5.3.3.
    """

    name: str = "AVG_BY_CIRCLE"

    def allocate(
        self, group: str, current_cid: str | None, mq_all: Sequence[MessageQueue] | None, cid_all: Sequence[str] | None
    ) -> list[MessageQueue]:
        """See `Strategy.allocate`."""
        current_cid, mq_all, cid_all = check_arguments(current_cid, mq_all, cid_all)
        index = index_of(current_cid, cid_all)
        return [] if index is None else list(mq_all[index :: len(cid_all)])
