"""How much of a file was ever written: store files are made at full size, and their rest stays zero."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsers.kernels.bigendian import load_long
from parsers.kernels.kernel import kernel


@kernel
def written_bytes(data: npt.NDArray[np.uint8]) -> int:
    """Bytes up to and including the last one that is not zero; 0 for a file of zeros."""
    end = len(data)
    while end >= 8 and load_long(data, end - 8) == 0:
        end -= 8
    while end > 0 and data[end - 1] == 0:
        end -= 1
    return end
