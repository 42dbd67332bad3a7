"""Messages by what their bodies hold, and bodies as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.kernels.utf8 import are_valid

BODY_TEXT = pa.field("body_text", pa.string())
"""The body as the producer handed it over, where it is UTF-8; null elsewhere."""


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
