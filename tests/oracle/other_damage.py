"""Damage to the index, the checkpoint, the configuration, and whole folders."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

from tests.oracle.base import Base
from tests.oracle.edits import EARLIER, LATER, Damager, Found, create, delete, fixed, write, zero

CHECKPOINT_FIELDS = 6
TIMES = 3
BESIDE_THE_LOG = ("consumequeue", "index", "checkpoint", "config")


def _index(damage: Callable[[str, Base, random.Random], Found]) -> Damager:
    def damage_one(base: Base, chance: random.Random) -> Found:
        files = base.index_files()
        return damage(chance.choice(files), base, chance) if files else None

    return damage_one


def _index_entry(file: str, base: Base, chance: random.Random) -> Found:
    """One byte within the header, the slots or the first entries."""
    slots = int(base.plan.settings["maxHashSlotNum"])
    at = chance.choice(
        (chance.randrange(40), chance.randrange(40, 40 + 4 * slots), 40 + 4 * slots + 20 + chance.randrange(400))
    )
    return [{"op": "flip", "path": file, "offset": at, "hex": f"{1 << chance.randrange(8):02x}"}]


def _index_cut(file: str, base: Base, chance: random.Random) -> Found:
    return [{"op": "truncate", "path": file, "length": chance.choice((0, 39, 40, 2000, base.size(file) - 20))}]


def _checkpoint_field(base: Base, chance: random.Random) -> Found:
    """One field alone: 0, far, negative, or near what it was."""
    at = 8 * chance.randrange(CHECKPOINT_FIELDS)
    value = struct.unpack_from(">q", (base.root / "checkpoint").read_bytes(), at)[0]
    told = chance.choice((0, 1 << 41, -1, 1, value + 1, max(0, value - 5_000), value + 20_000))
    return [write("checkpoint", at, struct.pack(">q", told).hex())]


def _checkpoint_set(content: str) -> Damager:
    return lambda base, chance: [write("checkpoint", 0, content * 3)]


def _some_times_zero(base: Base, chance: random.Random) -> Found:
    """Some of the three times are not set, as in a checkpoint that was never flushed in full."""
    return [zero("checkpoint", 8 * at, 8) for at in chance.sample(range(TIMES), chance.randrange(1, TIMES))]


OTHER_DAMAGES: dict[str, Damager] = {
    "index.deleted_all": fixed(delete("index")),
    "index.deleted_one": _index(lambda file, base, chance: [delete(file)]),
    "index.header_count": _index(lambda file, base, chance: [write(file, 36, f"{chance.randrange(1, 300):08x}")]),
    "index.future_end": _index(lambda file, base, chance: [write(file, 8, LATER)]),
    "index.end_zero": _index(lambda file, base, chance: [write(file, 8, "0" * 16)]),
    "index.flip": _index(_index_entry),
    "index.truncated": _index(_index_cut),
    "index.zeroed": _index(lambda file, base, chance: [zero(file, 0, base.size(file))]),
    "index.bad_name": fixed(create("index/notes.txt", 1)),
    "checkpoint.deleted": fixed(delete("checkpoint")),
    "checkpoint.zeroed": fixed(zero("checkpoint", 0, 48)),
    "checkpoint.field": _checkpoint_field,
    "checkpoint.some_zero": _some_times_zero,
    "checkpoint.future": _checkpoint_set(LATER),
    "checkpoint.past": _checkpoint_set(EARLIER),
    "checkpoint.short": fixed({"op": "truncate", "path": "checkpoint", "length": 24}),
    "config.corrupt_delay_offset": fixed(create("config/delayOffset.json", 20, "7b22626164")),
    "store.emptied": lambda base, chance: [delete(name) for name in (*base.plan.log_folders, *BESIDE_THE_LOG)],
    "store.only_commitlog": fixed(*(delete(name) for name in BESIDE_THE_LOG)),
}
