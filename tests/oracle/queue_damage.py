"""Damage to queues: units, files, folders."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path

from parsers.consumequeue.layout import CQ_UNIT
from tests.oracle.base import Base
from tests.oracle.edits import Damager, Found, create, delete, fixed, swapped, write, zero

UNIT = CQ_UNIT.size


def _any_queue_file(base: Base, chance: random.Random, which: str = "any") -> str:
    files = base.files(chance.choice(base.queues()))
    return {"first": files[0], "last": files[-1], "any": chance.choice(files)}[which]


def _queue_gone(levels: int) -> Damager:
    def damage(base: Base, chance: random.Random) -> Found:
        return [delete("/".join(chance.choice(base.queues()).split("/")[: levels + 1]))]

    return damage


def _queue_file_gone(which: str) -> Damager:
    def damage(base: Base, chance: random.Random) -> Found:
        longest = max(base.queues(), key=lambda folder: (len(base.files(folder)), folder))
        files = base.files(longest)
        if which == "middle" and len(files) < 3:
            return None
        return [delete({"first": files[0], "last": files[-1], "middle": files[len(files) // 2]}[which])]

    return damage


def _queue_file_cut(base: Base, chance: random.Random) -> Found:
    file = _any_queue_file(base, chance)
    size = base.size(file)
    return [{"op": "truncate", "path": file, "length": chance.choice((0, 7, UNIT, size // 2 + 10, size - UNIT))}]


def _queue_tail_zeroed(base: Base, chance: random.Random) -> Found:
    return _tail_of(base, _any_queue_file(base, chance, "last"), chance)


def _tail_of(base: Base, file: str, chance: random.Random) -> Found:
    units = base.units(file)
    lost = min(units, chance.randrange(1, 7))
    return [zero(file, (units - lost) * UNIT, lost * UNIT)] if lost else None


def _queue_tails_zeroed(base: Base, chance: random.Random) -> Found:
    tails = (_tail_of(base, base.files(folder)[-1], chance) for folder in base.queues())
    return [edit for tail in tails if tail for edit in tail] or None


def _queue_file_zeroed(base: Base, chance: random.Random) -> Found:
    file = _any_queue_file(base, chance)
    return [zero(file, 0, base.size(file))]


def _unit(content: Callable[[Base, random.Random], bytes]) -> Damager:
    """One written unit replaced."""

    def damage(base: Base, chance: random.Random) -> Found:
        file = _any_queue_file(base, chance)
        units = base.units(file)
        return [write(file, chance.randrange(units) * UNIT, content(base, chance).hex())] if units else None

    return damage


def wrong_unit(base: Base, chance: random.Random) -> bytes:
    record = chance.choice(base.records)
    return struct.pack(">qiq", base.physical_offset(record), record.message.total_size, chance.choice((0, 1, 77)))


def _unit_beyond_log(base: Base, chance: random.Random) -> Found:
    file = _any_queue_file(base, chance, "last")
    at = base.units(file) * UNIT
    far = struct.pack(">qiq", 1 << 40, 200, 0).hex()
    return [write(file, at, far)] if at < base.size(file) else None


def _unit_flip(base: Base, chance: random.Random) -> Found:
    file = _any_queue_file(base, chance)
    units = base.units(file)
    at = chance.randrange(units * UNIT) if units else 0
    return [{"op": "flip", "path": file, "offset": at, "hex": f"{1 << chance.randrange(8):02x}"}] if units else None


def _units_swapped(base: Base, chance: random.Random) -> Found:
    file = _any_queue_file(base, chance)
    units, content = base.units(file), (base.root / file).read_bytes()
    if units < 2:
        return None
    one, other = chance.sample(range(units), 2)
    return [
        write(file, one * UNIT, content[other * UNIT : (other + 1) * UNIT].hex()),
        write(file, other * UNIT, content[one * UNIT : (one + 1) * UNIT].hex()),
    ]


def _queue_files_swapped(base: Base, chance: random.Random) -> Found:
    one, other = (_any_queue_file(base, chance) for _ in range(2))
    return swapped(one, other) if one != other else None


def _queue_extra(length: int | None) -> Damager:
    def damage(base: Base, chance: random.Random) -> Found:
        last = _any_queue_file(base, chance, "last")
        size = base.size(last)
        behind = f"{last.rpartition('/')[0]}/{int(Path(last).name) + size:020d}"
        return [create(behind, size if length is None else length)]

    return damage


def _ghost_queue(base: Base, chance: random.Random) -> Found:
    size = int(base.plan.settings["mappedFileSizeConsumeQueue"])
    folder = chance.choice(("Ghost/0", "T/0", "TopicA/17"))
    return [create(f"consumequeue/{folder}/{0:020d}", size, wrong_unit(base, chance).hex())]


def _stray_queue_folder(base: Base, chance: random.Random) -> Found:
    return [{"op": "mkdir", "path": f"consumequeue/{chance.choice(('T/0', 'TopicA/x', 'Ghost', 'TopicA/17'))}"}]


def _bad_queue_folder(base: Base, chance: random.Random) -> Found:
    size = int(base.plan.settings["mappedFileSizeConsumeQueue"])
    return [create(f"consumequeue/TopicA/x/{0:020d}", size)]


QUEUE_DAMAGES: dict[str, Damager] = {
    "cq.deleted_all": fixed(delete("consumequeue")),
    "cq.deleted_topic": _queue_gone(1),
    "cq.deleted_queue": _queue_gone(2),
    "cq.file_deleted_first": _queue_file_gone("first"),
    "cq.file_deleted_middle": _queue_file_gone("middle"),
    "cq.file_deleted_last": _queue_file_gone("last"),
    "cq.truncated_file": _queue_file_cut,
    "cq.tail_zeroed": _queue_tail_zeroed,
    "cq.tail_zeroed_all": _queue_tails_zeroed,
    "cq.file_zeroed": _queue_file_zeroed,
    "cq.unit_zeroed": _unit(lambda base, chance: bytes(UNIT)),
    "cq.unit_wrong": _unit(wrong_unit),
    "cq.unit_flip": _unit_flip,
    "cq.units_swapped": _units_swapped,
    "cq.unit_past_end": _unit_beyond_log,
    "cq.files_swapped": _queue_files_swapped,
    "cq.zero_length_file": _queue_extra(0),
    "cq.extra_empty_file": _queue_extra(None),
    "cq.unknown_topic": _ghost_queue,
    "cq.stray_folder": _stray_queue_folder,
    "cq.bad_queue_dir": _bad_queue_folder,
}
