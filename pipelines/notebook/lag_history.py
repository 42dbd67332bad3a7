"""How lag went: the rows of `lag` at every instant at which consumer offsets were kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from parsers.damage.errors import DamageSink
from parsers.store.store import Store
from pipelines.answers.lag.lag import lag_record, store_lag
from pipelines.answers.lag.popping import NewestPops
from pipelines.answers.offsets.saved import OffsetsAt, offsets_in
from pipelines.lake.tables.lag import LAG
from pipelines.recordings.lines import Problem
from recovery.knowledge.knowledge import NOTHING_SAID, Said, knowledge_of, open_known
from recovery.knowledge.topic_events import TopicEvent
from recovery.lives.topic_lives import StoreLives


def lag_history(
    store: Store, copies: Iterable[OffsetsAt], *, damage: DamageSink, lives: StoreLives | None = None
) -> pa.Table:
    """Rows of `lag` for each copy of the offsets, at the instant it was written; oldest first. `broker` is null."""
    lives, newest = lives or StoreLives(store), NewestPops()
    found = (
        row
        for copy in copies
        for row in store_lag(store, copy, at_ms=copy.written_ms, damage=damage, lives=lives, newest=newest)
    )
    return pa.Table.from_pylist([lag_record(row) for row in found], schema=LAG.bare_schema)


def read_lag_history(
    root: Path,
    kept_offsets: Path,
    problem: Problem,
    said: Said = NOTHING_SAID,
    *,
    topic_events: Sequence[TopicEvent] = (),
) -> pa.Table:
    """`lag_history` of the store at `root` with the copies in a folder.

    `topic_events`: what a log of its broker says of topics. Raises NotAStore, FileNotFoundError.
    """
    kept_offsets.stat()
    copies, store = offsets_in(kept_offsets, problem), open_known(root, said)
    known = replace(knowledge_of(store, said), topic_events=tuple(topic_events))
    return lag_history(store, copies, damage=lambda damage: problem(damage.reason), lives=StoreLives(store, known))
