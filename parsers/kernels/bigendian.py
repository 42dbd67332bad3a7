"""Java's big-endian integers inside compiled code: one byte swap and one unaligned load or store each.

The caller has checked that the bytes are there: compiled code does not. `int_at` and `long_at` load from an address in
memory: for many arrays at once, kept alive by the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from parsers.kernels.arrays import Bytes
from parsers.kernels.kernel import intrinsic

Load = Callable[[Bytes, int], int]
LoadAt = Callable[[int], int]
Store = Callable[[Bytes, int, int], None]

load_short = cast("Load", intrinsic("bigendian", "load_short"))
load_int = cast("Load", intrinsic("bigendian", "load_int"))
load_long = cast("Load", intrinsic("bigendian", "load_long"))
int_at = cast("LoadAt", intrinsic("bigendian", "int_at"))
long_at = cast("LoadAt", intrinsic("bigendian", "long_at"))
store_int = cast("Store", intrinsic("bigendian", "store_int"))
store_long = cast("Store", intrinsic("bigendian", "store_long"))
