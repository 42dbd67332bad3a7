"""Topics met while scanning a log, as numbers: what compiled code looks up instead of strings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from parsers.kernels.arrays import Bytes, Longs
from parsers.kernels.bigendian import load_long
from parsers.kernels.java_hash import MALFORMED
from parsers.kernels.kernel import kernel
from parsers.values.java import decode_utf8, string_hash_code
from parsers.values.topics import SCHEDULE_TOPIC, is_lmq
from recovery.rules.dispatch import DispatchRules

IS_SCHEDULE, IS_BATCH, MAY_MULTI_DISPATCH, IS_LMQ = 1, 2, 4, 8
ABSENT = -1
FIRST_ROOM = 16
"""Topics, and bytes of names, there is room for at first."""
PRIME, MASK, WORD = 0x9E3779B97F4A7C1, 0x7FFFFFFFFFFFFFFF, 8


class TopicArrays(NamedTuple):
    """The table as compiled code reads it, with room after the codes that are given.

    `slots` (a power of two, open addressing) holds codes or ABSENT; name of code c is `names[ends[c] : ends[c + 1]]`;
    `seeds[c]` is the Java hash of `topic#`, `tag_seeds[c]` of `topic#T#`, MALFORMED for a name that is not UTF-8;
    `traits[c]` the bits above.
    """

    slots: Longs
    names: Bytes
    ends: Longs
    seeds: Longs
    tag_seeds: Longs
    traits: Longs


def _no_topics() -> TopicArrays:
    return TopicArrays(
        slots=np.full(2 * FIRST_ROOM, ABSENT, np.int64),
        names=np.empty(FIRST_ROOM, np.uint8),
        ends=np.zeros(FIRST_ROOM + 1, np.int64),
        seeds=np.empty(FIRST_ROOM, np.int64),
        tag_seeds=np.empty(FIRST_ROOM, np.int64),
        traits=np.empty(FIRST_ROOM, np.int64),
    )


@dataclass(slots=True)
class TopicTable:
    """Topic names by code, in the order they were met.

    Attributes:
        stored, names: topic by code; in `names` bytes that are not UTF-8 are as Java shows them.
        arrays: true until the next code is given.
    """

    rules: DispatchRules
    stored: list[bytes] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    codes: dict[bytes, int] = field(default_factory=dict)
    arrays: TopicArrays = field(default_factory=_no_topics)

    def code(self, stored: bytes) -> int:
        """The code of a stored name, a new one if it was not met yet."""
        if stored not in self.codes:
            self._add(stored, decode_utf8(stored))
        return self.codes[stored]

    def _add(self, stored: bytes, name: str) -> None:
        code = len(self.stored)
        start = int(self.arrays.ends[code])
        end = start + len(stored)
        self.arrays = table = _with_room(self.arrays, code, end)
        table.names[start:end] = np.frombuffer(stored, np.uint8)
        table.ends[code + 1] = end
        table.seeds[code], table.tag_seeds[code] = _seed(stored, f"{name}#"), _seed(stored, f"{name}#T#")
        table.traits[code] = self._traits(name)
        fill_slot(table.slots, table.names, table.ends, code)
        self.codes[stored] = code
        self.stored.append(stored)
        self.names.append(name)

    def _traits(self, name: str) -> int:
        return (
            (IS_SCHEDULE if name == SCHEDULE_TOPIC else 0)
            | (IS_BATCH if name in self.rules.batch_topics else 0)
            | (MAY_MULTI_DISPATCH if self.rules.looks_for_multi_dispatch(name) else 0)
            | (IS_LMQ if self.rules.enable_lmq and is_lmq(name) else 0)
        )


def _with_room(table: TopicArrays, codes: int, name_bytes: int) -> TopicArrays:
    """Room for one more than `codes` topics whose names take `name_bytes`: twice as much wherever it is short."""
    if name_bytes > len(table.names):
        table = table._replace(names=np.resize(table.names, 2 * name_bytes))
    if codes < len(table.seeds):
        return table
    room = 2 * len(table.seeds)
    table = table._replace(
        slots=np.full(2 * room, ABSENT, np.int64),
        ends=np.resize(table.ends, room + 1),
        seeds=np.resize(table.seeds, room),
        tag_seeds=np.resize(table.tag_seeds, room),
        traits=np.resize(table.traits, room),
    )
    for code in range(codes):
        fill_slot(table.slots, table.names, table.ends, code)
    return table


def _seed(stored: bytes, prefix: str) -> int:
    try:
        stored.decode()
    except UnicodeDecodeError:
        return MALFORMED
    return string_hash_code(prefix) & 0xFFFFFFFF


@kernel
def name_hash(data: Bytes, start: int, end: int) -> int:
    """Any hash of the bytes: of eight at a time, the last eight overlapping what came before."""
    value = (end - start) * PRIME
    if end - start < WORD:
        for at in range(start, end):
            value = ((value ^ int(np.int64(data[at]))) * PRIME) & MASK
        return value ^ (value >> 29)
    at = start
    while at < end - WORD:
        value = ((value ^ load_long(data, at)) * PRIME) & MASK
        value ^= value >> 32
        at += WORD
    value = ((value ^ load_long(data, end - WORD)) * PRIME) & MASK
    return value ^ (value >> 32)


@kernel
def same_name(names: Bytes, first: int, data: Bytes, start: int, size: int) -> bool:
    if size < WORD:
        at = 0
        while at < size and names[first + at] == data[start + at]:
            at += 1
        return at == size
    at = 0
    while at < size - WORD:
        if load_long(names, first + at) != load_long(data, start + at):
            return False
        at += WORD
    return load_long(names, first + size - WORD) == load_long(data, start + size - WORD)


@kernel
def fill_slot(slots: Longs, names: Bytes, ends: Longs, code: int) -> None:
    """Put a code that is not in the table yet into its slot."""
    slot = name_hash(names, ends[code], ends[code + 1]) & (len(slots) - 1)
    while slots[slot] >= 0:
        slot = (slot + 1) & (len(slots) - 1)
    slots[slot] = code


@kernel
def look_up(slots: Longs, names: Bytes, ends: Longs, data: Bytes, start: int, end: int) -> int:
    """The code of the name in `data[start:end]`, ABSENT when it was not met yet."""
    slot = name_hash(data, start, end) & (len(slots) - 1)
    while slots[slot] >= 0:
        code = int(slots[slot])
        first = int(ends[code])
        if ends[code + 1] - first == end - start and same_name(names, first, data, start, end - start):
            return code
        slot = (slot + 1) & (len(slots) - 1)
    return ABSENT
