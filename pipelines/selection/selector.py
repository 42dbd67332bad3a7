"""What every selector is: columns that it looks at, and a mask over the rows of a batch that has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc


class WrongCondition(Exception):
    """What is asked is no condition over these columns, or not over a value that a message has: one sentence."""


class Selector(Protocol):
    """Says of each message of a batch whether it is wanted."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns that it looks at."""
        ...

    def wanted(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        """One truth for each row, none of them null."""
        ...


def selected(batches: Iterable[pa.RecordBatch], selectors: Sequence[Selector]) -> Iterator[pa.RecordBatch]:
    """The rows that every selector wants; batches without any are left out."""
    for batch in batches:
        kept = batch
        for selector in selectors:
            if kept.num_rows:
                kept = kept.filter(pc.fill_null(selector.wanted(kept), False))
        if kept.num_rows:
            yield kept
