"""Arrow columns from numbers that stand for something: instants, words, and what is not known; and their batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from parsers.kernels.arrays import Longs, Mask
from parsers.layouts.columns import TIMESTAMP
from parsers.layouts.instants import MAX_MS
from recovery.fates.held_kernel import NONE, HeldColumns

BATCH_ROWS = 1 << 16


def batches_of(rows: Longs, made: Callable[[Longs], pa.RecordBatch], **only: str | None) -> Iterator[pa.RecordBatch]:
    """What is made of the rows, a bounded number at a time; `only`: of these columns rows of this value, None: all."""
    for first in range(0, len(rows), BATCH_ROWS):
        batch = made(rows[first : first + BATCH_ROWS])
        for name, wanted in only.items():
            if wanted is not None:
                batch = batch.filter(pc.equal(batch.column(name), wanted))
        yield batch


def known(values: npt.NDArray[np.generic], is_known: Mask) -> pa.Array:
    """The values, null where they are not known."""
    return pa.array(values, mask=~is_known)


def instants(millis: Longs, is_known: Mask | None = None) -> pa.Array:
    """Epoch milliseconds as times; null where they are not known, negative, or beyond the calendar."""
    is_time = (millis >= 0) & (millis <= MAX_MS) & (True if is_known is None else is_known)
    return pa.array(np.where(is_time, millis, 0) * 1000, mask=~is_time).cast(TIMESTAMP)


def words(names: Iterable[str], codes: npt.NDArray[np.signedinteger], is_known: Mask | None = None) -> pa.Array:
    """The word of each code, null where it is not known or negative."""
    is_null = (codes < 0) if is_known is None else ~is_known
    return pa.array([*map(str, names)], pa.string()).take(pa.array(codes, mask=is_null))


def value_of(values: npt.NDArray[np.signedinteger], rows: Longs) -> pa.Array:
    """A column's value in each row, null where the row is NONE."""
    if not len(values):
        return pa.nulls(len(rows), pa.from_numpy_dtype(values.dtype))
    return known(values[np.maximum(rows, 0)], rows != NONE)


def stored_at(columns: HeldColumns, rows: Longs) -> pa.Array:
    """When each row was stored, null where the row is NONE."""
    return instants(value_of(columns.store_timestamp_ms, rows).fill_null(NONE).to_numpy())


def reasons(*each: tuple[Mask, str]) -> pa.Array:
    """The reasons that hold in each row, joined; null where none does."""
    code = np.zeros(len(each[0][0]), np.int64)
    for number, (holds, _) in enumerate(each):
        code |= holds.astype(np.int64) << number
    texts = ["; ".join(why for n, (_, why) in enumerate(each) if bits >> n & 1) for bits in range(1 << len(each))]
    return words(texts, code, code != 0)
