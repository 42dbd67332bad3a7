"""Columns that say the same in every row, or one of a few names, and cost nothing: slices of arrays made once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

NAME = pa.dictionary(pa.int8(), pa.string())


def constant(value: int, rows: int) -> pa.Array:
    """An int32 column of `rows` times `value`."""
    return _filled(value, "int32", _bits(rows)).slice(0, rows)


def named_constant(name: str, rows: int) -> pa.DictionaryArray:
    """A NAME column of `rows` times `name`."""
    return pa.DictionaryArray.from_arrays(_filled(0, "int8", _bits(rows)).slice(0, rows), names_of(name), safe=False)


def _bits(rows: int) -> int:
    return max(1, rows - 1).bit_length()


@lru_cache(maxsize=64)
def _filled(value: int, dtype: str, bits: int) -> pa.Array:
    return pa.array(np.full(1 << bits, value, dtype))


@lru_cache(maxsize=64)
def names_of(*names: str) -> pa.Array:
    """The dictionary of a NAME column. Made when first asked for: converting anything makes Arrow import pandas."""
    return pa.array(names, pa.string())
