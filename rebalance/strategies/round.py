"""What the client does around a strategy: sort both lists, then ask."""

from __future__ import annotations

from collections.abc import Iterable

from parsers.values.java import utf16_order
from rebalance.model.message_queue import MessageQueue
from rebalance.strategies.base import Strategy


def sorted_inputs(mq_all: Iterable[MessageQueue], cid_all: Iterable[str]) -> tuple[list[MessageQueue], list[str]]:
    """Both lists in Java's natural order. Ids stay as often as they come."""
    return sorted(mq_all, key=lambda mq: mq.order), sorted(cid_all, key=utf16_order)


def rebalance_by_topic(
    strategy: Strategy, group: str, current_cid: str, mq_all: Iterable[MessageQueue], cid_all: Iterable[str]
) -> list[MessageQueue] | None:
    """The target list of one client for one topic, CLUSTERING mode.

    Raises:
        StrategyError: the strategy threw; the client keeps what it has.
    Source: RebalanceImpl#rebalanceByTopic.
    """
    queues, cids = sorted_inputs(mq_all, cid_all)
    return strategy.allocate(group, current_cid, queues, cids)
