"""What the logs of a store's broker say of its topics and groups: when each was created, changed and deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from pipelines.recordings.listening import Listener, Take
from pipelines.recordings.recordings import Recording
from pipelines.recordings.store_broker import one_of
from recovery.knowledge.topic_events import TopicEvent
from recovery.lives.config_states import Happening, Subject, told_settings
from recovery.lives.story import LifeEvent

if TYPE_CHECKING:
    from rebalance.readers.logs.lines.reader import LogEvent

HAPPENINGS: dict[str, tuple[Subject, Happening]] = {
    "topic_created": ("topic", Happening.CREATED),
    "topic_created_by_default": ("topic", Happening.CREATED),
    "topic_changed": ("topic", Happening.CHANGED),
    "topic_deleted": ("topic", Happening.DELETED),
    "group_created": ("group", Happening.CREATED),
    "group_changed": ("group", Happening.CHANGED),
    "group_deleted": ("group", Happening.DELETED),
}
"""Templates of the lines that tell it."""
REQUESTS = frozenset(
    {"topic_create_requested", "topic_delete_requested", "group_create_requested", "group_delete_requested"}
)
"""Templates of the lines that say who asked for it, before it is done in the same thread."""
ASKED_MS = 5_000
SAME = "its settings stayed as they were"
MOST_LINES = 1 << 18
"""Lines of one broker that are kept."""


class LifeLines(Listener):
    """What the logs of brokers tell of topics and groups that were created, changed and deleted.

    Attributes:
        by_broker: by the broker's name, in the order of the lines; brokers whose logs tell nothing are there, too.
        left_out: there were more than MOST_LINES.
    """

    def __init__(self) -> None:
        self.by_broker: dict[str, list[LifeEvent]] = {}
        self.left_out = False

    def log(self, recording: Recording) -> Take | None:
        if recording.stem != "broker":
            return None
        found = self.by_broker.setdefault(recording.source, [])
        life_event = life_events_of(recording)

        def take(event: LogEvent) -> None:
            told = life_event(event)
            if told is not None and len(found) < MOST_LINES:
                found.append(told)
            elif told is not None:
                self.left_out = True

        return take

    def of_broker(self, name: str | None) -> tuple[LifeEvent, ...]:
        """The events of the one broker that has logs; where several have, those of the broker of this name."""
        return tuple(self.by_broker.get(one_of(self.by_broker, name) or "", ()))

    def has_broker(self, name: str | None) -> bool:
        """Whether `of_broker` has a log to answer from."""
        return one_of(self.by_broker, name) is not None

    def problems(self) -> Sequence[str]:
        return (
            [f"more than {MOST_LINES} lines about topics and groups; what follows was left out"]
            if self.left_out
            else []
        )


def life_events_of(recording: Recording) -> Callable[[LogEvent], LifeEvent | None]:
    """What an entry of a broker's log tells of a topic or group, to be asked of each entry in turn."""
    asked: dict[str, LogEvent] = {}

    def life_event(event: LogEvent) -> LifeEvent | None:
        if event.template.name in REQUESTS:
            asked[_thread(event)] = event
        elif event.template.name in HAPPENINGS:
            return _life_event(event, asked.get(_thread(event)), recording.name)
        return None

    return life_event


def _thread(event: LogEvent) -> str:
    return event.head[-1] if event.head else ""


def _life_event(event: LogEvent, request: LogEvent | None, log: str) -> LifeEvent | None:
    from rebalance.readers.logs.lines.texts import settings

    (subject, happening), fields = HAPPENINGS[event.template.name], event.named_fields
    if subject == "topic":
        texts = fields.get("other_topic_config"), fields["topic_config"]
    else:
        texts = (fields["text"], fields["more"]) if happening is Happening.CHANGED else (None, fields["text"])
    before, now = (None if text is None else settings(text) for text in texts)
    name = None if now is None else now.get("topicName" if subject == "topic" else "groupName")
    if now is None or name is None:
        return None
    if happening is Happening.DELETED:
        before, now = now, None
    return LifeEvent(
        subject,
        name,
        happening,
        event.at_ms - event.early_ms,
        event.at_ms + event.late_ms,
        None if before is None else told_settings(subject, before),
        None if now is None else told_settings(subject, now),
        fields["text"] if event.template.name == "topic_created_by_default" else _asked_by(event, name, request),
        certain=True,
        reason=SAME if happening is Happening.CHANGED and before == now else None,
        evidence=f"{log}:{event.record}",
    )


def _asked_by(event: LogEvent, name: str, request: LogEvent | None) -> str | None:
    """The address that asked for it, where the line before it in its thread says so."""
    if request is None or not 0 <= event.at_ms - request.at_ms <= ASKED_MS:
        return None
    fields = request.named_fields
    is_of_kind = request.template.name.partition("_")[0] == event.template.name.partition("_")[0]
    return fields["remote"] if is_of_kind and fields.get("topic") in (None, name) else None


def topic_events(lines: Iterable[LifeEvent]) -> Iterator[TopicEvent]:
    """Every creation and deletion of a topic that the lines tell."""
    for line in lines:
        dated = line.earliest_ms is not None and line.latest_ms is not None
        if line.subject == "topic" and line.happening is not Happening.CHANGED and dated:
            kind: Literal["created", "deleted"] = "deleted" if line.happening is Happening.DELETED else "created"
            yield TopicEvent(line.name, kind, line.earliest_ms or 0, line.latest_ms or 0)
