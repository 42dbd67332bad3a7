"""How a store moves on: what was stored between two looks at it, and what each group has still to read."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import Any

from parsers.damage.errors import DamageSink
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from parsers.values.utc import utc
from pipelines.answers.finding_rows import finding_row
from pipelines.answers.lag.lag import store_lag
from pipelines.answers.offsets.saved import offsets_of_store
from recovery.knowledge.inference import StoreKnowledge
from recovery.query.lag import Lag

ENDS_EARLIER = (
    "queues end earlier than at the look before: perhaps the topic was made anew, or files were cut or exchanged"
)
QUEUES_GONE = "queues of the look before are gone: perhaps the topic was deleted, or files were moved or cannot be read"
QUEUES_BACK = "queues are back that the look before had not: when their messages came is not known"
NOT_ASKED = (None, None)
"""In place of a count and why there is none, of a row that has no rate."""


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
        ended: where each queue ended that an earlier look had, when it was last there.
    """

    at_ms: int
    ends: Mapping[QueueKey, int]
    groups: Mapping[tuple[str, str], GroupLag] = field(default_factory=dict)
    ended: Mapping[QueueKey, int] = field(default_factory=dict)

    @property
    def topics(self) -> list[str]:
        return sorted({topic for topic, _ in self.ends})

    def after(self, before: Look | None) -> Look:
        """This look, with what earlier ones knew of queues that it has not."""
        return self if before is None else replace(self, ended={**before.ended, **before.ends})

    def stored_since(self, before: Look, topic: str | None = None) -> tuple[int | None, str | None]:
        """Units that queues (of a topic, or all) got since an earlier look; None where that is not known, and why.

        What was only in the log by then, and in no queue yet, is not counted before it is dispatched.
        """
        keys = [key for key in self.ends if topic in (None, key[0])]
        if any(topic in (None, key[0]) and key not in self.ends for key in before.ends):
            return None, QUEUES_GONE
        if any(self.ends[key] != before.ended[key] for key in keys if key not in before.ends and key in before.ended):
            return None, QUEUES_BACK
        got = [self.ends[key] - before.ends.get(key, before.ended.get(key, 0)) for key in keys]
        return (None, ENDS_EARLIER) if any(count < 0 for count in got) else (sum(got), None)


def look_at(store: Store, at_ms: int, damage: DamageSink) -> Look:
    """The store as it is now. Reads the ends of queues and what lag needs, not the log."""
    with StoreQueues(store, damage=damage) as queues:
        ends = {key: queue.summary(store.log_start).max_queue_offset for key, queue in queues.items()}
    return Look(at_ms, ends, _groups(store, damage))


def _groups(store: Store, damage: DamageSink) -> dict[tuple[str, str], GroupLag]:
    offsets = offsets_of_store(store, damage)
    if offsets is None:
        return {}
    found: dict[tuple[str, str], GroupLag] = {}
    for lag in store_lag(store, offsets, damage=damage):
        before = found.get((lag.group, lag.topic), GroupLag(0, 0.0, None))
        found[lag.group, lag.topic] = _with_queue(before, lag)
    return found


def _with_queue(before: GroupLag, lag: Lag) -> GroupLag:
    """The lag of a group with that of one more queue; unknown where the queue's offset lies beyond its end."""
    behind, seconds = lag.messages_behind, lag.seconds_behind
    if behind is not None and behind < 0:
        behind = seconds = None
    is_first_unknown = None in (behind, seconds) and None not in (before.messages_behind, before.seconds_behind)
    return GroupLag(
        _sum(before.messages_behind, behind),
        _max(before.seconds_behind, seconds),
        lag.reason if is_first_unknown else before.reason or lag.reason,
    )


def _sum(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more


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
        row = _row(now, "group", topic, group, None, NOT_ASKED, None)
        yield row | {"messages_behind": lag.messages_behind, "seconds_behind": lag.seconds_behind, "reason": lag.reason}


def _stored(now: Look, before: Look | None, topic: str | None) -> tuple[int | None, str | None]:
    return NOT_ASKED if before is None else now.stored_since(before, topic)


def _row(
    look: Look,
    what: str,
    topic: str | None,
    group: str | None,
    end: int | None,
    since: tuple[int | None, str | None],
    seconds: float | None,
) -> dict[str, Any]:
    stored, reason = since
    return {
        "at": utc(look.at_ms),
        "what": what,
        "topic": topic,
        "group": group,
        "messages": end,
        "messages_per_second": None if stored is None or not seconds else stored / seconds,
        "messages_behind": None,
        "seconds_behind": None,
        "reason": reason,
    }


def store_row(at_ms: int, why: str) -> dict[str, Any]:
    """The row of a look at which there was no store to read."""
    return _row(Look(at_ms, {}), "store", None, None, None, NOT_ASKED, None) | {"reason": why}


class NewFindings:
    """The findings of a store that is verified again and again, each reported once."""

    def __init__(self, known: StoreKnowledge) -> None:
        self._known = known
        self._told = set[tuple[str, str | None, int | None]]()

    def rows(self, store: Store, at_ms: int) -> Iterator[dict[str, Any]]:
        """A row for each finding of the store as it is now that was not reported before, worst first."""
        from recovery.verify.in_motion import verify_in_motion

        for finding in verify_in_motion(store, self._known).findings:
            told = finding_row(finding)
            key = finding.kind, told["place"], told["begin"]
            if key not in self._told:
                self._told.add(key)
                sentence = f"{finding.severity} {finding.kind} in {told['place'] or 'the store'}: {told['evidence']}"
                row = _row(Look(at_ms, {}), "finding", finding.span.topic, None, None, NOT_ASKED, None)
                yield row | {"reason": sentence}


class Comparison:
    """The new findings of a store, looked for beside everything else; who does not wait for them is not held up."""

    def __init__(self, findings: NewFindings, store: Store, at_ms: int) -> None:
        self._rows: list[dict[str, Any]] = []
        self._error: Exception | None = None
        self._took_s = 0.0
        self._thread = Thread(target=self._compare, args=(findings, store, at_ms), daemon=True)
        self._thread.start()

    @property
    def has_ended(self) -> bool:
        return not self._thread.is_alive()

    def result(self) -> tuple[list[dict[str, Any]], float]:
        """The rows, once they are there, and how many seconds it took. Raises what the comparison raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._rows, self._took_s

    def _compare(self, findings: NewFindings, store: Store, at_ms: int) -> None:
        began = time.monotonic()
        try:
            self._rows = list(findings.rows(store, at_ms))
        except Exception as error:  # noqa: BLE001 - it is raised where the rows are asked for
            self._error = error
        self._took_s = time.monotonic() - began
