"""The loss ledger of a store that a broker may be writing to: what only looked lost on its way is not said to be."""

from __future__ import annotations

from dataclasses import replace

from parsers.store.store import NotAStore, Store
from recovery.knowledge.inference import StoreKnowledge
from recovery.query.ledger import LedgerRange, State
from recovery.verify.in_motion import Moment
from recovery.verify.store_ledger import StoreLedger, store_ledger

MOVED = "files were written to while they were read: a message that was on its way looks the same"
HOLDS = frozenset({State.STORED, State.EXPIRED, State.FORMER_LIFE})
"""States of the store that a broker's writing does not feign."""


def ledger_in_motion(store: Store, known: StoreKnowledge) -> StoreLedger:
    """The loss ledger of a store; what a broker that writes to it may only have on its way is uncertain."""
    since = Moment.of(store)
    return doubted_since(store_ledger(store, known), store, since)


def doubted_since(found: StoreLedger, store: Store, since: Moment) -> StoreLedger:
    """A ledger that was begun at `since`: as it is where the store stood still, else with what is open as uncertain."""
    try:
        if Moment.of(store.listed_again()) == since:
            return found
    except NotAStore:
        pass
    queues = (replace(queue, ranges=tuple(map(_doubted, queue.ranges))) for queue in found.queues)
    return replace(found, queues=tuple(queues))


def _doubted(found: LedgerRange) -> LedgerRange:
    if found.state in HOLDS:
        return found
    return replace(found, certain=False, reason="; ".join(filter(None, (found.reason, MOVED))))
