"""Recognised lines of the Go client -> facts.

A log shows a consumer's table where its level shows rounds: at INFO since v2.1.2, before at DEBUG. No line says the
version, so a run's facts begin with the first round that is logged; a log without any gives none.
Source: consumer/consumer.go#doBalance, #updateProcessQueueTable of apache/rocketmq-client-go v2.0.0 - v2.1.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from rebalance.facts import (
    ClientFact,
    ConsumerShutdown,
    ConsumerStarting,
    Fact,
    LockAnswered,
    Notified,
    OffsetPersisted,
    QueueAdded,
    QueueAddFailed,
    QueueRemoved,
    RebalanceResultChanged,
    RoundSkipped,
)
from rebalance.model.message_queue import MessageQueue
from rebalance.model.timing import ROUND_MS
from rebalance.readers.logs.lines import texts
from rebalance.readers.logs.lines.origin import Origin, When
from rebalance.readers.logs.lines.reader import LogEvent

FactsOf = Callable[[LogEvent], Sequence[Fact]]
_REMOVAL_REASONS = {
    "go_queue_removed": "unnecessary",
    "go_queue_removed_pull_expired": "pull_expired",
    "go_queue_removed_not_my_topic": "not_my_topic",
}
_ADD_FAILURES = {"go_queue_add_lock_failed": "lock", "go_queue_add_offset_failed": "offset"}
_SKIPPED = ("go_topic_unknown", "go_list_failed", "go_not_in_list")


@dataclass(slots=True)
class _Run:
    """One run of a group's consumer in this log.

    Attributes:
        client_id: None until a round named it: until then the log may hide the table, and gives no facts.
        began: whether its start is in this log. started: that start, until its fact is handed on.
        topics: those of which a round was logged.
        held: queues of its table. fetched: the last sign that a queue is being added, as the question for its offset.
        failed: targets of the round under way that were not added.
    """

    number: int
    client_id: str | None = None
    began: bool = False
    started: tuple[When, str] | None = None
    topics: set[str] = field(default_factory=set)
    held: set[MessageQueue] = field(default_factory=set)
    fetched: dict[MessageQueue, When] = field(default_factory=dict)
    failed: set[MessageQueue] = field(default_factory=set)
    leaves: bool = False


class GoLog:
    """Turns entries of a Go client's log into facts, in the order of the log."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self._runs: dict[str, _Run] = {}

    def builders(self) -> dict[str, FactsOf]:
        """Template name -> the facts that an entry of it completes."""
        return {name: partial(build, self) for name, build in _BUILDERS.items()}

    def _run(self, group: str) -> _Run:
        return self._runs.setdefault(group, _Run(0))

    def _told(self, event: LogEvent, fact_type: type[ClientFact], **told: object) -> Sequence[Fact]:
        """A fact of the run that a line is of, once the log has named it."""
        group = event.named_fields["group"]
        run = self._run(group)
        return () if run.client_id is None else (self._fact(run, group, self.origin.when(event), fact_type, **told),)

    def _fact(self, run: _Run, group: str, when: When, fact_type: type[ClientFact], **told: object) -> Fact:
        return fact_type(**when, group=group, client_id=run.client_id, process=run.number, **told)

    def _starting(self, event: LogEvent) -> Sequence[Fact]:
        fields = event.named_fields
        group, last = fields["group"], self._runs.get(fields["group"])
        started = self.origin.when(event), fields["message_model"].upper()
        self._runs[group] = _Run(0 if last is None else last.number + 1, began=True, started=started)
        return ()

    def _fetched(self, event: LogEvent) -> Sequence[Fact]:
        fields = event.named_fields
        run, queue = self._run(fields["group"]), texts.queue(fields["mq"])
        if queue is not None and queue not in run.held:
            run.fetched[queue] = self.origin.when(event)
            run.failed.discard(queue)
        return ()

    def _result(self, event: LogEvent) -> Sequence[Fact]:
        fields = event.named_fields
        group, client_id = fields["group"], fields["client_id"]
        run, when, target = self._run(group), self.origin.when(event), texts.queues(fields["mqs"])
        if run.client_id not in (None, client_id):
            run = self._runs[group] = _Run(run.number + 1)
        run.client_id = client_id
        return [*self._start_of(run, group), *self._round(run, group, when, target, fields)]

    def _start_of(self, run: _Run, group: str) -> Iterator[Fact]:
        if run.started is not None:
            when, message_model = run.started
            run.started = None
            yield self._fact(run, group, when, ConsumerStarting, message_model=message_model)

    def _round(
        self, run: _Run, group: str, when: When, target: Sequence[MessageQueue], fields: dict[str, str]
    ) -> Iterator[Fact]:
        """The round's result, and the queues that it added: they came after their offsets were asked for."""
        sizes = {"mq_all_size": int(fields["mq_all_size"]), "cid_all_size": int(fields["cid_all_size"])}
        for queue in target:
            yield from self._added(run, group, when, queue)
        run.topics.add(fields["topic"])
        told = {"strategy": None, "topic": fields["topic"], "target": target}
        yield self._fact(run, group, when, RebalanceResultChanged, **sizes, **told)
        run.fetched = {queue: since for queue, since in run.fetched.items() if queue.topic != fields["topic"]}
        run.failed = {queue for queue in run.failed if queue.topic != fields["topic"]}

    def _added(self, run: _Run, group: str, when: When, queue: MessageQueue) -> Iterator[Fact]:
        """A line shows the queue in the table. It came there within this log, if that has the run's start, or a round
        of the topic before."""
        if queue in run.held or queue in run.failed:
            return
        run.held.add(queue)
        if run.began or queue.topic in run.topics:
            yield self._fact(run, group, _between(run.fetched.get(queue), when), QueueAdded, queue=queue)

    def _removed(self, event: LogEvent) -> Sequence[Fact]:
        fields = event.named_fields
        queue = texts.queue(fields["mq"])
        if queue is None:
            return ()
        self._run(fields["group"]).held.discard(queue)
        return self._told(event, QueueRemoved, queue=queue, reason=_REMOVAL_REASONS[event.template.name])

    def _add_failed(self, event: LogEvent) -> Sequence[Fact]:
        fields = event.named_fields
        queue = texts.queue(fields["mq"])
        if queue is None:
            return ()
        self._run(fields["group"]).failed.add(queue)
        return self._told(event, QueueAddFailed, queue=queue, reason=_ADD_FAILURES[event.template.name])

    def _notified(self, event: LogEvent) -> Sequence[Fact]:
        return self._told(event, Notified)

    def _skipped(self, event: LogEvent) -> Sequence[Fact]:
        topic, reason = event.named_fields.get("topic"), event.template.name.removeprefix("go_")
        return self._told(event, RoundSkipped, topic=topic, reason=reason)

    def _lock(self, event: LogEvent) -> Sequence[Fact]:
        fields = event.named_fields
        queue = texts.queue(fields["mq"])
        return (
            () if queue is None else self._told(event, LockAnswered, queue=queue, granted=fields["outcome"] == "true")
        )

    def _persisted(self, event: LogEvent) -> Sequence[Fact]:
        """A queue that is committed after its offset was asked for has been added in between."""
        fields = event.named_fields
        run, queue = self._run(fields["group"]), texts.queue(fields["mq"])
        if queue is None or run.client_id is None:
            return ()
        when = self.origin.when(event)
        added = self._added(run, fields["group"], when, queue) if queue in run.fetched else ()
        return [*added, *self._told(event, OffsetPersisted, queue=queue, queue_offset=int(fields["queue_offset"]))]

    def _leaving(self, event: LogEvent) -> Sequence[Fact]:
        """The threads of a client end: its consumers have persisted and left before."""
        finished = event.template.name == "go_client_removed"
        return [
            self._fact(run, group, self.origin.when(event), ConsumerShutdown, finished=finished)
            for group, run in self._runs.items()
            if run.client_id == event.named_fields["client_id"] and self._leaves(run, finished)
        ]

    def _leaves(self, run: _Run, finished: bool) -> bool:
        """Whether a line of the run's end is the first, or the last."""
        known, run.leaves = run.leaves, True
        return finished or not known


def _between(fetched: When | None, when: When) -> When:
    """From the question for a queue's offset, or a round's length, to the end of the round."""
    end_ms = when["at_ms"] + when["late_ms"]
    if fetched is None:
        return {**when, "early_ms": when["early_ms"] + ROUND_MS}
    return {**fetched, "late_ms": max(end_ms - fetched["at_ms"], 0)}


_BUILDERS: dict[str, Callable[[GoLog, LogEvent], Sequence[Fact]]] = {
    "go_consumer_starting": GoLog._starting,
    "go_offset_fetched": GoLog._fetched,
    "go_queue_added": GoLog._fetched,
    "go_result_changed": GoLog._result,
    "go_notified": GoLog._notified,
    "go_lock_answered": GoLog._lock,
    "go_offset_persisted": GoLog._persisted,
    "go_thread_ends": GoLog._leaving,
    "go_client_removed": GoLog._leaving,
    **dict.fromkeys(_REMOVAL_REASONS, GoLog._removed),
    **dict.fromkeys(_ADD_FAILURES, GoLog._add_failed),
    **dict.fromkeys(_SKIPPED, GoLog._skipped),
}
