"""States seen at one instant: members of a group, queues of a topic."""

from __future__ import annotations

from typing import NamedTuple

from rebalance.facts.fact import Fact, GroupFact
from rebalance.model.frozen import frozen


class TopicQueues(NamedTuple):
    """How many queues of a topic may be read on one broker (0: none)."""

    topic: str
    broker_name: str
    read_queue_nums: int


class ListedMember(NamedTuple):
    """One member of a group as a broker's snapshot shows it; `remote` is `ip:port`."""

    client_id: str
    remote: str
    client_version: int | None


class GroupSettings(NamedTuple):
    """A group's entry in `subscriptionGroup.json`, as far as a rebalance depends on it."""

    consume_enable: bool
    consume_broadcast_enable: bool
    notify_consumer_ids_changed_enable: bool
    retry_queue_nums: int


@frozen(kw_only=True)
class RouteSeen(Fact):
    """Queues of one topic: a client's route change (`client_id` set), a name server's answer, or a broker's
    `topics.json`.
    """

    topic: str
    queues: tuple[TopicQueues, ...]
    client_id: str | None = None
    complete: bool = True


@frozen(kw_only=True)
class ConnectionsSeen(GroupFact):
    """GET_CONSUMER_CONNECTION_LIST: the members of a group on the broker `source` at one instant."""

    connections: tuple[ListedMember, ...]
    message_model: str | None = None
    topics: tuple[str, ...] = ()


@frozen(kw_only=True)
class GroupConfigSeen(GroupFact):
    """Settings of a group on the broker `source`; None: gone, and from 5.1.1 no member of it is registered."""

    settings: GroupSettings | None
