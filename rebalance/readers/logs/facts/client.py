"""Recognised lines of a client -> facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rebalance.facts import (
    ClientFact,
    ConsumerShutdown,
    ConsumerStarted,
    ConsumerStarting,
    Fact,
    LockAnswered,
    Notified,
    OffsetPersisted,
    PopQueueAdded,
    PullNotLocked,
    QueueAdded,
    QueueAddFailed,
    QueueRemoved,
    RebalanceResultChanged,
    RoundSkipped,
    RouteSeen,
    SubscriptionVersionBumped,
)
from rebalance.readers.logs.facts.client_runs import ClientRuns
from rebalance.readers.logs.lines import texts
from rebalance.readers.logs.lines.origin import Origin
from rebalance.readers.logs.lines.reader import LogEvent

FactsOf = Callable[[LogEvent], Sequence[Fact]]


class ClientLog:
    """Turns entries into facts, in the order of the log but for those that wait for their client's name."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.runs = ClientRuns()
        self._shut_down: set[tuple[str, int]] = set()
        self._group_of_topic: dict[str, str] = {}

    def builders(self) -> dict[str, FactsOf]:
        """Template name -> the facts that an entry of it completes, mostly one or none."""
        return {name: partial(build, self) for name, build in _BUILDERS.items()}

    def _group_fact(self, event: LogEvent, fact_type: type[ClientFact], group: str, **told: object) -> Sequence[Fact]:
        client_id, number = self.runs.who(group)
        fact = fact_type(**self.origin.when(event), group=group, client_id=client_id, process=number, **told)
        return (fact,) if client_id is not None else self.runs.pass_on(fact)

    def _client_fact(
        self, event: LogEvent, fact_type: type[ClientFact], group: str, client_id: str, **told: object
    ) -> Sequence[Fact]:
        number, waited = self.runs.name(group, client_id)
        fact = fact_type(**self.origin.when(event), group=group, client_id=client_id, process=number, **told)
        return (*waited, fact)

    def _queue_fact(self, event: LogEvent, fact_type: type[ClientFact], **told: object) -> Sequence[Fact]:
        group, text = event.fields[:2]
        queue = texts.queue(text)
        return () if queue is None else self._group_fact(event, fact_type, group, queue=queue, **told)

    def _instance_created(self, event: LogEvent) -> Sequence[Fact]:
        self.runs.new_index(event.fields[0])
        return ()

    def _instance_named(self, event: LogEvent) -> Sequence[Fact]:
        return self.runs.new_instance(event.fields[0])

    def _starting(self, event: LogEvent) -> Sequence[Fact]:
        group, message_model, _ = event.fields
        self.runs.start(group)
        return self._group_fact(event, ConsumerStarting, group, message_model=message_model)

    def _started(self, event: LogEvent) -> Sequence[Fact]:
        group = event.fields[0]
        unannounced, waited = self.runs.started(group)
        starting = self._group_fact(event, ConsumerStarting, group) if unannounced else ()  # a pull consumer's
        return (*waited, *starting, *self._group_fact(event, ConsumerStarted, group))

    def _unregistered(self, event: LogEvent) -> Sequence[Fact]:
        group = event.fields[1]
        return () if group == "null" else self._leaving(event, group)

    def _consumer_shutdown(self, event: LogEvent) -> Sequence[Fact]:
        group = event.fields[0]
        facts = self._group_fact(event, ConsumerShutdown, group, finished=True)
        self.runs.shut_down(group)
        return facts

    def _leaving(self, event: LogEvent, group: str) -> Sequence[Fact]:
        run = (group, self.runs.who(group)[1])
        if run in self._shut_down:
            return ()
        self._shut_down.add(run)
        return self._group_fact(event, ConsumerShutdown, group)

    def _notified(self, event: LogEvent) -> Sequence[Fact]:
        address, group = event.fields
        return self._group_fact(event, Notified, group, broker_address=address)

    def _result(self, event: LogEvent) -> Sequence[Fact]:
        strategy, group, topic, client_id, mq_all_size, cid_all_size, _, target = event.fields
        self._group_of_topic[topic] = group
        return self._client_fact(
            event,
            RebalanceResultChanged,
            group,
            client_id,
            strategy=strategy,
            topic=topic,
            mq_all_size=int(mq_all_size),
            cid_all_size=int(cid_all_size),
            target=texts.queues(target),
        )

    def _unsized_result(self, event: LogEvent) -> Sequence[Fact]:
        strategy, group, topic, client_id, *_, target = event.fields
        told = {"strategy": strategy, "topic": topic, "target": texts.queues(target)}
        return self._client_fact(
            event, RebalanceResultChanged, group, client_id, mq_all_size=None, cid_all_size=None, **told
        )

    def _broadcast(self, event: LogEvent) -> Sequence[Fact]:
        group, topic, every, target = event.fields
        told = {"strategy": "BROADCASTING", "topic": topic, "target": texts.queues(target)}
        size = len(texts.queues(every))
        return self._group_fact(event, RebalanceResultChanged, group, mq_all_size=size, cid_all_size=None, **told)

    def _bumped(self, event: LogEvent) -> Sequence[Fact]:
        topic, old, new = event.fields
        group = self._group_of_topic.get(topic) or self.runs.only_group()  # the result line comes just before
        if group is None:
            return ()
        told = {"topic": topic, "old_sub_version": int(old), "new_sub_version": int(new)}
        return self._group_fact(event, SubscriptionVersionBumped, group, **told)

    def _added(self, event: LogEvent) -> Sequence[Fact]:
        return self._queue_fact(event, QueueAdded)

    def _pop_added(self, event: LogEvent) -> Sequence[Fact]:
        return self._queue_fact(event, PopQueueAdded)

    def _add_failed(self, event: LogEvent) -> Sequence[Fact]:
        reason = "lock" if event.template.name == "queue_add_lock_failed" else "offset"
        return self._queue_fact(event, QueueAddFailed, reason=reason)

    def _removed(self, event: LogEvent) -> Sequence[Fact]:
        return self._queue_fact(event, QueueRemoved, reason=_REMOVAL_REASONS[event.template.name])

    def _lock(self, event: LogEvent) -> Sequence[Fact]:
        outcome, group, text = event.fields
        queue = texts.queue(text)
        if queue is None:
            return ()
        renewal = event.template.name == "lock_renewed"
        return self._group_fact(event, LockAnswered, group, queue=queue, granted=outcome == "OK", renewal=renewal)

    def _not_locked(self, event: LogEvent) -> Sequence[Fact]:
        asked = texts.pull_request(event.fields[0])
        return () if asked is None else self._group_fact(event, PullNotLocked, asked[0], queue=asked[1])

    def _persisted(self, event: LogEvent) -> Sequence[Fact]:
        group, client_id, text, queue_offset = event.fields
        queue = texts.queue(text)
        if queue is None:
            return ()
        number, waited = self.runs.name(group, client_id)
        fact = OffsetPersisted(
            **self.origin.when(event),
            group=group,
            client_id=client_id,
            process=number,
            queue=queue,
            queue_offset=int(queue_offset),
        )
        return (*waited, fact)

    def _skipped(self, event: LogEvent) -> Sequence[Fact]:
        fields = event.named_fields
        group = fields.get("group") or self.runs.only_group()
        if group is None:
            return ()
        reason = event.template.name
        return self._group_fact(event, RoundSkipped, group, topic=fields.get("topic"), reason=reason)

    def _route(self, event: LogEvent) -> Sequence[Fact]:
        topic, _, text = event.fields
        queues = texts.route(topic, text)
        if queues is None:
            return ()
        client_id = self.runs.only_instance()
        return (RouteSeen(**self.origin.when(event), topic=topic, queues=queues, client_id=client_id),)


_REMOVAL_REASONS = {
    "queue_removed": "unnecessary",
    "queue_removed_pull_expired": "pull_expired",
    "queue_removed_not_my_topic": "not_my_topic",
    "queue_removed_offset_repair": "offset_repair",
}
_SKIPPED = ("topic_unknown", "list_failed", "not_in_list", "strategy_failed")
_BUILDERS: dict[str, Callable[[ClientLog, LogEvent], Sequence[Fact]]] = {
    "instance_created": ClientLog._instance_created,
    "instance_named": ClientLog._instance_named,
    "consumer_starting": ClientLog._starting,
    "consumer_started": ClientLog._started,
    "client_unregistered": ClientLog._unregistered,
    "consumer_shutdown": ClientLog._consumer_shutdown,
    "notified": ClientLog._notified,
    "result_changed": ClientLog._result,
    "broker_result_changed": ClientLog._unsized_result,
    "result_changed_unsized": ClientLog._unsized_result,
    "broadcast_changed": ClientLog._broadcast,
    "version_bumped": ClientLog._bumped,
    "queue_added": ClientLog._added,
    "pop_queue_added": ClientLog._pop_added,
    "queue_add_lock_failed": ClientLog._add_failed,
    "queue_add_offset_failed": ClientLog._add_failed,
    "lock_answered": ClientLog._lock,
    "lock_renewed": ClientLog._lock,
    "pull_not_locked": ClientLog._not_locked,
    "offset_persisted": ClientLog._persisted,
    "route_changed": ClientLog._route,
    **dict.fromkeys(_REMOVAL_REASONS, ClientLog._removed),
    **dict.fromkeys(_SKIPPED, ClientLog._skipped),
}
