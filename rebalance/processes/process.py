"""One consumer process: its connections and logged runs joined."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from rebalance.facts import Evidence, RebalanceResultChanged, TopicSubscription
from rebalance.facts.log_spans import LogSpans
from rebalance.model.frozen import frozen
from rebalance.model.message_queue import MessageQueue
from rebalance.model.timing import ZONE_STEP_MS
from rebalance.processes.connection import Channel, Connection, HeardVersion, ListAnswer, Witness, WitnessKind

_FIRST_REQUESTS = 16  # a starting client asks for a route or two before its first heartbeat
_AT_MS, _HEARD_MS = attrgetter("at_ms"), attrgetter("heard_ms")
_Key = TypeVar("_Key")
_Told = TypeVar("_Told")


class ProcessKey(NamedTuple):
    """A process of a group. `number` counts the processes that used this client id, in order of appearance, from 1."""

    client_id: str
    number: int


class ListAnswers:
    """The member lists that one process was answered, in time order."""

    def __init__(self, answers: Sequence[ListAnswer]) -> None:
        self._answers = answers
        self.instants = [answer.at_ms for answer in answers]

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[ListAnswer]:
        return iter(self._answers)

    def __getitem__(self, at: int) -> ListAnswer:
        return self._answers[at]

    def within(self, first_ms: int, last_ms: int) -> ListAnswers:
        """Answers with first_ms <= at_ms <= last_ms."""
        return ListAnswers(self._answers[bisect_left(self.instants, first_ms) : bisect_right(self.instants, last_ms)])

    def last_before(self, at_ms: int) -> ListAnswer | None:
        """The latest answer not after `at_ms`."""
        index = bisect_right(self.instants, at_ms)
        return self._answers[index - 1] if index else None

    def between(self, first_ms: int, last_ms: int) -> list[ListAnswer]:
        """Answers with first_ms <= at_ms <= last_ms that could change a table."""
        low, high = bisect_left(self.instants, first_ms), bisect_right(self.instants, last_ms)
        return [answer for answer in self._answers[low:high] if not answer.failed]

    def first_from(self, first_ms: int) -> ListAnswer | None:
        """The first of `between` from an instant on."""
        low = bisect_left(self.instants, first_ms)
        return next((self._answers[at] for at in range(low, len(self._answers)) if not self._answers[at].failed), None)

    def next_asked_ms(self, at_ms: int) -> int | None:
        """When the process asked for the next list after `at_ms`: the topic before was done by then."""
        index = bisect_right(self.instants, at_ms)
        return self._answers[index].asked_at_ms if index < len(self._answers) else None


@frozen(kw_only=True, eq=False)
class Process:
    """Everything the record tells about one process in one group, each list in time order.

    `connections`: what each channel tells by itself; none of a process that is cut at holes of the record.
    `subscriptions`: those of its last heartbeat that carried some.
    """

    key: ProcessKey
    channels: Sequence[Channel]
    connections: Sequence[Connection]
    message_model: str | None
    consume_type: str | None
    first_ms: int
    last_ms: int
    first_evidence: Evidence
    last_evidence: Evidence
    lists: ListAnswers
    versions: Mapping[str, Sequence[HeardVersion]]
    subscriptions: Sequence[TopicSubscription] | None
    witnesses: Mapping[MessageQueue, Sequence[Witness]]
    results: Sequence[RebalanceResultChanged]
    log_from_start: bool
    ordered: bool
    lite: bool

    @property
    def client_id(self) -> str:
        return self.key.client_id

    @property
    def newborn(self) -> bool:
        """Whether the record shows its first requests: its request numbers begin low."""
        numbers = [channel.requests[0][1] for channel in self.channels if channel.requests]
        return bool(numbers) and min(numbers) <= _FIRST_REQUESTS

    @property
    def captured(self) -> bool:
        """Whether requests of it are on record."""
        return any(channel.requests for channel in self.channels)

    @property
    def told_from_ms(self) -> int:
        """Since when the record shows its queues: its requests, or its log, which may begin later than its life."""
        logged = [channel.first_ms for channel in self.channels if channel.is_log]
        return min(logged) if logged and not self.captured else self.first_ms

    @property
    def broadcasting(self) -> bool:
        return self.message_model == "BROADCASTING"

    @property
    def left_ms(self) -> tuple[int, int] | None:
        """(not before, not after): when it first asked to leave, by the statement with the least spread."""
        asked = [(c.unregistered_late_ms, c.unregistered_ms) for c in self.channels if c.unregistered_ms is not None]
        if not asked:
            return None
        spread_ms, at_ms = min(asked)
        return at_ms, at_ms + spread_ms

    @property
    def left_by_ms(self) -> int | None:
        """The instant by which it had asked to leave: what is handled later was sent before."""
        left = self.left_ms
        return None if left is None else left[1]

    @property
    def stamped(self) -> bool:
        """Whether a change of its queues shows as a new subVersion: push consumers only, not pull or lite pull."""
        return self.consume_type == "CONSUME_PASSIVELY"

    @property
    def pulls_by_hand(self) -> bool:
        """Whether its requests do not show its queues: an application asks, when it likes, for what it likes.

        Source: RebalancePullImpl#computePullFromWhere asks for no offset; DefaultMQPullConsumerImpl#pullSyncImpl.
        """
        return self.consume_type == "CONSUME_ACTIVELY" and self.captured and not (self.lite or self.log_from_start)

    @property
    def has_log(self) -> bool:
        return any(channel.is_log for channel in self.channels)

    @property
    def has_log_without_zone(self) -> bool:
        """Whether it has a log whose time zone stayed unknown."""
        return any(seen[0].late_ms >= ZONE_STEP_MS for seen in self.witnesses.values())

    def logged_at(self, at_ms: int) -> bool:
        """Whether its own log, read from the start of the run, covers an instant."""
        return self.log_from_start and any(c.is_log and c.first_ms <= at_ms <= c.last_ms for c in self.channels)

    def log_until_ms(self, spans: LogSpans) -> int:
        """Instant of the last line of its logs, which may belong to no template, or to a later run."""
        runs = (run for run in self.channels if run.is_log)
        return max(max(run.last_ms, spans.get(run.remote.rpartition("#")[0], (0, 0))[1]) for run in runs)


def joined(connections: Sequence[Connection], number: int) -> Process:
    """The process that has these connections, in order of their first use.

    Args:
        number: see `ProcessKey`.
    """
    channels = [connection.channel for connection in connections]
    first = min(connections, key=lambda c: c.channel.first_ms)
    last = max(connections, key=lambda c: c.channel.last_ms)
    logs = [one for one in connections if one.channel.is_log]  # what a broker answered, a log tells too
    return Process(
        key=ProcessKey(first.channel.client_id, number),
        channels=channels,
        connections=connections,
        message_model=next((one.message_model for one in connections if one.message_model is not None), None),
        consume_type=next((one.consume_type for one in connections if one.consume_type is not None), None),
        first_ms=first.channel.first_ms,
        last_ms=last.channel.last_ms,
        first_evidence=first.first_evidence,
        last_evidence=last.last_evidence,
        lists=ListAnswers(sorted((answer for one in connections for answer in one.lists), key=_AT_MS)),
        versions={t: _rising(v) for t, v in _together([one.versions for one in connections], _HEARD_MS).items()},
        subscriptions=_last_subscriptions(connections),
        witnesses=_together([one.witnesses for one in connections], _AT_MS),
        results=sorted((result for one in logs or connections for result in one.results), key=_AT_MS),
        log_from_start=any(channel.from_start for channel in channels),
        ordered=any(one.ordered for one in connections),
        lite=any(one.lite for one in connections),
    )


def _last_subscriptions(connections: Sequence[Connection]) -> Sequence[TopicSubscription] | None:
    told = [one for one in connections if one.subscriptions is not None]
    return max(told, key=lambda one: one.channel.last_ms).subscriptions if told else None


def _together(told: Sequence[dict[_Key, list[_Told]]], instant: Callable[[_Told], Any]) -> dict[_Key, list[_Told]]:
    """What connections tell of each topic or queue, in time order; of a single one it is put in order where it is."""
    if len(told) == 1:
        together = told[0]
    else:
        together = {}
        for by_key in told:
            for key, one in by_key.items():
                together.setdefault(key, []).extend(one)
    for one in together.values():
        one.sort(key=instant)
    return together


def _rising(versions: list[HeardVersion]) -> list[HeardVersion]:
    rising = versions[:1]
    for heard in versions[1:]:
        if heard.sub_version > rising[-1].sub_version:
            rising.append(heard)
    return rising


def first_commits(processes: Iterable[Process]) -> dict[MessageQueue, int]:
    """When each queue was first seen committed by anybody: whoever holds it later knows its offset."""
    first: dict[MessageQueue, int] = {}
    for process in processes:
        for queue, witnesses in process.witnesses.items():
            for witness in witnesses:
                if witness.kind is WitnessKind.COMMIT:
                    first[queue] = min(witness.at_ms, first.get(queue, witness.at_ms))
                    break
    return first
