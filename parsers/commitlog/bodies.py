"""A column of decompressed bodies, in pieces of bounded memory; bodies that are not compressed are not touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.commitlog.body import MOST_BODY_BYTES, decompress
from parsers.commitlog.layout import SYS_FLAG_COMPRESSED
from parsers.errors import StoreFormatError

PIECE_BYTES = 64 << 20
"""A piece ends once this much has been decompressed into it."""

BodySink = Callable[[int, StoreFormatError], None]


def decompressed_pieces(
    bodies: pa.Array, sys_flags: npt.NDArray[np.int32], failed: BodySink, *, cap: int = MOST_BODY_BYTES
) -> Iterator[tuple[int, pa.Array]]:
    """Row ranges of the bodies in order, as (end of the range, its decompressed bodies).

    A body that cannot be decompressed, or grows beyond `cap` bytes, is null, and `failed` gets its row and the reason.
    """
    chunks: list[pa.Array] = []
    grown, plain_from = 0, 0
    for row in np.flatnonzero(sys_flags & SYS_FLAG_COMPRESSED).tolist():
        plain = _decompressed(bodies, row, int(sys_flags[row]), failed, cap)
        chunks += [bodies.slice(plain_from, row - plain_from), pa.array([plain], pa.binary())]
        plain_from = row + 1
        grown += len(plain or b"")
        if grown >= PIECE_BYTES:
            yield plain_from, pa.concat_arrays(chunks)
            chunks, grown = [], 0
    if plain_from < len(bodies) or chunks:
        rest = bodies.slice(plain_from)
        yield len(bodies), pa.concat_arrays([*chunks, rest]) if chunks else rest


def _decompressed(bodies: pa.Array, row: int, sys_flag: int, failed: BodySink, cap: int) -> bytes | None:
    try:
        return decompress(bodies[row].as_py(), sys_flag, cap=cap)
    except StoreFormatError as error:
        failed(row, error)
        return None
