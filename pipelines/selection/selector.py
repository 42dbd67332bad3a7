"""What every selector is: columns that it looks at, and a mask over the rows of a batch that has them; and the one that
looks at bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.kernels.utf8 import are_valid

BODY_TEXT = pa.field("body_text", pa.string())
"""The body as the producer handed it over, where it is UTF-8; null elsewhere."""


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


@dataclass(slots=True)
class BodyContains:
    """Bodies that hold a text, UTF-8 in the bytes that the producer handed over.

    `unread`: bodies so far that cannot be decompressed, and were not searched.
    """

    text: str
    columns: Sequence[str] = field(default=("body_decompressed",), init=False)
    unread: int = field(default=0, init=False)

    def wanted(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        """The text is somewhere in the body."""
        bodies = batch["body_decompressed"]
        self.unread += bodies.null_count
        return pc.match_substring(bodies, self.text)


def with_body_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with `body_text` made of its `body_decompressed`."""
    bodies = batch["body_decompressed"]
    _, ends, data = bodies.buffers()
    offsets = np.frombuffer(ends, np.int32)[bodies.offset : bodies.offset + batch.num_rows + 1]
    valid = are_valid(np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8), offsets)
    texts = pc.if_else(pa.array(valid), bodies, pa.scalar(None, bodies.type))
    return batch.append_column(BODY_TEXT, texts.cast(pa.string()))
