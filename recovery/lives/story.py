"""What happened to topics and groups: created, changed, deleted, created again, vanished.

Lines of the broker's log come first: they give the second. Changes that only two saved files show come next. The log's
messages come last: a life began no later than its first message, and ended after its last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from parsers.values.topics import is_brokers_own
from recovery.knowledge.topic_events import DELETION_MS
from recovery.lives.config_states import ConfigChange, Happening, Settings, Subject
from recovery.lives.life import TopicLife, TopicLives
from recovery.lives.topics_known import TopicsKnown

NEAR_MS = 2_000
"""The second of a line and the broker's clock: so far a line and a file may stand apart that tell of one change."""
BY_MESSAGES = "only its messages tell it: it was there when the first one that the log still has was stored"
BEGINS = frozenset({Happening.CREATED, Happening.CREATED_AGAIN})


@dataclass(frozen=True, slots=True)
class LifeEvent:
    """Something that happened to a topic or a group, in [earliest_ms, latest_ms] (epoch ms; None: not known).

    Attributes:
        life: which life of a topic begins, ends or goes on with it; None where the log has no message of that life.
        before, after: its settings, by Java's names; None where not known.
        by: who asked for it: an address; a producer whose message made the topic.
        reason: what else could explain the sources, or why something is not known; None where nothing.
    """

    subject: Subject
    name: str
    happening: Happening
    earliest_ms: int | None
    latest_ms: int | None
    before: Settings | None
    after: Settings | None
    by: str | None
    certain: bool
    reason: str | None
    evidence: str
    life: int | None = None

    def differences(self) -> tuple[str | None, str | None]:
        """What was set before and after, as texts: of a change only what differs."""
        before, after = self.before or {}, self.after or {}
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return _text(before, names), _text(after, names)


def _text(settings: Settings, names: Iterable[str]) -> str | None:
    return ", ".join(f"{name}={settings[name]}" for name in names if name in settings) or None


def story(
    lines: Sequence[LifeEvent],
    changes: Mapping[Subject, Iterable[ConfigChange]],
    lives: TopicLives,
    config: TopicsKnown,
) -> list[LifeEvent]:
    """Everything that is known to have happened, in order of time; `lines`: what the broker's log tells."""
    told: dict[tuple[Subject, str], list[LifeEvent]] = {}
    for line in lines:
        told.setdefault((line.subject, line.name), []).append(line)
    for subject, found in changes.items():
        for change in found:
            of_name = told.setdefault((subject, change.name), [])
            if not _is_told(change, of_name):
                of_name.append(_of_change(subject, change))
    for topic, of_topic in lives.topics.items():
        known = told.setdefault(("topic", topic), [])
        known[:] = _with_lives(topic, known, of_topic, config)
    events = [event for of_name in told.values() for event in _again(of_name)]
    return sorted(events, key=_order)


def _order(event: LifeEvent) -> tuple[int, int, str, str, bool]:
    latest = event.latest_ms if event.latest_ms is not None else event.earliest_ms or 0
    return latest, event.earliest_ms or 0, event.subject, event.name, event.happening in BEGINS


def _is_told(change: ConfigChange, lines: Sequence[LifeEvent]) -> bool:
    """Whether lines within the window of a change end with what the newer file has."""
    within = [line for line in lines if _overlaps(line, change.after_ms - NEAR_MS, change.until_ms + NEAR_MS)]
    if not within:
        return False
    if change.after is None:
        return within[-1].happening is Happening.DELETED
    last = within[-1].after
    return last is not None and all(change.after.get(name, value) == value for name, value in last.items())


def _overlaps(event: LifeEvent, from_ms: int, until_ms: int) -> bool:
    return (event.earliest_ms or 0) <= until_ms and (event.latest_ms is None or event.latest_ms >= from_ms)


def _of_change(subject: Subject, change: ConfigChange) -> LifeEvent:
    return LifeEvent(
        subject,
        change.name,
        change.happening,
        change.after_ms,
        change.until_ms,
        change.before,
        change.after,
        None,
        certain=not change.why_unsure,
        reason=change.why_unsure or None,
        evidence=change.evidence,
    )


def _with_lives(
    topic: str, known: Sequence[LifeEvent], lives: Sequence[TopicLife], config: TopicsKnown
) -> list[LifeEvent]:
    """The events of a topic, each with its life, and those that its messages alone show."""
    events = sorted(known, key=_order)
    for life in lives:
        before = lives[life.life - 2] if life.life > 1 else None
        behind = lives[life.life] if life.life < len(lives) else None
        _begin(topic, events, life, before)
        _end(topic, events, life, behind, config)
    doubts = [life.logged.contradiction.value for life in lives if life.logged.contradiction is not None]
    return [_doubted(replace(event, life=event.life or _life_at(event, lives)), doubts) for event in events]


def _doubted(event: LifeEvent, doubts: Sequence[str]) -> LifeEvent:
    """An event that no life of the log has, uncertain where the files contradict the log of the broker."""
    if event.life is not None or event.happening is Happening.CHANGED or not doubts:
        return event
    return replace(event, certain=False, reason="; ".join(doubts))


def _life_at(event: LifeEvent, lives: Sequence[TopicLife]) -> int | None:
    """The life that a change of settings is of: the last one that began before it."""
    if event.happening is not Happening.CHANGED or event.latest_ms is None:
        return None
    begun = [life.life for life in lives if life.begins_ms is not None and life.begins_ms <= event.latest_ms]
    return begun[-1] if begun else None


def _begin(topic: str, events: list[LifeEvent], life: TopicLife, before: TopicLife | None) -> None:
    """Give the creation of a life its number, or add it."""
    after_ms = None if before is None else before.latest_ms
    until_ms = life.begins_ms
    found = [
        number
        for number, event in enumerate(events)
        if event.happening in BEGINS and event.life is None and _overlaps(event, after_ms or 0, _end_of(until_ms))
    ]
    if found:
        events[found[-1]] = replace(events[found[-1]], life=life.life)
    elif not (is_brokers_own(topic) and before is None):
        why = BY_MESSAGES if before is None else None if life.certain else life.evidence
        happening = Happening.CREATED if before is None else Happening.CREATED_AGAIN
        certain = before is None or life.certain
        events.append(_by_life(topic, happening, after_ms, until_ms, life, certain=certain, reason=why))


def _end(topic: str, events: list[LifeEvent], life: TopicLife, behind: TopicLife | None, config: TopicsKnown) -> None:
    """Give the deletion of a life its number, or add it; say so where a life vanished."""
    if life.lives:
        return
    after_ms, until_ms = life.latest_ms, None if behind is None else behind.begins_ms
    from_ms = (after_ms or 0) - DELETION_MS
    found = [
        number
        for number, event in enumerate(events)
        if event.happening is Happening.DELETED and event.life is None and _overlaps(event, from_ms, _end_of(until_ms))
    ]
    has_vanished = life.state == "vanished"
    reason = life.evidence if has_vanished or not life.certain else None
    if found:
        told = events[found[0]]
        certain = told.certain and not has_vanished
        events[found[0]] = replace(
            told, life=life.life, certain=certain, reason=reason if has_vanished else told.reason
        )
        return
    happening = Happening.VANISHED if has_vanished else Happening.DELETED
    latest = until_ms if behind is not None or has_vanished else config.changed_ms
    events.append(_by_life(topic, happening, after_ms, latest, life, certain=reason is None, reason=reason))


def _end_of(until_ms: int | None) -> int:
    return 1 << 62 if until_ms is None else until_ms


def _by_life(
    topic: str,
    happening: Happening,
    earliest_ms: int | None,
    latest_ms: int | None,
    life: TopicLife,
    *,
    certain: bool,
    reason: str | None,
) -> LifeEvent:
    return LifeEvent(
        "topic",
        topic,
        happening,
        earliest_ms,
        latest_ms,
        None,
        None,
        None,
        certain=certain,
        reason=reason,
        evidence=f"{life.messages} messages of life {life.life}: {life.evidence}",
        life=life.life,
    )


def _again(events: Iterable[LifeEvent]) -> Iterator[LifeEvent]:
    """The events of one name, a creation after a deletion being one again."""
    deleted = False
    for event in sorted(events, key=_order):
        again = event.happening is Happening.CREATED and deleted
        deleted = event.happening is Happening.DELETED or (deleted and event.happening is Happening.CHANGED)
        yield replace(event, happening=Happening.CREATED_AGAIN) if again else event
