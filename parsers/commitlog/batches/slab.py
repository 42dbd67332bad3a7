"""Memory for decoded columns, used again once the consumer has let the batch go.

Touching fresh memory costs more than decoding into it, so a reader that streams decodes into the same pages again and
again. Whether a batch is still held shows in the reference count of the one block that all its buffers are views of.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from parsers.commitlog.compiled.columns import (
    BODY,
    BORN_HOST,
    COMPRESSION,
    INTS,
    LONGS,
    MESSAGE_ID,
    STORE_HOST,
    TEXTS,
    TRANSACTION,
    VERDICTS,
    Columns,
)
from parsers.commitlog.compiled.fields import WORD
from parsers.commitlog.compiled.property_scan import FOUND
from parsers.commitlog.compiled.text import HOST_TEXT_SIZE, MESSAGE_ID_SIZE
from parsers.commitlog.record.layout import SMALLEST_MESSAGE
from parsers.kernels.arrays import COPIED
from parsers.kernels.utf8 import GROWTH

MOST_ROWS = 1 << 16
LEAST_BATCH_BYTES, BATCH_BYTES = 64 << 10, 16 << 20
KEPT = 3
"""Slabs that a pool keeps: one being filled, one in the consumer's hands, one more for a consumer that looks back."""


FEWEST_BYTES_A_PAIR = 3
LONGEST_TEXT = 2**15 - 1


def text_capacity(column: int, rows: int, input_bytes: int) -> int:
    """Bytes that column `column` of text can need for `rows` rows out of `input_bytes` of log, repairs included."""
    bounded = {
        BORN_HOST: HOST_TEXT_SIZE,
        STORE_HOST: HOST_TEXT_SIZE,
        MESSAGE_ID: MESSAGE_ID_SIZE,
        TRANSACTION: WORD,
        COMPRESSION: WORD,
    }
    if column in bounded:
        return rows * bounded[column] + COPIED
    return GROWTH * (input_bytes + 2 * LONGEST_TEXT) + COPIED


class Slab:
    """The columns that `decode_run` fills, all carved from one block. Untouched pages of it cost nothing."""

    def __init__(self, rows: int, batch_bytes: int, body_bytes: int) -> None:
        pairs = (batch_bytes + LONGEST_TEXT) // FEWEST_BYTES_A_PAIR + 1
        capacities = [text_capacity(column, rows, batch_bytes) for column in range(len(TEXTS))]
        capacities[BODY] = body_bytes + COPIED
        self.rows, self.batch_bytes, self.body_bytes = rows, batch_bytes, body_bytes
        text_at = np.cumsum([0, *capacities], dtype=np.int64)
        sizes = {
            "longs": 8 * len(LONGS) * rows,
            "ints": 4 * len(INTS) * rows,
            "text_ends": 4 * len(TEXTS) * (rows + 1),
            "pair_ends": 4 * 2 * pairs,
            "pair_counts": 4 * (rows + 1),
            "verdicts": len(VERDICTS) * rows,
            "text": int(text_at[-1]),
        }
        block = np.empty(sum(size + -size % 64 for size in sizes.values()), np.uint8)
        parts, at = {}, 0
        for name, size in sizes.items():
            parts[name] = block[at : at + size]
            at += size + -size % 64
        self._block: npt.NDArray[np.uint8] = block
        self.columns = Columns(
            ints=parts["ints"].view(np.int32).reshape(len(INTS), rows),
            longs=parts["longs"].view(np.int64).reshape(len(LONGS), rows),
            verdicts=parts["verdicts"].reshape(len(VERDICTS), rows),
            text=parts["text"],
            text_at=text_at,
            text_to=text_at[:-1].copy(),
            text_ends=parts["text_ends"].view(np.int32).reshape(len(TEXTS), rows + 1),
            pair_ends=parts["pair_ends"].view(np.int32).reshape(2, pairs),
            pair_counts=parts["pair_counts"].view(np.int32),
            found=np.zeros(FOUND, np.int64),
        )
        del parts, block
        self._unused = self._references()

    @property
    def is_free(self) -> bool:
        """No Arrow buffer refers to this memory any more."""
        return self._references() <= self._unused

    def _references(self) -> int:
        return sys.getrefcount(self._block)


class SlabPool:
    """Slabs of one reader. Not shared between threads."""

    def __init__(self, rows: int = MOST_ROWS, batch_bytes: int = BATCH_BYTES) -> None:
        self._rows, self._batch_bytes = rows, batch_bytes
        self._slabs: list[Slab] = []

    @classmethod
    def for_files(cls, *sizes: int) -> SlabPool:
        """A pool for files of these sizes. A large slab costs small files milliseconds: its pages are huge ones.

        A file that has grown since it was listed is still read in pieces of a fair size.
        """
        most = min(BATCH_BYTES, max((LEAST_BATCH_BYTES, *sizes)))
        return cls(min(MOST_ROWS, most // SMALLEST_MESSAGE + 1), most)

    def take(self, body_bytes: int = 0) -> Slab:
        """A slab nobody refers to, with room for `body_bytes` of bodies; a new one where all are still held."""
        wanted = max(body_bytes, self._batch_bytes)
        for slab in self._slabs:
            if slab.is_free and slab.body_bytes >= wanted:
                return slab
        slab = Slab(self._rows, self._batch_bytes, wanted)
        self._slabs = [*self._slabs[-KEPT + 1 :], slab]  # one that is let go lives as long as its batches
        return slab
