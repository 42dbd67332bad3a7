"""How a store moves on: what was stored between two looks at it, and what each group has still to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from parsers.errors import DamageSink
from parsers.queues import StoreQueues
from parsers.store import QueueKey, Store
from parsers.utc import utc
from pipelines.answers.finding_rows import finding_row
from pipelines.answers.lag import store_lag
from pipelines.answers.offsets.saved import offsets_of_store
from recovery.knowledge.inference import StoreKnowledge

MADE_ANEW = "the queues end earlier than at the look before: the topic was made anew, or its files were exchanged"


@dataclass(frozen=True, slots=True)
class GroupLag:
    """What a group has still to read of a topic: None where that is not known of every queue, and why."""

    messages_behind: int | None
    seconds_behind: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Look:
    """A store at one instant.

    Attributes:
        at_ms: when, epoch milliseconds.
        ends: where each queue ends, a queue offset.
        groups: by (group, topic).
    """

    at_ms: int
    ends: Mapping[QueueKey, int]
    groups: Mapping[tuple[str, str], GroupLag] = field(default_factory=dict)

    @property
    def topics(self) -> list[str]:
        return sorted({topic for topic, _ in self.ends})

    def stored_since(self, before: Look, topic: str | None = None) -> int | None:
        """Units that queues (of a topic, or all) got since an earlier look; None where a queue ends earlier than then.

        What was only in the log by then, and in no queue yet, is not counted before it is dispatched.
        """
        keys = [key for key in self.ends if topic in (None, key[0])]
        got = [self.ends[key] - before.ends.get(key, 0) for key in keys]
        return None if any(count < 0 for count in got) else sum(got)


def look_at(store: Store, at_ms: int, damage: DamageSink) -> Look:
    """The store as it is now. Reads the ends of queues and what lag needs, not the log."""
    with StoreQueues(store, on_damage="collect", damage=damage) as queues:
        ends = {key: queue.summary(store.log_start).max_queue_offset for key, queue in queues.items()}
    return Look(at_ms, ends, _groups(store, damage))


def _groups(store: Store, damage: DamageSink) -> dict[tuple[str, str], GroupLag]:
    offsets = offsets_of_store(store, damage)
    if offsets is None:
        return {}
    found: dict[tuple[str, str], GroupLag] = {}
    for lag in store_lag(store, offsets, damage=damage):
        before = found.get((lag.group, lag.topic), GroupLag(0, 0.0, None))
        found[lag.group, lag.topic] = GroupLag(
            _sum(before.messages_behind, lag.messages_behind),
            _max(before.seconds_behind, lag.seconds_behind),
            before.reason or (lag.reason if None in (lag.messages_behind, lag.seconds_behind) else None),
        )
    return found


def _sum(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + max(0, more)


def _max(most: float | None, more: float | None) -> float | None:
    return None if most is None or more is None else max(most, more)


def watch_rows(now: Look, before: Look | None) -> Iterator[dict[str, Any]]:
    """Rows of one look: the store, its topics, its groups. Rates are since the look before, None at the first."""
    seconds = None if before is None else (now.at_ms - before.at_ms) / 1000
    yield _row(now, "store", None, None, sum(now.ends.values()), _stored(now, before, None), seconds)
    for topic in now.topics:
        end = sum(offset for key, offset in now.ends.items() if key[0] == topic)
        yield _row(now, "topic", topic, None, end, _stored(now, before, topic), seconds)
    for (group, topic), lag in sorted(now.groups.items()):
        row = _row(now, "group", topic, group, None, None, None)
        yield row | {
            "messages_behind": lag.messages_behind,
            "seconds_behind": lag.seconds_behind,
            "reason": lag.reason,
        }


def _stored(now: Look, before: Look | None, topic: str | None) -> int | None:
    return None if before is None else now.stored_since(before, topic)


def _row(
    look: Look,
    what: str,
    topic: str | None,
    group: str | None,
    end: int | None,
    stored: int | None,
    seconds: float | None,
) -> dict[str, Any]:
    lost = stored is None and seconds is not None
    return {
        "at": utc(look.at_ms),
        "what": what,
        "topic": topic,
        "group": group,
        "messages": end,
        "messages_per_second": None if stored is None or not seconds else stored / seconds,
        "messages_behind": None,
        "seconds_behind": None,
        "reason": MADE_ANEW if lost else None,
    }


def store_row(at_ms: int, why: str) -> dict[str, Any]:
    """The row of a look at which there was no store to read."""
    return _row(Look(at_ms, {}), "store", None, None, None, None, None) | {"reason": why}


class NewFindings:
    """The findings of a store that is compared again and again, each told once."""

    def __init__(self, known: StoreKnowledge) -> None:
        self._known = known
        self._told = set[tuple[str, str | None, int | None]]()

    def rows(self, store: Store, at_ms: int) -> Iterator[dict[str, Any]]:
        """A row for each finding of the store as it is now that was not told before, worst first."""
        from recovery.verify.in_motion import verify_in_motion

        for finding in verify_in_motion(store, self._known).findings:
            told = finding_row(finding)
            key = finding.kind, told["place"], told["begin"]
            if key not in self._told:
                self._told.add(key)
                sentence = f"{finding.severity} {finding.kind} in {told['place'] or 'the store'}: {told['evidence']}"
                row = _row(Look(at_ms, {}), "finding", finding.span.topic, None, None, None, None)
                yield row | {"reason": sentence}
