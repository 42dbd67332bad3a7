"""Damage to the ext units of queues (enableConsumeQueueExt)."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

from parsers.consumequeue.ext import CQ_EXT_UNIT
from parsers.consumequeue.layout import CQ_UNIT
from parsers.values.java import LONG_MIN
from tests.oracle.base import Base
from tests.oracle.edits import Damager, Found, create, delete, write, zero

UNIT = CQ_EXT_UNIT.size


def _file(damage: Callable[[str, Base, random.Random], Found]) -> Damager:
    """One of the ext files."""

    def damage_one(base: Base, chance: random.Random) -> Found:
        found = sorted((base.root / "consumequeue_ext").glob("*/*/*"))
        return damage(chance.choice(found).relative_to(base.root).as_posix(), base, chance) if found else None

    return damage_one


def _all_gone(base: Base, chance: random.Random) -> Found:
    return [delete("consumequeue_ext")] if (base.root / "consumequeue_ext").is_dir() else None


def _flip(file: str, base: Base, chance: random.Random) -> Found:
    at = chance.randrange(base.size(file))
    return [{"op": "flip", "path": file, "offset": at, "hex": f"{1 << chance.randrange(8):02x}"}]


def _tail_zeroed(file: str, base: Base, chance: random.Random) -> Found:
    at = UNIT * chance.randrange(base.size(file) // UNIT)
    return [zero(file, at, base.size(file) - at)]


def _cut(file: str, base: Base, chance: random.Random) -> Found:
    return [{"op": "truncate", "path": file, "length": chance.choice((0, UNIT, base.size(file) - 1))}]


def _extra(file: str, base: Base, chance: random.Random) -> Found:
    folder, _, name = file.rpartition("/")
    new = f"{folder}/{int(name) + base.size(file):020d}"
    return None if (base.root / new).exists() else [create(new, base.size(file))]


def _short_written(field: str, values: tuple[int, ...]) -> Callable[[str, Base, random.Random], Found]:
    """A size in the fixed fields of a unit; the bases have no bit maps, so that all units are of one size."""

    def damage(file: str, base: Base, chance: random.Random) -> Found:
        at = UNIT * chance.randrange(base.size(file) // UNIT) + CQ_EXT_UNIT.offsets[field]
        return [write(file, at, struct.pack(">h", chance.choice(values)).hex())]

    return damage


def _tags_code_written(values: tuple[int, ...]) -> Callable[[str, Base, random.Random], Found]:
    """The tags code of a queue's last unit, or of its last few."""

    def damage(file: str, base: Base, chance: random.Random) -> Found:
        queue = base.files(chance.choice(base.queues()))[-1]
        units, code = base.units(queue), struct.pack(">q", chance.choice(values)).hex()
        last = range(max(0, units - chance.choice((1, 3))), units)
        return [write(queue, number * CQ_UNIT.size + CQ_UNIT.offsets["tags_code"], code) for number in last] or None

    return damage


UNIT_SIZES = (0, -1, 1, UNIT - 1, UNIT + 1, 2 * UNIT, 0x7FFF, -0x8000)
BIT_MAP_SIZES = (-1, 1, 8, 0x7FFF)
ADDRESSES = tuple(at + LONG_MIN for at in (0, 20, 40, 47, 500, 501, 2_000, 1 << 20, 1 << 40, (1 << 63) - 1 - (1 << 31)))
EXT_DAMAGES: dict[str, Damager] = {
    "ext.deleted_all": _all_gone,
    "ext.file_deleted": _file(lambda file, base, chance: [delete(file)]),
    "ext.queue_deleted": _file(lambda file, base, chance: [delete(file.rpartition("/")[0])]),
    "ext.topic_deleted": _file(lambda file, base, chance: [delete("/".join(file.split("/")[:2]))]),
    "ext.file_zeroed": _file(lambda file, base, chance: [zero(file, 0, base.size(file))]),
    "ext.size_written": _file(_short_written("unit_size", UNIT_SIZES)),
    "ext.bit_map_size_written": _file(_short_written("bitmap_size", BIT_MAP_SIZES)),
    "ext.address_written": _file(_tags_code_written(ADDRESSES)),
    "ext.hash_written": _file(_tags_code_written((0, 77, -(1 << 31)))),
    "ext.flip": _file(_flip),
    "ext.tail_zeroed": _file(_tail_zeroed),
    "ext.truncated_file": _file(_cut),
    "ext.extra_empty_file": _file(_extra),
}
