"""The trail of one message through a store, and what recordings add to it."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.damage.errors import DamageSink
from parsers.store.store import Store
from pipelines.answers.fates.pops import PopAnswer
from pipelines.answers.journey.evidence import commits_in, kept_offsets, movements_over, pulls_in, trail_in_store
from pipelines.answers.journey.held_back import held_back_in_store
from pipelines.answers.journey.steps import Trail
from pipelines.answers.offsets.events import events_of
from pipelines.answers.offsets.record import OffsetRecord
from pipelines.answers.offsets.saved import OffsetsAt, offsets_of_store
from pipelines.answers.recorded.heard import Heard
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.topic_lives import StoreLives
from recovery.query.query import StoreQuery


def store_trail(
    store: Store,
    known: StoreKnowledge,
    message_id: str,
    copies: Sequence[OffsetsAt] | None,
    record: OffsetRecord,
    damage: DamageSink,
    now_ms: int,
) -> Trail | None:
    """What a store shows of a message; None where its log has none with this id.

    Args:
        copies: kept copies of the offsets; without them the store's own count.
        record: what logs and captures say of moved offsets.
    """
    lives = StoreLives(store, known)
    trail = trail_in_store(store, StoreQuery(store, known, damage=damage), message_id, lives, damage)
    if trail is None:
        return None
    own = offsets_of_store(store, damage)
    popped = PopAnswer.of(store, known, None if own is None else own.offsets, damage, lives().topics or None)
    trail.held = held_back_in_store(store, known, popped, trail.records, damage, now_ms)
    kept = ([] if own is None else [own]) if copies is None else copies
    trail.kept = list(kept_offsets(store, lives(), kept, trail.message))
    trail.looked_at = ["consumerOffset.json"] if kept else []
    moved = events_of(store, known, record, copies or (), damage=damage)
    trail.passed = movements_over(trail.message, moved, lives())
    return trail


def add_heard(trail: Trail, heard: Heard, names: Sequence[str]) -> None:
    """What recordings tell of the message's queue; `names`: what they are called."""
    if heard.history is None:
        return
    place = trail.message.topic, trail.message.queue_id
    trail.commits = list(commits_in(heard.facts, trail.message))
    trail.pulls = list(pulls_in(heard.facts, trail.message))
    trail.intervals = [row for row in heard.history.intervals if (row.topic, row.queue_id) == place]
    trail.looked_at = [*trail.looked_at, *names]
