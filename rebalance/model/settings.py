"""Timers and switches that a rebalance depends on."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


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
