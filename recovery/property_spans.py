"""Where the property values that dispatch reads are in a record, inside compiled code.

The twin of `parsers.commitlog.properties.decode_properties` for a few names: it looks at an entry's first bytes only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsers.kernels.bigendian import load_int
from parsers.kernels.blocks import BLOCK, equal_mask, lowest_bit
from parsers.numba_cache import cached_njit

Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]

NAME_VALUE, ENTRY_END = 1, np.uint8(2)
UNIQ_KEY, KEYS, TAGS, DELAY, INNER_NUM, INNER_BASE, MULTI_DISPATCH, MULTI_OFFSETS = range(8)
KEYS_WORD, TAGS_WORD, UNIQ_WORD, KEY_WORD, DELA_WORD, INNE_WORD = (
    int.from_bytes(word, "big") for word in (b"KEYS", b"TAGS", b"UNIQ", b"_KEY", b"DELA", b"INNE")
)
UNIQ_KEY_SIZE = len(b"UNIQ_KEY")
DELAY_NAME, INNER_NUM_NAME, INNER_BASE_NAME, MULTI_DISPATCH_NAME, MULTI_OFFSETS_NAME = (
    np.frombuffer(name, np.uint8)
    for name in (
        b"DELAY",
        b"INNER_NUM",
        b"INNER_BASE",
        b"INNER_MULTI_DISPATCH",
        b"INNER_MULTI_QUEUE_OFFSET",
    )
)
SHORTEST_ENTRY = len(b"KEYS") + 2


@cached_njit(nogil=True)
def find_spans(data: Bytes, at: int, end: int, split_values: bool, span: Longs) -> bool:
    """Where the values of the names above are, as (start, end) pairs; -1 without one, the last of several.

    Returns False where only the scalar rule can tell: under `split_values` (up to 4.9.0) a value that holds 0x01.
    """
    span[:] = -1
    start, block = at, at
    while block < end:
        stops = entry_ends(data, block, end)
        while stops != 0:
            stop = block + lowest_bit(stops)
            stops &= stops - np.uint64(1)
            if not take_entry(data, start, stop, split_values, span):
                return False
            start = stop + 1
        block += BLOCK
    return take_entry(data, start, end, split_values, span)


@cached_njit(nogil=True, inline="always")
def entry_ends(data: Bytes, at: int, end: int) -> np.uint64:
    """Which of the 64 bytes from `at`, as far as before `end`, are 0x02."""
    if at + BLOCK <= len(data):
        within = np.uint64(0xFFFFFFFFFFFFFFFF)
        if end - at < BLOCK:
            within >>= np.uint64(BLOCK - (end - at))
        return equal_mask(data, at, ENTRY_END) & within
    stops = np.uint64(0)
    for step in range(min(BLOCK, end - at)):
        if data[at + step] == ENTRY_END:
            stops |= np.uint64(1) << np.uint64(step)
    return stops


@cached_njit(nogil=True, inline="always")
def take_entry(data: Bytes, start: int, end: int, split_values: bool, span: Longs) -> bool:
    """Keep where the value of one entry is, if its name is one of those above and it has a value."""
    if end - start < SHORTEST_ENTRY:
        return True
    word = load_int(data, start)
    name, size = -1, 4
    if word == KEYS_WORD:
        name = KEYS
    elif word == TAGS_WORD:
        name = TAGS
    elif word == UNIQ_WORD and end - start > UNIQ_KEY_SIZE and load_int(data, start + 4) == KEY_WORD:
        name, size = UNIQ_KEY, UNIQ_KEY_SIZE
    elif word == DELA_WORD and same(data, start, end, DELAY_NAME):
        name, size = DELAY, len(DELAY_NAME)
    elif word == INNE_WORD:
        name, size = inner_name(data, start, end)
    value = start + size + 1
    if name < 0 or value >= end or data[value - 1] != NAME_VALUE:
        return True
    span[2 * name], span[2 * name + 1] = value, end
    return not (split_values and holds(data, value, end, NAME_VALUE))


@cached_njit(nogil=True)
def inner_name(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Which of the INNER_ names starts at `at`, and its size; -1 for any other. Longer names are tried first."""
    if same(data, at, end, MULTI_OFFSETS_NAME):
        return MULTI_OFFSETS, len(MULTI_OFFSETS_NAME)
    if same(data, at, end, MULTI_DISPATCH_NAME):
        return MULTI_DISPATCH, len(MULTI_DISPATCH_NAME)
    if same(data, at, end, INNER_BASE_NAME):
        return INNER_BASE, len(INNER_BASE_NAME)
    if same(data, at, end, INNER_NUM_NAME):
        return INNER_NUM, len(INNER_NUM_NAME)
    return -1, 0


@cached_njit(nogil=True)
def same(data: Bytes, at: int, end: int, name: Bytes) -> bool:
    """The bytes before `end` start with `name`."""
    if end - at < len(name):
        return False
    step = 0
    while step < len(name) and data[at + step] == name[step]:
        step += 1
    return step == len(name)


@cached_njit(nogil=True)
def holds(data: Bytes, start: int, end: int, wanted: int) -> bool:
    at = start
    while at < end and data[at] != wanted:
        at += 1
    return at < end
