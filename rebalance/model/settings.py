"""Timers that a rebalance depends on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The timers by which a replay explains what clients and brokers did; defaults are those of RocketMQ.

    Attributes:
        rebalance_wait_interval_ms: system property rocketmq.client.rebalance.waitInterval.
        heartbeat_broker_interval_ms: heartbeatBrokerInterval of the client.
        poll_name_server_interval_ms: pollNameServerInterval of the client.
        persist_consumer_offset_interval_ms: persistConsumerOffsetInterval of the client.
        broker_lock_max_live_time_ms: system property rocketmq.broker.rebalance.lockMaxLiveTime.
        channel_expired_timeout_ms: channelExpiredTimeout of the broker.
        server_channel_max_idle_ms: serverChannelMaxIdleTimeSeconds of the broker, in milliseconds.
    """

    rebalance_wait_interval_ms: int = 20_000
    heartbeat_broker_interval_ms: int = 30_000
    poll_name_server_interval_ms: int = 30_000
    persist_consumer_offset_interval_ms: int = 5_000
    broker_lock_max_live_time_ms: int = 60_000
    channel_expired_timeout_ms: int = 120_000
    server_channel_max_idle_ms: int = 120_000


DEFAULTS = Settings()
"""The settings of clients and brokers of which nothing is known."""
