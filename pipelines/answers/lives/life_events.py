"""What happened to a store's topics and groups: rows of the table `life_events`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from parsers.damage.errors import DamageSink
from parsers.store.store import Store
from pipelines.answers.lives.saved_config import saved_states
from pipelines.lake.tables.lives import LIFE_EVENTS
from pipelines.recordings.lines import Problem
from pipelines.recordings.topic_log import topic_events
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.config_states import changes_between
from recovery.lives.story import LifeEvent, story
from recovery.lives.topic_lives import lives_of
from recovery.lives.topics_known import TopicsKnown


def life_events(
    store: Store,
    known: StoreKnowledge,
    lines: Sequence[LifeEvent] = (),
    *,
    kept: Path | None = None,
    damage: DamageSink,
    problem: Problem,
) -> list[LifeEvent]:
    """Everything that a store, the lines of its broker's log and kept copies of its configuration tell.

    Raises FileNotFoundError: `kept` is not there.
    """
    states = saved_states(store, kept, damage, problem)
    changes = {subject: list(changes_between(of_subject)) for subject, of_subject in states.items()}
    told = replace(known, topic_events=tuple(topic_events(lines)))
    lives = lives_of(store, told.rules, told.topic_events)
    return story(lines, changes, lives, TopicsKnown.of(store.config))


def life_event_row(event: LifeEvent, *, broker: str | None = None) -> dict[str, Any]:
    """A row of the table `life_events`."""
    before, after = event.differences()
    return LIFE_EVENTS.row(event, broker=broker, happened=event.happening, before=before, after=after)
