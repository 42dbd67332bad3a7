"""MACHINE_ROOM: only queues of brokers named `room@name` whose room is configured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from parsers.values.java import is_blank, split
from parsers.values.version import NEWEST, Version
from rebalance.model.message_queue import MessageQueue
from rebalance.strategies.base import ILLEGAL_ARGUMENT, NULL_POINTER, StrategyError, check_arguments, index_of

_FILTERED_BLOCKS = Version(4, 8, 0)
"""Before it the blocks are cut from the unfiltered list (apache/rocketmq#2477)."""
_INLINE_CHECKS = Version(4, 9, 3)
"""Before it nothing is checked; in it alone a blank client id is refused too."""


@dataclass(frozen=True, slots=True)
class ByMachineRoom:
    """AllocateMessageQueueByMachineRoom. The room of the client is never looked at.

    Example: 8 queues of room r1, clients A, B, C -> A 0 1 6, B 2 3 7, C 4 5 (what is left over comes at the end).
    Invariant: from 4.8.0 each queue of a configured room has one owner and no other queue has any.
    Source: AllocateMessageQueueByMachineRoom#allocate @4.7.1, @4.9.3, @5.3.3.
    """

    consumer_idcs: frozenset[str] | None = None
    version: Version = NEWEST
    name: str = "MACHINE_ROOM"

    def allocate(
        self, group: str, current_cid: str | None, mq_all: Sequence[MessageQueue] | None, cid_all: Sequence[str] | None
    ) -> list[MessageQueue]:
        """See `Strategy.allocate`."""
        if self.version >= _INLINE_CHECKS:
            self._check(current_cid, mq_all, cid_all)
        if cid_all is None:
            raise StrategyError(NULL_POINTER, None)
        index = index_of(current_cid, cid_all)
        if index is None:
            return []
        if mq_all is None:
            raise StrategyError(NULL_POINTER, None)
        in_rooms = _in_rooms(tuple(mq_all), self.consumer_idcs)
        share, remainder = divmod(len(in_rooms), len(cid_all))
        source = in_rooms if self.version >= _FILTERED_BLOCKS else mq_all
        left_over = [in_rooms[index + share * len(cid_all)]] if index < remainder else []
        return [*source[share * index : share * (index + 1)], *left_over]

    def _check(
        self, current_cid: str | None, mq_all: Sequence[MessageQueue] | None, cid_all: Sequence[str] | None
    ) -> None:
        if self.version == _INLINE_CHECKS and current_cid is not None and is_blank(current_cid):
            raise StrategyError(ILLEGAL_ARGUMENT, "currentCID is empty")
        check_arguments(current_cid, mq_all, cid_all)


@lru_cache(maxsize=1024)
def _in_rooms(mq_all: tuple[MessageQueue, ...], consumer_idcs: frozenset[str] | None) -> list[MessageQueue]:
    """Queues of the configured rooms, in the given order. Kept, for every member of a group asks with the same list."""
    queues = []
    for mq in mq_all:
        parts = split(mq.broker_name, "@")
        if len(parts) == 2:
            if consumer_idcs is None:
                raise StrategyError(NULL_POINTER, None)
            if parts[0] in consumer_idcs:
                queues.append(mq)
    return queues
