"""Stored bodies as an Arrow column that points into the file's map: nothing copied but 16 bytes a row.

For consumers that take `binary_view` (DuckDB does, Spark does not); others ask for gathered bodies.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.commitlog.batches.slab import Slab
from parsers.commitlog.compiled.columns import INTS, LONGS, Columns
from parsers.commitlog.compiled.shape import BODY_AT_V4, HOST_V6_MORE
from parsers.commitlog.files.logfile import LogFile
from parsers.commitlog.record.layout import SYS_FLAG_BORN_HOST_V6, SYS_FLAG_STORE_HOST_V6
from parsers.kernels.arrays import Bytes, IntRows
from parsers.kernels.blocks import copy_exactly
from parsers.kernels.kernel import kernel

VIEW_SIZE, LENGTH_SIZE, INLINED, PREFIX = 16, 4, 12, 4
I_SYS_FLAG, I_BODY_SIZE = INTS.index("sys_flag"), INTS.index("body_size")
L_PHYSICAL_OFFSET = LONGS.index("physical_offset")


def view_bodies(log: LogFile, slab: Slab, rows: int) -> pa.Array:
    """The bodies of a decoded run. The array keeps the file's map open."""
    first = int(slab.columns.longs[L_PHYSICAL_OFFSET, 0]) - log.base_offset if rows else 0
    views = np.zeros((rows, VIEW_SIZE), np.uint8)
    put_views(log.data, first, log.base_offset, slab.columns, views.reshape(-1), views.view(np.int32))
    content = pa.py_buffer(log.view[first:])
    return pa.Array.from_buffers(pa.binary_view(), rows, [None, pa.py_buffer(views), content], null_count=0)


def taken_bodies(views: pa.Array, rows: npt.NDArray[np.int64], wanted: npt.NDArray[np.bool_]) -> pa.Array:
    """Copies of the bodies in these rows, as `binary`, null where not wanted: Arrow has no `take` of views."""
    _, table, *contents = views.buffers()
    kept = np.frombuffer(table, np.uint8).reshape(-1, VIEW_SIZE)[views.offset + rows]
    kept[~wanted] = 0
    valid = pa.py_buffer(np.packbits(wanted, bitorder="little"))
    return pa.Array.from_buffers(pa.binary_view(), len(rows), [valid, pa.py_buffer(kept), *contents]).cast(pa.binary())


@kernel
def put_views(data: Bytes, first: int, base_offset: int, decoded: Columns, views: Bytes, words: IntRows) -> None:
    """One view for each row of `words`: length, then the body itself if it is short; else its start, buffer 0, and its
    place from `first`.

    Source: Arrow columnar format, variable-size binary view layout.
    """
    ints, longs = decoded.ints, decoded.longs
    for row in range(len(words)):
        sys_flag, size = ints[I_SYS_FLAG, row], max(0, ints[I_BODY_SIZE, row])
        body_at = longs[L_PHYSICAL_OFFSET, row] - base_offset + BODY_AT_V4
        if sys_flag & SYS_FLAG_BORN_HOST_V6:
            body_at += HOST_V6_MORE
        if sys_flag & SYS_FLAG_STORE_HOST_V6:
            body_at += HOST_V6_MORE
        words[row, 0] = size
        if size <= INLINED:
            copy_exactly(views, row * VIEW_SIZE + LENGTH_SIZE, data, body_at, size)
        else:
            copy_exactly(views, row * VIEW_SIZE + LENGTH_SIZE, data, body_at, PREFIX)
            words[row, 3] = body_at - first
