"""How lag went: the rows of `lag` at every instant at which consumer offsets were kept."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from parsers.store import Store
from pipelines.answers.lag import DamageSink, OffsetsAt, Problem, lag_record, offsets_in, store_lag
from pipelines.lake.tables.derived import LAG
from recovery.knowledge.knowledge import NOTHING_SAID, Said, open_known
from recovery.lives.topic_lives import StoreLives


def lag_history(store: Store, copies: Iterable[OffsetsAt], *, damage: DamageSink) -> pa.Table:
    """Rows of `lag` for each copy of the offsets, at the instant it was written; oldest first. `broker` is null."""
    lives = StoreLives(store)
    found = (
        row for copy in copies for row in store_lag(store, copy, at_ms=copy.written_ms, damage=damage, lives=lives)
    )
    return pa.Table.from_pylist([lag_record(row) for row in found], schema=LAG.bare_schema)


def read_lag_history(root: Path, kept_offsets: Path, problem: Problem, said: Said = NOTHING_SAID) -> pa.Table:
    """`lag_history` of the store at `root` with the copies in a folder. Raises NotAStore, FileNotFoundError."""
    kept_offsets.stat()
    copies = offsets_in(kept_offsets, problem)
    return lag_history(open_known(root, said), copies, damage=lambda damage: problem(damage.reason))
