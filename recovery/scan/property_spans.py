"""Where the property values that dispatch reads are in a record, inside compiled code.

The twin of `parsers.commitlog.record.properties.decode_properties` for a few names: it looks at an entry's first bytes
only.
"""

from __future__ import annotations

import numpy as np

from parsers.kernels.arrays import BLOCK, Bytes, Longs
from parsers.kernels.bigendian import load_int
from parsers.kernels.blocks import equal_mask, lowest_bit
from parsers.kernels.kernel import kernel

NAME_VALUE, ENTRY_END = 1, np.uint8(2)
UNIQ_KEY, KEYS, TAGS, DELAY, INNER_NUM, INNER_BASE, MULTI_DISPATCH, MULTI_OFFSETS = range(8)
SPANS = 2 * (MULTI_OFFSETS + 1)
KEYS_WORD, TAGS_WORD, UNIQ_WORD, KEY_WORD, DELA_WORD, INNE_WORD = (
    int.from_bytes(word, "big") for word in (b"KEYS", b"TAGS", b"UNIQ", b"_KEY", b"DELA", b"INNE")
)
DELAY_NAME, INNER_NUM_NAME, INNER_BASE_NAME, MULTI_DISPATCH_NAME, MULTI_OFFSETS_NAME = (
    np.frombuffer(name, np.uint8)
    for name in (b"DELAY", b"INNER_NUM", b"INNER_BASE", b"INNER_MULTI_DISPATCH", b"INNER_MULTI_QUEUE_OFFSET")
)
SHORTEST_ENTRY = len(b"KEYS") + 2


@kernel
def find_spans(data: Bytes, at: int, end: int, split_values: bool, span: Longs) -> bool:
    """Where the values of the names above are, as (start, end) pairs; -1 without one, the last of several.

    Returns False where only the scalar rule can tell: under `split_values` (up to 4.9.0) a value that holds 0x01.
    """
    for cell in range(len(span)):
        span[cell] = -1
    start, block, has_rare = at, at, False
    while block <= end:
        stops = entry_ends(data, block, end)
        if end - block < BLOCK:
            stops |= np.uint64(1) << np.uint64(end - block)  # the last entry may end without a separator
        while stops != 0:
            stop = block + lowest_bit(stops)
            stops &= stops - np.uint64(1)
            if stop - start >= SHORTEST_ENTRY:
                word = load_int(data, start)
                if word == KEYS_WORD:
                    if data[start + 4] == NAME_VALUE:
                        span[2 * KEYS], span[2 * KEYS + 1] = start + 5, stop
                elif word == TAGS_WORD:
                    if data[start + 4] == NAME_VALUE:
                        span[2 * TAGS], span[2 * TAGS + 1] = start + 5, stop
                elif word == UNIQ_WORD:
                    if stop - start > 9 and load_int(data, start + 4) == KEY_WORD and data[start + 8] == NAME_VALUE:
                        span[2 * UNIQ_KEY], span[2 * UNIQ_KEY + 1] = start + 9, stop
                elif word in (DELA_WORD, INNE_WORD):
                    has_rare = True
            start = stop + 1
        block += BLOCK
    if has_rare:
        find_rare_spans(data, at, end, span)
    return not (split_values and any_value_is_split(data, span))


@kernel
def find_rare_spans(data: Bytes, at: int, end: int, span: Longs) -> None:
    """Find the spans of the property names that few messages have."""
    while at < end:
        stop = at
        while stop < end and data[stop] != ENTRY_END:
            stop += 1
        name, size = rare_name(data, at, stop)
        value = at + size + 1
        if name >= 0 and value < stop and data[value - 1] == NAME_VALUE:
            span[2 * name], span[2 * name + 1] = value, stop
        at = stop + 1


@kernel
def any_value_is_split(data: Bytes, span: Longs) -> bool:
    for name in range(len(span) // 2):
        if span[2 * name] >= 0 and holds(data, span[2 * name], span[2 * name + 1], NAME_VALUE):
            return True
    return False


@kernel
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


@kernel
def rare_name(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Which of the rarer names starts at `at`, and its size; -1 for any other. Longer names are tried first."""
    if same(data, at, end, DELAY_NAME):
        return DELAY, len(DELAY_NAME)
    if same(data, at, end, MULTI_OFFSETS_NAME):
        return MULTI_OFFSETS, len(MULTI_OFFSETS_NAME)
    if same(data, at, end, MULTI_DISPATCH_NAME):
        return MULTI_DISPATCH, len(MULTI_DISPATCH_NAME)
    if same(data, at, end, INNER_BASE_NAME):
        return INNER_BASE, len(INNER_BASE_NAME)
    if same(data, at, end, INNER_NUM_NAME):
        return INNER_NUM, len(INNER_NUM_NAME)
    return -1, 0


@kernel
def same(data: Bytes, at: int, end: int, name: Bytes) -> bool:
    """The bytes before `end` start with `name`."""
    if end - at < len(name):
        return False
    step = 0
    while step < len(name) and data[at + step] == name[step]:
        step += 1
    return step == len(name)


@kernel
def holds(data: Bytes, start: int, end: int, wanted: int) -> bool:
    at = start
    while at < end and data[at] != wanted:
        at += 1
    return at < end
