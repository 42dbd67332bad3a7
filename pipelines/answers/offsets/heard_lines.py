"""What the lines of logs, and captures, say of offsets and of who is connected: heard apart for each broker."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipelines.answers.offsets.record import GroupQueueKey, OffsetRecord, Presence, Statement
from pipelines.recordings.kinds import BROKER_STEMS
from pipelines.recordings.listening import Listener, Take
from pipelines.recordings.recordings import Recording
from pipelines.recordings.store_broker import broker_among, several
from pipelines.recordings.topic_log import life_events_of
from rebalance.facts import Fact, OffsetCommitted
from rebalance.readers.logs.facts.offset_lines import LineKind, OffsetLine, offset_lines
from rebalance.readers.logs.lines import texts
from rebalance.readers.logs.lines.reader import LogEvent, LogSummary
from recovery.lives.config_states import Happening

STARTING = frozenset({"broker_started", "broker_holds_pulls"})
"""Lines of a broker that starts; only BrokerStartup prints the first of them, no broker in a container or test does."""
REGISTERED = frozenset({"consumer_registered", "consumer_registered_by_address"})
STOPPING = frozenset({"broker_stopping", "broker_holds_no_pulls", "broker_unregistered"})
"""Lines of a broker that stops: those who leave from then on lose their connection."""
MOST_STATEMENTS = 1 << 20
"""Statements kept of all recordings together; commits are kept apart, 16 bytes each."""
UNNAMED = ""
"""The broker of lines of clients that name none."""


class OffsetLines(Listener):
    """Gathers an `OffsetRecord` of the logs and captures that are read."""

    hears_captures = True

    def __init__(self) -> None:
        self._by_broker: dict[str, OffsetRecord] = {}
        self._logged: set[str] = set()
        self._named: set[str] = set()
        self._commits = OffsetRecord()
        self._statements = 0

    def record(self, own: str | None = None) -> OffsetRecord:
        """What was said of one broker, in order of time; to be asked once all is read.

        Args:
            own: the name of the store's broker. Of recordings of several brokers nothing but commits is taken where
                it is not known; commits are kept by broker.
        """
        mine = {UNNAMED, *(broker_among(self._logged, self._named, own) or ())}
        record = OffsetRecord(commits=self._commits.commits)
        for broker, said in self._by_broker.items():
            if broker in mine:
                record.add(said)
        record.put_in_order()
        return record

    def why_none(self, own: str | None = None) -> str | None:
        """Why nothing is taken of what was said: None where something is."""
        is_known = broker_among(self._logged, self._named, own) is not None
        return None if is_known else several(self._logged, self._named)

    def problems(self) -> Sequence[str]:
        is_left_out = self._statements > MOST_STATEMENTS
        return [f"more than {MOST_STATEMENTS} lines about offsets; what follows was left out"] if is_left_out else []

    def log(self, recording: Recording) -> Take | None:
        is_brokers = recording.stem in BROKER_STEMS
        source = recording.source if is_brokers else UNNAMED
        own = self._of(source)
        if is_brokers:
            self._logged.add(source)

        life_event = life_events_of(recording)

        def take(event: LogEvent) -> None:
            _note_presence(own, event)
            life = life_event(event)
            if life is not None and life.happening is Happening.DELETED:
                own.deletions.setdefault((life.subject, life.name), []).append(life)
            for line in offset_lines(event):
                key = _key(line)
                if line.broker is not None and not is_brokers:
                    self._named.add(line.broker)
                if line.kind is LineKind.COMMITTED and key is not None and line.after is not None:
                    self._commits.add_commit(key, line.broker or source, line.at_ms, line.after)
                    continue
                self._statements += 1
                if self._statements <= MOST_STATEMENTS:
                    said = own if is_brokers else self._of(line.broker or UNNAMED)
                    said.statements.append(Statement(line, f"{recording.name}:{line.record}"))

        return take

    def ended(self, recording: Recording, summary: LogSummary) -> None:
        first, last = summary.first, summary.last
        if first is not None and last is not None and recording.stem == "broker":
            self._of(recording.source).covered.append((first[0][0], last[0][0]))

    def captured(self, fact: Fact) -> None:
        if isinstance(fact, OffsetCommitted):
            key = (fact.group, fact.queue.topic, fact.queue.queue_id)
            self._named.add(fact.queue.broker_name)
            self._commits.add_commit(key, fact.queue.broker_name, fact.at_ms, fact.queue_offset)

    def _of(self, broker: str) -> OffsetRecord:
        return self._by_broker.setdefault(broker, OffsetRecord())


def _key(line: OffsetLine) -> GroupQueueKey | None:
    if line.group is None or line.topic is None or line.queue_id is None:
        return None
    return line.group, line.topic, line.queue_id


def _note_presence(record: OffsetRecord, event: LogEvent) -> None:
    """Who connected and who went, by the broker's log."""
    note = _PRESENCE.get(event.template.name)
    if note is not None:
        note(record, event)


def _boots(record: OffsetRecord, event: LogEvent) -> None:
    record.boots.append(event.at_ms - event.early_ms)


def _stops(record: OffsetRecord, event: LogEvent) -> None:
    record.stops.append(event.at_ms - event.early_ms)


def _nobody(record: OffsetRecord, event: LogEvent) -> None:
    presence = record.presence.setdefault(event.named_fields["group"], Presence())
    presence.nobody_ms.append(event.at_ms + event.late_ms)


def _came(record: OffsetRecord, event: LogEvent) -> None:
    fields = event.named_fields
    channel = texts.channel_info(fields["channel_info"])
    if channel.remote is None:
        return
    _change(record, fields["group"], event.at_ms - event.early_ms, channel.remote, is_there=True)
    if channel.client_id is not None and len(record.clients) < MOST_STATEMENTS:
        record.clients[channel.remote] = channel.client_id


def _registered(record: OffsetRecord, event: LogEvent) -> None:
    """A heartbeat that brought a new connection or subscription; whoever logs apart what ConsumerGroupInfo says has no
    other line of who came."""
    fields = event.named_fields
    told = texts.consumer_data(fields["consumer_data"])
    if told is not None:
        at_ms, remote = event.at_ms - event.early_ms, texts.address(fields["remote"])
        _change(record, told.group, at_ms, remote, is_there=True)


def _went(record: OffsetRecord, event: LogEvent) -> None:
    fields = event.named_fields
    remote = texts.channel_info(fields["channel_info"]).remote
    if remote is not None:
        _change(record, fields["group"], event.at_ms + event.late_ms, remote, is_there=False)


def _expired(record: OffsetRecord, event: LogEvent) -> None:
    fields = event.named_fields
    _change(record, fields["group"], event.at_ms + event.late_ms, texts.address(fields["remote"]), is_there=False)


def _change(record: OffsetRecord, group: str, at_ms: int, remote: str, *, is_there: bool) -> None:
    record.presence.setdefault(group, Presence()).changes.append((at_ms, remote, is_there))


_PRESENCE: dict[str, Callable[[OffsetRecord, LogEvent], None]] = {
    **dict.fromkeys(STARTING, _boots),
    **dict.fromkeys(STOPPING, _stops),
    "group_gone": _nobody,
    "consumer_connected": _came,
    **dict.fromkeys(REGISTERED, _registered),
    "consumer_unregistered": _went,
    "channel_closed": _went,
    "channel_expired": _expired,
}
"""What lines of a broker's log, by their templates, say of who is there."""
