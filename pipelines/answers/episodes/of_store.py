"""Rows of lag at the instants of kept copies of the offsets, from a store; and how long its records are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from parsers.config.groups import SYSTEM_GROUP_PREFIX
from parsers.damage.errors import Damage, DamageSink
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.values.topics import pop_retry_topics
from pipelines.answers.lag.lag import lag_record, store_lag
from pipelines.answers.lag.popping import NewestPops
from pipelines.answers.offsets.saved import OffsetsAt
from recovery.lives.topic_lives import StoreLives
from recovery.scan.log_access import LogAccess


def kept_lag(
    store: Store,
    copies: Iterable[OffsetsAt],
    lives: StoreLives,
    *,
    group: str | None = None,
    topic: str | None = None,
    damage: DamageSink,
) -> Iterator[dict[str, Any]]:
    """Rows of `lag` at the instant of each copy, of one group or topic or of all; each damage is reported once.

    Groups of the broker's own are left out.
    """
    seen: set[Damage] = set()
    newest = NewestPops()

    def once(found: Damage) -> None:
        if found not in seen:
            seen.add(found)
            damage(found)

    for copy in copies:
        asked = {key: queues for key, queues in copy.offsets.items() if _is_asked(*key, group, topic)}
        then = replace(copy, offsets=asked)
        for row in store_lag(store, then, at_ms=copy.written_ms, damage=once, lives=lives, newest=newest):
            if topic in (None, row.topic):
                yield lag_record(row)


def _is_asked(of_group: str, of_topic: str, group: str | None, topic: str | None) -> bool:
    """Whether an offset is asked for: itself, or because it shows that the group pops."""
    if of_group.startswith(SYSTEM_GROUP_PREFIX) or group not in (None, of_group):
        return False
    return topic in (None, of_topic) or of_topic in pop_retry_topics(of_group, topic)


def mean_record_size(store: Store, damage: DamageSink) -> float | None:
    """Bytes of the log for each message in a queue, None where no queue leads into the log."""
    log = LogAccess(store.commitlog)
    start, messages, end = log.min_physical_offset, 0, 0
    with StoreQueues(store, damage=damage) as queues:
        for queue in queues.values():
            first, next_ = queue.ends(start)
            last = queue.last_pointer()
            messages += next_ - first
            end = max(end, 0 if last is None else last.physical_offset + last.msg_size)
    return (end - start) / messages if messages > 0 and end > start else None
