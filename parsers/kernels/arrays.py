"""Arrays as kernels take them: C-contiguous, of one dimension; a name that ends in `Rows` has two.

`parsers.kernels.signature` reads the annotations of a kernel, so these names are its types when it is compiled ahead.
"""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np
import numpy.typing as npt

TWO_DIMENSIONS: Final = 2

Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.int8]
Shorts = npt.NDArray[np.int16]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
ByteRows = Annotated[npt.NDArray[np.uint8], TWO_DIMENSIONS]
IntRows = Annotated[npt.NDArray[np.int32], TWO_DIMENSIONS]
LongRows = Annotated[npt.NDArray[np.int64], TWO_DIMENSIONS]

BLOCK = 64
COPIED = 32
"""How far `blocks.copy` may write and read beyond the last byte asked for."""
