"""Recognised lines of the C++ client -> facts.

No line of it names group and queue together but the start of a pull, since v1.2.5: a queue that is dropped, committed
or locked is the group's that pulled it last, or of the only group of the log. Where several groups of a log have the
queue, such a line states nothing, and a log of an earlier version gives no facts of queues.
Source: src/consumer/Rebalance.cpp#updateRequestTableInRebalance, src/MQClientFactory.cpp#doRebalanceByConsumerGroup of
apache/rocketmq-client-cpp v1.2.5 - v2.2.0. Read by specification: no log of such a client was recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from rebalance.facts import (
    ClientFact,
    ConsumerShutdown,
    ConsumerStarting,
    Fact,
    LockAnswered,
    OffsetPersisted,
    QueueAdded,
    QueueRemoved,
    RoundSkipped,
)
from rebalance.model.message_queue import MessageQueue
from rebalance.readers.logs.facts.client import ClientLog, FactsOf
from rebalance.readers.logs.lines import texts
from rebalance.readers.logs.lines.origin import Origin
from rebalance.readers.logs.lines.reader import LogEvent

_REMOVAL_REASONS = {"cpp_queue_removed": "unnecessary", "cpp_queue_removed_pull_expired": "pull_expired"}


class CppLog(ClientLog):
    """Turns entries of a C++ client's log into facts, in the order of the log but for those that wait for their
    client's name."""

    def __init__(self, origin: Origin) -> None:
        super().__init__(origin)
        self._groups_of: dict[MessageQueue, set[str]] = {}
        self._clients: dict[str, str] = {}

    def builders(self) -> dict[str, FactsOf]:
        return {name: partial(build, self) for name, build in _BUILDERS.items()}

    def _named(self, event: LogEvent) -> Sequence[Fact]:
        group, client_id = event.named_fields["group"], event.named_fields["client_id"]
        self._clients[group] = client_id
        return self.runs.name(group, client_id)[1]

    def _begins(self, event: LogEvent) -> Sequence[Fact]:
        group = event.named_fields["group"]
        self.runs.start(group)
        for groups in self._groups_of.values():
            groups.discard(group)
        return self._group_fact(event, ConsumerStarting, group)

    def _ends(self, event: LogEvent) -> Sequence[Fact]:
        client_id, found = event.named_fields["client_id"], list[Fact]()
        for group in sorted(group for group, named in self._clients.items() if named == client_id):
            found += self._group_fact(event, ConsumerShutdown, group, finished=True)
            self.runs.shut_down(group)
            del self._clients[group]
        return found

    def _pulls(self, event: LogEvent) -> Sequence[Fact]:
        queue, group = texts.queue(event.named_fields["mq"]), event.named_fields["group"]
        if queue is None:
            return ()
        self._groups_of.setdefault(queue, set()).add(group)
        return self._group_fact(event, QueueAdded, group, queue=queue)

    def _drops(self, event: LogEvent) -> Sequence[Fact]:
        queue = texts.queue(event.named_fields["mq"])
        found = self._of_queue(event, QueueRemoved, reason=_REMOVAL_REASONS[event.template.name])
        if queue is not None and found is not None:
            self._groups_of.pop(queue, None)
        return found or ()

    def _commits(self, event: LogEvent) -> Sequence[Fact]:
        offset = int(event.named_fields["queue_offset"])
        return self._of_queue(event, OffsetPersisted, queue_offset=offset) or ()

    def _locks(self, event: LogEvent) -> Sequence[Fact]:
        is_again = event.template.name == "cpp_locked_again"
        return self._of_queue(event, LockAnswered, granted=True, renewal=is_again) or ()

    def _skips(self, event: LogEvent) -> Sequence[Fact]:
        fields = event.named_fields
        return self._group_fact(event, RoundSkipped, fields["group"], topic=fields["topic"], reason="list_failed")

    def _of_queue(self, event: LogEvent, fact_type: type[ClientFact], **told: object) -> Sequence[Fact] | None:
        """A fact of the one group whose queue it is; None where several have it, or none is known."""
        queue = texts.queue(event.named_fields["mq"])
        groups = set[str]() if queue is None else self._groups_of.get(queue, set())
        group = next(iter(groups)) if len(groups) == 1 else None if groups else self.runs.only_group()
        if queue is None or group is None:
            return None
        return self._group_fact(event, fact_type, group, queue=queue, **told)


_BUILDERS: dict[str, Callable[[CppLog, LogEvent], Sequence[Fact]]] = {
    "cpp_consumer_starting": CppLog._begins,
    "cpp_client_shutdown": CppLog._ends,
    "cpp_round_begins": CppLog._named,
    "cpp_result_changed": CppLog._named,
    "cpp_pull_started": CppLog._pulls,
    "cpp_list_empty": CppLog._skips,
    "cpp_offset_persisted": CppLog._commits,
    "cpp_locked": CppLog._locks,
    "cpp_locked_again": CppLog._locks,
    **dict.fromkeys(_REMOVAL_REASONS, CppLog._drops),
}
