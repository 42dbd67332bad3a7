"""CONSISTENT_HASH: a ring of virtual nodes; a queue belongs to the next node clockwise."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from parsers.values.java import ring_hash
from parsers.values.version import NEWEST, Version
from rebalance.model.message_queue import MessageQueue
from rebalance.strategies.base import ILLEGAL_ARGUMENT, StrategyError, check_arguments, index_of

_ALWAYS_UTF_8 = Version(5, 0, 0)
MOST_NODES = 1 << 21
"""The most nodes of a ring that is computed here: a thousand clients with two thousand virtual nodes each."""


@dataclass(frozen=True, slots=True)
class ConsistentHash:
    """AllocateMessageQueueConsistentHash (since 4.1.0), with the default MD5 hash function.

    Example: clients 10.0.0.1@100 and 10.0.0.2@200 with 2 nodes each, topic T on broker b: queues 0 and 2 go to the
        first, 1 to the second.
    Invariant: each queue has one owner if there is a node at all; a client that leaves moves only its own queues.
    Args:
        platform_charset: `file.encoding` of the client's JVM; it counts up to 4.9.8, UTF-8 does from 5.0.0.
    Raises:
        ValueError: more than MOST_NODES, on `allocate`.
    Source: AllocateMessageQueueConsistentHash#allocate, ConsistentHashRouter#addNode, #routeNode.
    """

    virtual_node_cnt: int = 10
    version: Version = NEWEST
    platform_charset: str = "utf-8"
    name: str = "CONSISTENT_HASH"

    def __post_init__(self) -> None:
        if self.virtual_node_cnt < 0:
            raise StrategyError(ILLEGAL_ARGUMENT, f"illegal virtualNodeCnt :{self.virtual_node_cnt}")

    def allocate(
        self, group: str, current_cid: str | None, mq_all: Sequence[MessageQueue] | None, cid_all: Sequence[str] | None
    ) -> list[MessageQueue]:
        """See `Strategy.allocate`."""
        current_cid, mq_all, cid_all = check_arguments(current_cid, mq_all, cid_all)
        if index_of(current_cid, cid_all) is None:
            return []
        if len(cid_all) * self.virtual_node_cnt > MOST_NODES:
            raise ValueError(f"a ring of {len(cid_all)} x {self.virtual_node_cnt} nodes, {MOST_NODES} at most")
        charset = "utf-8" if self.version >= _ALWAYS_UTF_8 else self.platform_charset
        shares = _shares(tuple(mq_all), tuple(cid_all), self.virtual_node_cnt, charset)
        return list(shares.get(current_cid, ()))


@lru_cache(maxsize=1024)
def _shares(
    mq_all: tuple[MessageQueue, ...], cid_all: tuple[str, ...], virtual_node_cnt: int, charset: str
) -> Mapping[str, list[MessageQueue]]:
    """Client -> its queues in the given order. Kept, for every member of a group asks with the same lists."""
    hashes, owners = _ring(cid_all, virtual_node_cnt, charset)
    shares: dict[str, list[MessageQueue]] = {}
    if hashes:
        for mq in mq_all:
            node = bisect_left(hashes, ring_hash(str(mq), charset))
            shares.setdefault(owners[node % len(hashes)], []).append(mq)
    return shares


@lru_cache(maxsize=1024)
def _ring(cid_all: tuple[str, ...], virtual_node_cnt: int, charset: str) -> tuple[list[int], list[str]]:
    """Hashes in ascending order and the client of each; a later node replaces an earlier one of equal hash."""
    nodes: dict[int, str] = {}
    for position, cid in enumerate(cid_all):
        repeated = cid in cid_all[:position]
        existing = sum(owner == cid for owner in nodes.values()) if repeated else 0
        for number in range(existing, existing + virtual_node_cnt):
            nodes[ring_hash(f"{cid}-{number}", charset)] = cid
    hashes = sorted(nodes)
    return hashes, [nodes[node_hash] for node_hash in hashes]
