"""What groups subscribe to, by the heartbeats of captures and by a broker's log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pipelines.recordings.listening import Listener, Take
from pipelines.recordings.recordings import Recording
from rebalance.facts import Fact, HeartbeatReceived, TopicSubscription
from rebalance.readers.logs.lines import texts

if TYPE_CHECKING:
    from rebalance.readers.logs.lines.reader import LogEvent

MOST = 1 << 16
"""Subscriptions and expressions that are kept."""
Place = tuple[str, str, str]
"""(broker, group, topic)."""


class Said(NamedTuple):
    """One expression of a group for a topic.

    Attributes:
        sub_version: the newest that came with it; the broker goes by the newest of a group.
        first_ms, last_ms: when it was heard first and last.
        evidence: where it was heard last.
    """

    expression: str
    expression_type: str | None
    sub_version: int
    first_ms: int
    last_ms: int
    evidence: str


class HeardSubscription(NamedTuple):
    """What a broker goes by, and expressions that members of the group sent since and that it passes over."""

    said: Said
    others: tuple[str, ...]


class SubscriptionsHeard(Listener):
    """Gathers subscriptions as a broker does: the newest subVersion counts, and a topic that a heartbeat leaves out
    goes.

    Source: ConsumerGroupInfo#updateSubscription @4.2.0, 5.3.3.
    """

    hears_captures = True

    def __init__(self) -> None:
        self._said: dict[Place, dict[tuple[str, str | None], Said]] = {}
        self._removed: dict[Place, int] = {}
        self._topics: dict[tuple[str, str], set[str]] = {}
        self._kept = 0

    def problems(self) -> Sequence[str]:
        what = f"more than {MOST} subscriptions of groups; what follows was left out"
        return [what] if self._kept > MOST else []

    def log(self, recording: Recording) -> Take | None:
        def take(event: LogEvent) -> None:
            tell = _LINES.get(event.template.name)
            if tell is not None:
                tell(self, event, recording)

        return take

    def captured(self, fact: Fact) -> None:
        if isinstance(fact, HeartbeatReceived) and fact.subscriptions:
            at = fact.at_ms, fact.last_at_ms or fact.at_ms
            self._heartbeat((fact.source, fact.group), fact.subscriptions, at, str(fact.evidence))

    def _heartbeat(
        self, where: tuple[str, str], told: Sequence[TopicSubscription], at: tuple[int, int], evidence: str
    ) -> None:
        for each in told:
            self._note(*where, each, at, evidence)
        for topic in self._topics.get(where, set()) - {each.topic for each in told}:
            self._remove((*where, topic), at[0])

    def brokers(self) -> set[str]:
        """Who heard any."""
        return {broker for broker, _, _ in self._said}

    def of(self, brokers: Collection[str]) -> Mapping[tuple[str, str], HeardSubscription]:
        """By group and topic what these brokers go by where the recordings end."""
        found: dict[tuple[str, str], HeardSubscription] = {}
        for (broker, group, topic), said in self._said.items():
            newest = max(said.values(), key=lambda each: (each.sub_version, each.last_ms))
            last_ms = max(each.last_ms for each in said.values())
            if broker in brokers and self._removed.get((broker, group, topic), -1) <= last_ms:
                others = {each.expression for each in said.values() if each.last_ms >= newest.first_ms}
                found[group, topic] = HeardSubscription(newest, tuple(sorted(others - {newest.expression})))
        return found

    def _note(self, broker: str, group: str, told: TopicSubscription, at: tuple[int, int], evidence: str) -> None:
        if told.expression is None:
            return
        said = self._said.get((broker, group, told.topic), {})
        key = told.expression, told.expression_type
        known, version = said.get(key), told.sub_version or 0
        if known is None:
            self._kept += 1
            if self._kept <= MOST:
                said[key] = Said(*key, version, *at, evidence)
                self._said[broker, group, told.topic] = said
                self._topics.setdefault((broker, group), set()).add(told.topic)
        elif at[1] >= known.last_ms:
            said[key] = Said(*key, max(version, known.sub_version), min(at[0], known.first_ms), at[1], evidence)

    def _remove(self, place: Place, at_ms: int) -> None:
        self._removed[place] = max(at_ms, self._removed.get(place, at_ms))

    def _line(self, event: LogEvent, recording: Recording, text: str) -> None:
        for each in texts.subscriptions(text):
            at = event.at_ms - event.early_ms, event.at_ms + event.late_ms
            self._note(recording.source, event.named_fields["group"], each, at, f"{recording.name}:{event.record}")

    def _added(self, event: LogEvent, recording: Recording) -> None:
        self._line(event, recording, event.named_fields["subscription"])

    def _replaced(self, event: LogEvent, recording: Recording) -> None:
        self._line(event, recording, event.named_fields["other_subscription"])

    def _registered(self, event: LogEvent, recording: Recording) -> None:
        """A heartbeat that changed something: all that a client subscribes to. A broker whose log has not what
        ConsumerGroupInfo says has no other line of it."""
        told = texts.consumer_data(event.named_fields["consumer_data"])
        if told is not None and told.subscriptions:
            at = event.at_ms - event.early_ms, event.at_ms + event.late_ms
            where, evidence = (recording.source, told.group), f"{recording.name}:{event.record}"
            self._heartbeat(where, told.subscriptions, at, evidence)

    def _gone(self, event: LogEvent, recording: Recording) -> None:
        fields = event.named_fields
        self._remove((recording.source, fields["group"], fields["topic"]), event.at_ms + event.late_ms)


_LINES: dict[str, Callable[[SubscriptionsHeard, LogEvent, Recording], None]] = {
    "consumer_registered": SubscriptionsHeard._registered,
    "consumer_registered_by_address": SubscriptionsHeard._registered,
    "subscription_added": SubscriptionsHeard._added,
    "subscription_replaced": SubscriptionsHeard._replaced,
    "subscription_removed": SubscriptionsHeard._gone,
}
