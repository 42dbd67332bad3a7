"""FIFO topics whose messages a group gets out of order, as the broker's configuration says.

The gRPC protocol gives a group its messages in order where consumeMessageOrderly of the group is true, whatever the
topic says; consumers of the remoting protocol lock queues by themselves. Source: GrpcClientSettingsManager
(setFifo(isConsumeMessageOrderly)), ReceiveMessageActivity, TopicMessageType @5.0.0 - 5.5.0.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from parsers.config.groups import read_groups
from parsers.config.topics import read_topics
from parsers.damage.errors import Damage, unheard
from parsers.store.store import Store

MESSAGE_TYPE, FIFO = "message.type", "FIFO"


@dataclass(frozen=True, slots=True)
class OutOfOrder:
    """FIFO topics, None where the table of topics cannot be read, and for each group of the broker's table whether its
    consumeMessageOrderly is false."""

    fifo_topics: frozenset[str] | None
    is_unordered: dict[str, bool | None]

    def topics_of(self, group: str, topics: Collection[str]) -> tuple[str, ...] | None:
        """Those of a group's topics that it gets out of order over gRPC; None where its setting is not known, or which
        topics are FIFO."""
        unordered = self.is_unordered.get(group)
        if unordered is False:
            return ()
        if unordered is None or self.fifo_topics is None:
            return None
        return tuple(sorted(self.fifo_topics.intersection(topics)))


def out_of_order(store: Store) -> OutOfOrder:
    """What the store's tables say; what cannot be read of them is left to those who report on them."""
    unread: list[Damage] = []
    groups = read_groups(store.config, damage=unheard)
    topics = read_topics(store.config, damage=unread.append)
    fifo = frozenset(each.topic for _, each in topics if (each.attributes or {}).get(MESSAGE_TYPE) == FIFO)
    return OutOfOrder(
        None if unread or not topics else fifo,
        {each.group: None if each.is_ordered is None else not each.is_ordered for _, each in groups},
    )
