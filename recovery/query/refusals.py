"""Groups and topics of which a broker hands out nothing, as its configuration says: it refuses their pulls and pops.

Source: PullMessageProcessor#processRequest @4.2.0, 4.9.8, 5.3.3, PopMessageProcessor#processRequest @5.3.3
(isConsumeEnable, PermName#isReadable); MQClientInstance#topicRouteData2TopicSubscribeInfo @5.3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.config.groups import read_groups
from parsers.config.topics import read_topics
from parsers.damage.errors import Damage
from parsers.store.store import Store

PERM_READ = 4
"""PermName.PERM_READ."""
GROUP_OFF = (
    "consumeEnable of the group is false: the broker hands it nothing until that is true again (`mqadmin "
    "updateSubGroup -s true` with all its other settings: it sets those that are not given to their defaults)"
)
TOPIC_OFF = (
    "perm of the topic has no read: the broker hands out nothing of it, and consumers are assigned none of its queues, "
    "until it has (`mqadmin updateTopicPerm`)"
)


@dataclass(frozen=True, slots=True)
class Refusals:
    """Groups and topics that are switched off."""

    groups: frozenset[str]
    topics: frozenset[str]

    def told(self, group: str | None, topic: str) -> str | None:
        """Why the broker hands this group nothing of this topic; None where nothing says that it refuses."""
        said = (GROUP_OFF if group in self.groups else None, TOPIC_OFF if topic in self.topics else None)
        return "; ".join(filter(None, said)) or None


def refusals(store: Store) -> Refusals:
    """What the store's tables switch off; what cannot be read of them is left to those who report on them."""
    unread: list[Damage] = []
    groups = read_groups(store.config, damage=unread.append)
    topics = read_topics(store.config, damage=unread.append)
    return Refusals(
        frozenset(group.group for _, group in groups if group.consume_enable is False),
        frozenset(topic.topic for _, topic in topics if topic.perm is not None and not topic.perm & PERM_READ),
    )
