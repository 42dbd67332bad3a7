"""Which groups pop which topics, by what a store tells without a pass over its log."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from parsers.damage.errors import Damage
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.values.topics import TIMER_TOPIC, is_revive
from recovery.query.lag import POPPED, POPPED_BY_RECORDS, OffsetTable, popped_topics
from recovery.scan.log_access import LogAccess

NEWEST = 512
"""How many of the newest messages are read from each queue of the revive topic, and of the timer's topic, in which
checkpoints and acknowledgements wait for the end of the invisible time."""
KINDS = ("ck", "ack", "bAck")
"""The last word of the UNIQ_KEY of checkpoints and acknowledgements: topic@queue@offset@group@popTime…@kind.

Source: PopMessageProcessor#genCkUniqueId, #genAckUniqueId, #genBatchAckUniqueId @5.0.0, 5.3.3.
"""


@dataclass(slots=True)
class NewestPops:
    """(group, topic) of a store's newest checkpoints and acknowledgements, read when they are first asked for."""

    found: frozenset[tuple[str, str]] | None = None

    def __call__(self, queues: StoreQueues, log: LogAccess) -> frozenset[tuple[str, str]]:
        if self.found is None:
            self.found = frozenset(_in_revive_topics(queues, log))
        return self.found


def popping(offsets: OffsetTable, newest: Set[tuple[str, str]]) -> set[tuple[str, str]]:
    """(group, topic) that are popped: by offsets on retry topics, and by the newest checkpoints and acknowledgements.

    A group of which all of these are older, and to whom nothing was delivered again, is missing: `pop` reads them all.
    """
    return popped_topics(offsets) | newest


def popped_in(store: Store, offsets: OffsetTable) -> dict[tuple[str, str], str]:
    """(group, topic) that are popped, each with what a stored offset then says of its messages."""
    unread: list[Damage] = []  # of queues, which is left to those who report on them
    with StoreQueues(store, damage=unread.append) as queues:
        popped = popping(offsets, NewestPops()(queues, LogAccess(store.commitlog)))
    return dict.fromkeys(popped, POPPED if store.pop_database is None else POPPED_BY_RECORDS)


def _in_revive_topics(queues: StoreQueues, log: LogAccess) -> Iterator[tuple[str, str]]:
    for (topic, _), queue in queues.items():
        if not is_revive(topic) and topic != TIMER_TOPIC:
            continue
        first, end = queue.ends(log.min_physical_offset)
        for queue_offset in range(max(first, end - NEWEST), end):
            unit = queue.pointer(queue_offset)
            message = None if unit is None else log.message(unit.physical_offset)
            if message is None or not is_revive(message.property_value("REAL_TOPIC") or message.topic):
                continue
            named = (message.property_value("UNIQ_KEY") or "").split("@")
            if len(named) > 5 and named[-1] in KINDS:
                yield named[3], named[0]
