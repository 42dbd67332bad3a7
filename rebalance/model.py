"""The nouns of a rebalance: MessageQueue, ClientId, Settings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from rebalance.java import utf16_order


class MessageQueue(NamedTuple):
    """One queue of a topic on one broker, ordered and printed as Java does.

    Order: topic, broker name (both by UTF-16 code unit), queue id (number).
    Source: MessageQueue#compareTo, #toString, unchanged 4.4.0 - 5.3.3.
    """

    topic: str
    broker_name: str
    queue_id: int

    def __str__(self) -> str:
        return f"MessageQueue [topic={self.topic}, brokerName={self.broker_name}, queueId={self.queue_id}]"

    @property
    def order(self) -> tuple[str, str, int]:
        """Sort key: `sorted(queues, key=lambda mq: mq.order)` is what `Collections.sort` gives."""
        return utf16_order(self.topic), utf16_order(self.broker_name), self.queue_id

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        return self.order < MessageQueue(*other).order

    def __le__(self, other: tuple[Any, ...]) -> bool:
        return self.order <= MessageQueue(*other).order

    def __gt__(self, other: tuple[Any, ...]) -> bool:
        return self.order > MessageQueue(*other).order

    def __ge__(self, other: tuple[Any, ...]) -> bool:
        return self.order >= MessageQueue(*other).order

    @classmethod
    def parse(cls, text: str) -> MessageQueue | None:
        """The queue whose Java text this is, or None."""
        found = _MESSAGE_QUEUE_TEXT.fullmatch(text)
        return cls(found[1], found[2], int(found[3])) if found else None


_MESSAGE_QUEUE_TEXT = re.compile(
    r"MessageQueue \[topic=(.{0,512}?), brokerName=(.{0,512}?), queueId=(-?\d{1,10})\]", re.DOTALL
)


class ClientId(NamedTuple):
    """The parts of a clientId: `clientIP@instanceName[@unitName][@STREAM]`.

    `pid` is known when the instance name has the default form `<pid>` (<= 4.8.0) or `<pid>#<nanoTime>` (>= 4.9.0).
    Source: ClientConfig#buildMQClientId, #changeInstanceNameToPID.
    """

    text: str
    client_ip: str
    instance_name: str
    unit_name: str | None
    stream: bool
    pid: int | None

    @classmethod
    def parse(cls, text: str) -> ClientId:
        """Takes every string: parts that are missing are empty or None."""
        client_ip, _, rest = text.partition("@")
        parts = rest.split("@")
        stream = len(parts) > 1 and parts[-1] == "STREAM"
        unit = "@".join(parts[1 : len(parts) - stream])
        pid = re.fullmatch(r"([0-9]{1,10})(?:#-?[0-9]+)?", parts[0])
        return cls(text, client_ip, parts[0], unit or None, stream, int(pid[1]) if pid else None)


def _setting(java_name: str, default: int | bool) -> Any:
    return field(default=default, metadata={"java_name": java_name})


@dataclass(frozen=True, slots=True)
class Settings:
    """Timers and switches a rebalance depends on, with the defaults of Java and (in `java_names`) Java's names.

    Units: `_ms` fields are milliseconds. Timers without a name in Java carry the class that holds the constant.
    """

    rebalance_wait_interval_ms: int = _setting("rocketmq.client.rebalance.waitInterval", 20_000)
    rebalance_min_interval_ms: int = _setting("rocketmq.client.rebalance.minInterval", 1_000)
    heartbeat_broker_interval_ms: int = _setting("heartbeatBrokerInterval", 30_000)
    poll_name_server_interval_ms: int = _setting("pollNameServerInterval", 30_000)
    persist_consumer_offset_interval_ms: int = _setting("persistConsumerOffsetInterval", 5_000)
    rebalance_lock_interval_ms: int = _setting("rocketmq.client.rebalance.lockInterval", 20_000)
    client_lock_max_live_time_ms: int = _setting("rocketmq.client.rebalance.lockMaxLiveTime", 30_000)
    pull_max_idle_time_ms: int = _setting("rocketmq.client.pull.pullMaxIdleTime", 120_000)
    unlock_delay_time_ms: int = _setting("rocketmq.client.unlockDelayTimeMills", 20_000)
    lock_failed_wakeup_ms: int = _setting("RebalanceImpl#updateProcessQueueTableInRebalance", 500)
    pull_request_delay_ms: int = _setting("RebalancePushImpl#dispatchPullRequest", 500)
    enable_heartbeat_channel_event_listener: bool = _setting("enableHeartbeatChannelEventListener", True)
    broker_lock_max_live_time_ms: int = _setting("rocketmq.broker.rebalance.lockMaxLiveTime", 60_000)
    channel_expired_timeout_ms: int = _setting("channelExpiredTimeout", 120_000)
    channel_scan_interval_ms: int = _setting("ClientHousekeepingService#start", 10_000)
    server_channel_max_idle_ms: int = _setting("serverChannelMaxIdleTimeSeconds", 120_000)
    notify_consumer_ids_changed_enable: bool = _setting("notifyConsumerIdsChangedEnable", True)
    real_time_notify_consumer_change: bool = _setting("realTimeNotifyConsumerChange", True)
    load_balance_poll_name_server_interval_ms: int = _setting("loadBalancePollNameServerInterval", 30_000)
    server_load_balancer_enable: bool = _setting("serverLoadBalancerEnable", True)
    default_pop_share_queue_num: int = _setting("defaultPopShareQueueNum", -1)

    @classmethod
    def java_names(cls) -> dict[str, str]:
        """Field name -> Java's name."""
        return {f.name: f.metadata["java_name"] for f in fields(cls)}


DEFAULTS = Settings()
"""Of clients and brokers whose settings nobody told."""
