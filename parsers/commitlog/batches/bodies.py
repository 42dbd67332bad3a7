"""A column of decompressed bodies, in pieces of bounded memory; bodies that are not compressed are not touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.commitlog.record.body import MOST_BODY_BYTES, decompress
from parsers.commitlog.record.layout import SYS_FLAG_COMPRESSED
from parsers.damage.errors import StoreFormatError

PIECE_BYTES = 16 << 20
"""No more than this is decompressed into one piece, unless a single body is larger."""

BodySink = Callable[[int, StoreFormatError], None]


def decompressed_pieces(
    bodies: pa.Array, sys_flags: npt.NDArray[np.int32], failed: BodySink, *, cap: int = MOST_BODY_BYTES
) -> Iterator[tuple[int, pa.Array]]:
    """Row ranges of the bodies in order, as (end of the range, its decompressed bodies).

    A body that cannot be decompressed, or grows beyond `cap` bytes, is null, and `failed` gets its row and the reason.

    Memory: one body more than the piece, where it did not fit into it.
    """
    chunks: list[pa.Array] = []
    grown, plain_from = 0, 0
    for row in np.flatnonzero(sys_flags & SYS_FLAG_COMPRESSED).tolist():
        plain = _decompressed(bodies, row, int(sys_flags[row]), failed, cap)
        chunks.append(bodies.slice(plain_from, row - plain_from))
        plain_from = row + 1
        if grown and grown + plain.nbytes > PIECE_BYTES:
            yield row, _joined(chunks)
            chunks, grown = [], 0
        chunks.append(plain)
        grown += plain.nbytes
        del plain
        if grown >= PIECE_BYTES:
            yield plain_from, _joined(chunks)
            chunks, grown = [], 0
    if plain_from < len(bodies) or chunks:
        yield len(bodies), _joined([*chunks, bodies.slice(plain_from)])


def _joined(chunks: list[pa.Array]) -> pa.Array:
    """One array, which is the chunk itself where there is only one with rows."""
    filled = [chunk for chunk in chunks if len(chunk)] or chunks[:1]
    return pa.concat_arrays(filled) if len(filled) > 1 else filled[0]


def _decompressed(bodies: pa.Array, row: int, sys_flag: int, failed: BodySink, cap: int) -> pa.Array:
    """One body as an array of one, which keeps the bytes as they were made."""
    try:
        plain = decompress(bodies[row].as_py(), sys_flag, cap=cap)
    except StoreFormatError as error:
        failed(row, error)
        return pa.nulls(1, pa.binary())
    ends = pa.py_buffer(np.array([0, len(plain)], np.int32))
    return pa.Array.from_buffers(pa.binary(), 1, [None, ends, pa.py_buffer(plain)])
