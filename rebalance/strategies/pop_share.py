"""Broker-side assignment (>= 5.0.0): what QueryAssignmentProcessor answers, POP sharing included."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.values.java import is_blank
from rebalance.model.message_queue import MessageQueue
from rebalance.strategies.base import ILLEGAL_ARGUMENT, NULL_POINTER, Strategy, StrategyError, check_arguments, index_of

"""The only strategies a broker registers; any other name gets no answer."""


def allocate_for_pop(
    strategy: Strategy,
    group: str,
    current_cid: str | None,
    mq_all: Sequence[MessageQueue],
    cid_all: Sequence[str],
    pop_share_queue_num: int,
) -> list[MessageQueue]:
    """Own share and the shares of the next `pop_share_queue_num` clients; everything (id -1) when that is nearly all.

    Example (AVG): 4 clients, 8 queues, 1 shared -> c0 0-3, c1 2-5, c2 4-7, c3 6 7 0 1.
        6 clients, 4 queues, 1 shared -> queues 0 1 2 3 0 1. 4 clients, 3 shared -> every broker with id -1, for all.
    Raises:
        StrategyError: as the strategy does.
    Source: rocketmq-all-5.3.3, QueryAssignmentProcessor#allocate4Pop.
    """
    if pop_share_queue_num <= 0 or pop_share_queue_num >= len(cid_all) - 1:
        return [MessageQueue(mq.topic, mq.broker_name, -1) for mq in mq_all]
    if len(cid_all) > len(mq_all):
        return _one_each(current_cid, mq_all, cid_all)
    index = index_of(current_cid, cid_all)
    sharers = [] if index is None else [(index + k) % len(cid_all) for k in range(1, pop_share_queue_num + 1)]
    result: list[MessageQueue] = []
    for cid in (current_cid, *(cid_all[sharer] for sharer in sharers)):
        share = strategy.allocate(group, cid, mq_all, cid_all)
        if share is None:
            raise StrategyError(NULL_POINTER, None)
        result += share
    return result


def _one_each(current_cid: str | None, mq_all: Sequence[MessageQueue], cid_all: Sequence[str]) -> list[MessageQueue]:
    """More clients than queues: client k gets queue k mod m, so all have one. Here a blank id is refused too."""
    if current_cid is not None and is_blank(current_cid):
        raise StrategyError(ILLEGAL_ARGUMENT, "currentCID is empty")
    current_cid, mq_all, cid_all = check_arguments(current_cid, mq_all, cid_all)
    index = index_of(current_cid, cid_all)
    return [] if index is None else [mq_all[index % len(mq_all)]]
