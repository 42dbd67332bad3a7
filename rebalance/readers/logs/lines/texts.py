"""Java's toString texts inside log lines: queues, connections, subscriptions, routes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from rebalance.facts import TopicQueues, TopicSubscription
from rebalance.model.message_queue import MessageQueue
from rebalance.readers.sub_version import sub_version_ms

# Every width is bounded, and what was taken is not given back (possessive, atomic) where another end cannot fit:
# a hostile line must take time that grows with its length and no faster.
_PULL_REQUEST = re.compile(r"PullRequest \[consumerGroup=(\S{1,512}), messageQueue=(MessageQueue \[[^\]]{1,2048}\])")
_QUEUES = re.compile(r"MessageQueue \[topic=(?>.{0,512}?, brokerName=)(?>.{0,512}?, queueId=)-?\d{1,10}\]")
_REMOTE = re.compile(r"R:[^/\]]{0,255}+/(\[[^\]]{1,255}+\]:\d{1,5}+|[^\]\s]{1,255}+)\]|remoteAddress=([^,}\s]{1,512}+)")
_CHANNEL_INFO = re.compile(
    r"ClientChannelInfo \[channel=(.{0,1024}), clientId=(.{0,1024}), language=(\w*), version=(-?\d{1,9}), "
    r"lastUpdateTimestamp=(\d{1,18})\]"
)
_SUBSCRIPTION = re.compile(
    r"SubscriptionData \[classFilterMode=\w{1,8}+, topic=([^,]{0,512}+), subString=(?>(.{0,8192}?), tagsSet=\[)"
    r"[^\]]{0,8192}+\], codeSet=\[[^\]]{0,65536}+\], subVersion=(\d{1,19}), expressionType=(\w{1,32}+)\]",
    re.DOTALL,
)
_CONSUMER_DATA = re.compile(
    r"ConsumerData \[groupName=([^,]{0,512}), consumeType=(\w*), messageModel=(\w*), consumeFromWhere=(\w*), "
    r"unitMode=\w+, subscriptionDataSet=\[(.*)\]\]",
    re.DOTALL,
)
_QUEUE_DATA = re.compile(
    r"QueueData \[brokerName=(?>(.{0,512}?), readQueueNums=)(-?\d{1,9}), writeQueueNums=-?\d{1,10}, perm=(\d{1,9})"
)
_TOPIC_CONFIG = re.compile(
    r"TopicConfig \[topicName=([^,]{0,512}), readQueueNums=(\d{1,9}), writeQueueNums=\d+, perm=([^,]*),"
)
_SETTING = re.compile(r"(\w{1,64}+)=(\{[^{}]{0,4096}+\}|[^,\[\]{}]{0,512}+)")
_STATIC_TOPIC = re.compile(r"topicQueueMappingInfo(?:Table)?=\{.|topicQueueMappingByBroker=\{.")
_PERM_READ = 4


class ChannelInfo(NamedTuple):
    """ClientChannelInfo: `last_heartbeat_ms` is the instant (broker clock) of the last heartbeat on this connection."""

    remote: str | None
    client_id: str | None
    client_version: int | None
    last_heartbeat_ms: int | None


class ConsumerData(NamedTuple):
    """One group in a heartbeat."""

    group: str
    consume_type: str
    message_model: str
    consume_from_where: str
    subscriptions: tuple[TopicSubscription, ...]


@lru_cache(maxsize=65_536)
def queue(text: str) -> MessageQueue | None:
    """The queue of one `MessageQueue […]`."""
    return MessageQueue.parse(text)


def pull_request(text: str) -> tuple[str, MessageQueue] | None:
    """Group and queue of one `PullRequest […]`. PullRequest#toString @4.2.0 - 5.3.3."""
    found = _PULL_REQUEST.match(text)
    asked = None if found is None else queue(found[2])
    return None if found is None or asked is None else (found[1], asked)


def queues(text: str) -> tuple[MessageQueue, ...]:
    """All queues of a set's text (printed in hash order), sorted."""
    found = (queue(match) for match in _QUEUES.findall(text))
    return tuple(sorted((mq for mq in found if mq is not None), key=lambda mq: mq.order))


def address(text: str) -> str:
    """`ip:port` or `[ip6]:port` of a Java address text, which may hold a host name before `/` and a scope after `%`."""
    host, _, port = text.rpartition("/")[2].rpartition(":")
    if not port.isdigit():
        return text
    host = host.strip("[]").partition("%")[0]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def channel_info(text: str) -> ChannelInfo:
    """The parts of a `ClientChannelInfo […]`, None where the text lacks them; `remote` is `ip:port`."""
    found = _CHANNEL_INFO.fullmatch(text)
    remote = _REMOTE.search(text)
    remote_address = address(remote[1] or remote[2]) if remote else None
    if found is None:
        return ChannelInfo(remote_address, None, None, None)
    return ChannelInfo(remote_address, found[2], int(found[4]), int(found[5]))


def subscriptions(text: str) -> tuple[TopicSubscription, ...]:
    """All `SubscriptionData […]` in the text, by topic."""
    found = (
        TopicSubscription(topic, expression, expression_type, sub_version_ms(int(sub_version)))
        for topic, expression, sub_version, expression_type in _SUBSCRIPTION.findall(text)
    )
    return tuple(sorted(found, key=lambda subscription: subscription.topic))


def consumer_data(text: str) -> ConsumerData | None:
    """A `ConsumerData […]`."""
    found = _CONSUMER_DATA.fullmatch(text)
    return ConsumerData(found[1], found[2], found[3], found[4], subscriptions(found[5])) if found else None


def route(topic: str, text: str) -> tuple[TopicQueues, ...] | None:
    """Readable queues per broker of a `TopicRouteData […]`; () for `null`, None for a static topic (its mapping rules).

    Source: MQClientInstance#topicRouteData2TopicSubscribeInfo.
    """
    if _STATIC_TOPIC.search(text):
        return None
    rows = _QUEUE_DATA.findall(text)
    return tuple(
        sorted(TopicQueues(topic, name, int(reads) if int(perm) & _PERM_READ else 0) for name, reads, perm in rows)
    )


def topic_config(text: str) -> tuple[str, int] | None:
    """Topic and readable queues of a broker's `TopicConfig […]`."""
    found = _TOPIC_CONFIG.match(text)
    return (found[1], int(found[2]) if "R" in found[3] else 0) if found else None


def settings(text: str) -> dict[str, str]:
    """The settings of a `TopicConfig […]`, or of a `SubscriptionGroupConfig […]` or `{…}`, by their Java names."""
    return dict(_SETTING.findall(text))
