"""The properties of one record inside compiled code: the twin of `properties.decode_properties`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.commitlog.compiled.columns import KEYS, NAMES, TAGS, UNIQUE_ID, VALUES, Columns
from parsers.kernels.arrays import BLOCK, Bytes
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.blocks import block_before_end, copy, equal_mask, lowest_bit
from parsers.kernels.kernel import inline_kernel, kernel
from parsers.kernels.utf8 import copy_repaired

NAME_END, ENTRY_END = np.uint8(1), np.uint8(2)
TAGS_NAME = int.from_bytes(b"TAGS", "big")
KEYS_NAME = int.from_bytes(b"KEYS", "big")
UNIQ_KEY_NAME = int.from_bytes(b"UNIQ_KEY", "big")

Ends = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int64]

FOUND = 2 * (max(KEYS, TAGS, UNIQUE_ID) + 1)
"""Cells of `found`: start and size of the last value of KEYS, TAGS and UNIQ_KEY, at twice their place in TEXTS."""


class EntryRule(NamedTuple):
    """How the entries of one record are taken.

    `valid`: they are UTF-8; `split_rule`: they are parsed as up to 4.9.0; `with_pairs`: names and values are copied.
    """

    valid: bool
    split_rule: bool
    with_pairs: bool


@inline_kernel
def put_text(text: Bytes, to: int, data: Bytes, at: int, size: int, valid: bool) -> int:
    """Copy text, repaired where it is not all valid UTF-8."""
    if valid:
        return copy(text, to, data, at, size)
    return copy_repaired(text, to, data, at, size)


@inline_kernel
def scan_properties(data: Bytes, at: int, end: int, rule: EntryRule, out: Columns, pairs: int) -> int:
    """Visit the entries of a properties string; returns the number of pairs made so far.

    `out.found` gets the spans of KEYS, TAGS and UNIQ_KEY; names and values are copied after `out.text_to`.
    """
    start, name_end, base, block = at, -1, at, at
    both = stops = np.uint64(0)
    while True:
        entry_end = -1
        if both != 0:
            bit = lowest_bit(both)
            both &= both - np.uint64(1)
            if stops >> np.uint64(bit) & np.uint64(1):
                entry_end = base + bit
            elif name_end < 0:
                name_end = base + bit
        elif block < end:
            base = block
            read_at, shift, within = block_before_end(data, base, end)
            stops = equal_mask(data, read_at, ENTRY_END) >> shift & within
            both = stops | (equal_mask(data, read_at, NAME_END) >> shift & within)
            block = read_at + BLOCK
        else:
            entry_end = end
        if entry_end >= 0:
            pairs = visit_entry(data, start, name_end, entry_end, rule, out, pairs)
            if entry_end == end:
                return pairs
            start, name_end = entry_end + 1, -1


@inline_kernel
def visit_entry(data: Bytes, start: int, name_end: int, end: int, rule: EntryRule, out: Columns, pairs: int) -> int:
    """Take one entry if the parser of that rule keeps it."""
    valid, split_rule, with_pairs = rule
    if name_end < 0 or (name_end == start and not split_rule):
        return pairs
    if split_rule:
        end = two_pieces(data, name_end, end)
    if name_end + 1 >= end:
        return pairs
    name_size, value_size = name_end - start, end - name_end - 1
    if name_size == 4:
        name = load_int(data, start)
        if name == KEYS_NAME:
            out.found[2 * KEYS], out.found[2 * KEYS + 1] = name_end + 1, value_size
        elif name == TAGS_NAME:
            out.found[2 * TAGS], out.found[2 * TAGS + 1] = name_end + 1, value_size
    elif name_size == 8 and load_long(data, start) == UNIQ_KEY_NAME:
        out.found[2 * UNIQUE_ID], out.found[2 * UNIQUE_ID + 1] = name_end + 1, value_size
    if with_pairs:
        out.text_to[NAMES] = put_text(out.text, out.text_to[NAMES], data, start, name_size, valid)
        out.text_to[VALUES] = put_text(out.text, out.text_to[VALUES], data, name_end + 1, value_size, valid)
        pairs += 1
        out.pair_ends[0, pairs] = out.text_to[NAMES] - out.text_at[NAMES]
        out.pair_ends[1, pairs] = out.text_to[VALUES] - out.text_at[VALUES]
    return pairs


@kernel
def two_pieces(data: Bytes, name_end: int, end: int) -> int:
    """Where the value ends under the rule up to 4.9.0 (`String.split`);

    0 when the entry is not exactly two pieces."""
    while end > name_end + 1 and data[end - 1] == NAME_END:
        end -= 1
    for i in range(name_end + 1, end):
        if data[i] == NAME_END:
            return 0
    return end if end > name_end + 1 else 0
