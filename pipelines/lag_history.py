"""How lag went: the rows of `lag` at every instant at which consumer offsets were kept."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from parsers.store import Store
from pipelines.derived_tables import LAG
from pipelines.lag import DamageSink, OffsetsAt, Problem, lag_record, offsets_in, offsets_of_store, store_lag
from recovery.knowledge import open_known

if TYPE_CHECKING:
    import pandas as pd


def lag_history(store: Store, copies: Iterable[OffsetsAt], *, damage: DamageSink) -> pa.Table:
    """Rows of `lag` for each copy of the offsets, at the instant it was written; oldest first. `broker` is null."""
    found = (row for copy in copies for row in store_lag(store, copy, at_ms=copy.written_ms, damage=damage))
    return pa.Table.from_pylist([lag_record(row) for row in found], schema=LAG.bare_schema)


def read_lag_history(root: Path, kept_offsets: Path, problem: Problem) -> pd.DataFrame:
    """`lag_history` of the store at `root` with the copies in a folder, as a frame; nullable integers stay integers.

    Raises NotAStore, FileNotFoundError.
    """
    kept_offsets.stat()
    copies = offsets_in(kept_offsets, problem)
    return _frame(lag_history(open_known(root), copies, damage=lambda damage: problem(damage.reason)))


def read_lag_now(root: Path, problem: Problem) -> pd.DataFrame:
    """Rows of `lag` with the offsets in the store itself; none where it keeps none. Raises NotAStore."""
    store = open_known(root)
    offsets = offsets_of_store(store, lambda damage: problem(damage.reason))
    found = [] if offsets is None else store_lag(store, offsets, damage=lambda damage: problem(damage.reason))
    return _frame(pa.Table.from_pylist([lag_record(row) for row in found], schema=LAG.bare_schema))


def _frame(rows: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = rows.to_pandas(types_mapper=_nullable)
    return frame


def _nullable(kind: pa.DataType) -> object:
    import pandas as pd

    return {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}.get(kind)
