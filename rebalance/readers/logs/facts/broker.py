"""Recognised lines of a broker -> facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rebalance.facts import (
    BrokerStarted,
    BrokerStopping,
    ChannelClosed,
    ChannelConnected,
    ChannelExpired,
    ClientUnregistered,
    CommitRolledBack,
    ConsumerListAnswered,
    Fact,
    HeartbeatReceived,
    QueueLockDecided,
    RouteSeen,
    SubscriptionChanged,
    TopicQueues,
)
from rebalance.model.timing import SAME_SCAN_MS
from rebalance.readers.logs.lines import texts
from rebalance.readers.logs.lines.origin import Origin, When
from rebalance.readers.logs.lines.reader import LogEvent

_MAX_CHANNELS = 100_000


class BrokerLog:
    """Remembers whose connection a remote address is, for lines that print the address only."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self._client_of: dict[str, str] = {}
        self._expired_at: dict[str, int] = {}

    def builders(self) -> dict[str, Callable[[LogEvent], Sequence[Fact]]]:
        """Template name -> the fact of an entry of it, if its text holds one."""
        return {name: partial(self._facts, build) for name, build in _BUILDERS.items()}

    def _facts(self, build: Callable[[BrokerLog, LogEvent], Fact | None], event: LogEvent) -> Sequence[Fact]:
        fact = build(self, event)
        return () if fact is None else (fact,)

    def _started(self, event: LogEvent) -> Fact:
        return BrokerStarted(**self.origin.when(event))

    def _stopping(self, event: LogEvent) -> Fact:
        return BrokerStopping(**self.origin.when(event))

    def _connected(self, event: LogEvent) -> Fact:
        group, consume_type, message_model, text = event.fields
        channel = texts.channel_info(text)
        if channel.remote and channel.client_id:
            if len(self._client_of) >= _MAX_CHANNELS:
                self._client_of.clear()
            self._client_of[channel.remote] = channel.client_id
        return ChannelConnected(
            **self.origin.when_told(event, channel.last_heartbeat_ms),
            group=group,
            remote=channel.remote,
            client_id=channel.client_id,
            message_model=message_model,
            consume_type=consume_type,
            client_version=channel.client_version,
            last_heartbeat_ms=self.origin.reference_ms(channel.last_heartbeat_ms),
        )

    def _unregistered(self, event: LogEvent) -> Fact:
        group, text = event.fields
        channel = texts.channel_info(text)
        when = self.origin.when(event)
        return ClientUnregistered(**when, group=group, remote=channel.remote, client_id=channel.client_id)

    def _closed(self, event: LogEvent) -> Fact:
        text, group = event.fields
        channel = texts.channel_info(text)
        scanned_ms = self._expired_at.get(channel.remote or "")
        expired = scanned_ms is not None and 0 <= event.at_ms - scanned_ms <= SAME_SCAN_MS
        return ChannelClosed(
            **self.origin.when(event),
            group=group,
            remote=channel.remote,
            client_id=channel.client_id,
            cause="expired" if expired else None,
            last_heartbeat_ms=self.origin.reference_ms(channel.last_heartbeat_ms),
        )

    def _producer_expired(self, event: LogEvent) -> None:
        channel = event.fields[0]
        remote = texts.channel_info(channel).remote or texts.address(channel)
        if len(self._expired_at) >= _MAX_CHANNELS:
            self._expired_at.clear()
        self._expired_at[remote] = event.at_ms

    def _expired(self, event: LogEvent) -> Fact:
        text, group = event.fields
        when, remote = self.origin.when(event), texts.address(text)
        return ChannelExpired(**when, group=group, remote=remote, client_id=self._client_of.get(remote))

    def _subscription_added(self, event: LogEvent) -> Fact | None:
        group, text = event.fields
        return _subscription_change(self.origin.when(event), group, text, "add")

    def _subscription_replaced(self, event: LogEvent) -> Fact | None:
        group, _, text = event.fields
        return _subscription_change(self.origin.when(event), group, text, "replace")

    def _subscription_removed(self, event: LogEvent) -> Fact:
        group, topic, _ = event.fields
        return SubscriptionChanged(**self.origin.when(event), group=group, topic=topic, change="remove")

    def _registered(self, event: LogEvent) -> Fact | None:
        by_address = event.template.name == "consumer_registered_by_address"
        address, text = event.fields if by_address else event.fields[::-1]
        remote = texts.address(address)
        told = texts.consumer_data(text)
        if told is None:
            return None
        return HeartbeatReceived(
            **self.origin.when(event),
            group=told.group,
            remote=remote,
            client_id=self._client_of.get(remote),
            message_model=told.message_model,
            consume_type=told.consume_type,
            consume_from_where=told.consume_from_where,
            subscriptions=told.subscriptions,
        )

    def _list_failed(self, event: LogEvent) -> Fact:
        group, address = event.fields
        remote = texts.address(address)
        return ConsumerListAnswered(
            **self.origin.when(event),
            group=group,
            remote=remote,
            client_id=self._client_of.get(remote),
            asked_at_ms=None,
            client_ids=None,
            remark=f"no consumer for this group, {group}",
        )

    def _rolled_back(self, event: LogEvent) -> Fact:
        address, key, queue_id, requested, stored = event.fields
        remote = texts.address(address)
        topic, _, group = key.rpartition("@")
        return CommitRolledBack(
            **self.origin.when(event),
            group=group,
            remote=remote,
            client_id=self._client_of.get(remote),
            topic=topic,
            queue_id=int(queue_id),
            requested_queue_offset=int(requested),
            stored_queue_offset=int(stored),
        )

    def _topic(self, event: LogEvent) -> Fact | None:
        told = texts.topic_config(event.named_fields["topic_config"])
        if told is None:
            return None
        topic, read_queue_nums = told
        queues = (TopicQueues(topic, self.origin.source, read_queue_nums),)
        return RouteSeen(**self.origin.when(event), topic=topic, queues=queues, complete=False)

    def _lock(self, event: LogEvent) -> Fact | None:
        fields = event.named_fields
        queue = texts.queue(fields["mq"])
        if queue is None:
            return None
        return QueueLockDecided(
            **self.origin.when(event),
            group=fields["group"],
            queue=queue,
            client_id=fields["client_id"],
            decision=_DECISIONS[event.template.name],
            other_client_id=fields.get("other_client_id"),
        )


def _subscription_change(when: When, group: str, text: str, change: str) -> Fact | None:
    told = texts.subscriptions(text)
    if len(told) != 1:
        return None
    topic, expression, _, sub_version = told[0]
    return SubscriptionChanged(
        **when, group=group, topic=topic, change=change, sub_version=sub_version, expression=expression
    )


_DECISIONS = {
    "lock_locked": "locked",
    "lock_taken_over": "taken_over",
    "lock_refused": "refused",
    "lock_unlocked": "unlocked",
    "unlock_of_other": "unlock_refused",
    "unlock_of_none": "unlock_refused",
}
_BUILDERS: dict[str, Callable[[BrokerLog, LogEvent], Fact | None]] = {
    "broker_started": BrokerLog._started,
    "broker_stopping": BrokerLog._stopping,
    "consumer_connected": BrokerLog._connected,
    "consumer_unregistered": BrokerLog._unregistered,
    "channel_closed": BrokerLog._closed,
    "channel_expired": BrokerLog._expired,
    "producer_channel_expired": BrokerLog._producer_expired,
    "subscription_added": BrokerLog._subscription_added,
    "subscription_replaced": BrokerLog._subscription_replaced,
    "subscription_removed": BrokerLog._subscription_removed,
    "consumer_registered": BrokerLog._registered,
    "consumer_registered_by_address": BrokerLog._registered,
    "list_unknown_group": BrokerLog._list_failed,
    "list_empty_group": BrokerLog._list_failed,
    "commit_rolled_back": BrokerLog._rolled_back,
    "topic_created": BrokerLog._topic,
    "topic_created_by_default": BrokerLog._topic,
    "topic_changed": BrokerLog._topic,
    **dict.fromkeys(_DECISIONS, BrokerLog._lock),
}
