"""Random damage to a base, as the edits of a case: one function per class, and several of them together.

A class draws its places from `chance`, so that the same seed damages the same base in the same way. A class that does
not apply to a base (no index file, nothing unforced) gives None.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parsers.consumequeue.layout import CQ_UNIT
from tests.oracle.base import Base, Record

Edit = dict[str, Any]
Found = list[Edit] | None
PAGE = 4096
UNIT = CQ_UNIT.size
CHECKPOINT_FIELDS = 6
LATER = "0000030000000000"
EARLIER = "0000000100000000"


@dataclass(frozen=True, slots=True)
class Damage:
    """One damaged copy of a base: what is edited, and with which settings it is started."""

    name: str
    edits: list[Edit]
    settings: Mapping[str, str] = field(default_factory=dict)


def draw(base: Base, chance: random.Random) -> Damage:
    """One of the classes, or two or three of them together; `abort` there, away, or as it was left."""
    name = chance.choice([*DAMAGES, *SETTINGS, *["combo"] * 12, *["none"] * 2])
    found = _combo(base, chance) if name == "combo" else _single(name, base, chance)
    if found is None:
        return draw(base, chance)
    marker = chance.choice(([{"op": "create", "path": "abort"}], [{"op": "delete", "path": "abort"}], []))
    return Damage(found.name, [*found.edits, *marker], found.settings)


def _single(name: str, base: Base, chance: random.Random) -> Damage | None:
    if name == "none":
        return Damage(name, [])
    if name in SETTINGS:
        settings, behind = SETTINGS[name]
        edits = DAMAGES[behind](base, chance) if behind else []
        return None if edits is None else Damage(name, edits, settings)
    edits = DAMAGES[name](base, chance)
    return None if edits is None else Damage(name, edits)


def _combo(base: Base, chance: random.Random) -> Damage | None:
    drawn = [_single(name, base, chance) for name in chance.sample(sorted(DAMAGES), chance.choice((2, 2, 3)))]
    chosen = [one for one in drawn if one is not None]
    if not chosen or _collide([edit for one in chosen for edit in one.edits]):
        return None
    return Damage("combo " + "+".join(one.name for one in chosen), [edit for one in chosen for edit in one.edits])


def _collide(edits: list[Edit]) -> bool:
    """An edit works on what another one deletes, replaces or cuts."""
    within = ("flip", "write", "zero")
    for number, edit in enumerate(edits):
        for other in edits[:number]:
            same = _is_in(edit["path"], other["path"]) or _is_in(other["path"], edit["path"])
            if same and not (edit["op"] in within and other["op"] in within):
                return True
    return False


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _write(file: str, at: int, content: str) -> Edit:
    return {"op": "write", "path": file, "offset": at, "hex": content}


def _zero(file: str, at: int, length: int) -> Edit:
    return {"op": "zero", "path": file, "offset": at, "length": length}


def _delete(path: str) -> Edit:
    return {"op": "delete", "path": path}


def _create(path: str, length: int, content: str = "") -> Edit:
    return {"op": "create", "path": path, "length": length, "hex": content}


# -- records of the log


def _any_record(base: Base, chance: random.Random) -> Record:
    """Half of the time one of the last file, else any."""
    last = [record for record in base.records if record.file == base.records[-1].file]
    return chance.choice(last if chance.random() < 0.5 else base.records)


def _field(at: int, content: str) -> Callable[[Base, random.Random], Found]:
    """Bytes written over a record, counted from its start."""

    def damage(base: Base, chance: random.Random) -> Found:
        record = _any_record(base, chance)
        return [_write(record.file, record.file_pos + at, content)]

    return damage


def _first_record(at: int, content: str) -> Callable[[Base, random.Random], Found]:
    """Bytes written over the first record of a file."""

    def damage(base: Base, chance: random.Random) -> Found:
        return [_write(chance.choice(sorted({record.file for record in base.records})), at, content)]

    return damage


def _body_flip(base: Base, chance: random.Random) -> Found:
    record = _any_record(base, chance)
    if not record.message.body:
        return None
    at = record.body_at + chance.randrange(len(record.message.body))
    return [{"op": "flip", "path": record.file, "offset": at, "hex": f"{1 << chance.randrange(8):02x}"}]


def _properties_flip(base: Base, chance: random.Random) -> Found:
    record = _any_record(base, chance)
    if record.message.properties_size <= 0:
        return None
    at = record.properties_at + 2 + chance.randrange(record.message.properties_size)
    return [{"op": "flip", "path": record.file, "offset": at, "hex": "01"}]


def _size_plus(base: Base, chance: random.Random) -> Found:
    record = _any_record(base, chance)
    size = record.message.total_size + chance.choice((-1, 1, 4, 100))
    return [_write(record.file, record.file_pos, f"{size:08x}")]


def _body_length(base: Base, chance: random.Random) -> Found:
    record = _any_record(base, chance)
    return [_write(record.file, record.body_at - 4, chance.choice(("00ffffff", "ffffffff", "00000001")))]


def _topic_length(base: Base, chance: random.Random) -> Found:
    record = _any_record(base, chance)
    return [_write(record.file, record.topic_at, chance.choice(("ff", "7f", "00")))]


def _transaction(base: Base, chance: random.Random) -> Found:
    """Another transaction type; compression and hosts as they were."""
    record = _any_record(base, chance)
    flag = record.message.sys_flag & ~0xC | chance.choice((0, 4, 8, 12))
    return None if flag == record.message.sys_flag else [_write(record.file, record.file_pos + 36, f"{flag:08x}")]


def _store_time(base: Base, chance: random.Random) -> Found:
    record = _any_record(base, chance)
    return [_write(record.file, record.store_time_at, chance.choice((LATER, EARLIER, "0" * 16)))]


def _swap_records(base: Base, chance: random.Random) -> Found:
    """A record copied over another one of the same length, in place."""
    record = _any_record(base, chance)
    same = [one for one in base.records if one.message.total_size == record.message.total_size and one != record]
    if not same:
        return None
    other = chance.choice(same)
    moved = {"offset": other.file_pos, "length": other.message.total_size, "toOffset": record.file_pos}
    return [{"op": "copy", "path": other.file, "to": record.file, **moved}]


# -- files of the log


def _zero_page(base: Base, chance: random.Random) -> Found:
    record = _any_record(base, chance)
    return [_zero(record.file, record.file_pos // PAGE * PAGE, PAGE)]


def _log_truncated(which: str) -> Callable[[Base, random.Random], Found]:
    def damage(base: Base, chance: random.Random) -> Found:
        files = base.files("commitlog")
        file = files[-1] if which == "last" else chance.choice(files[:-1] or files)
        size = base.size(file)
        return [{"op": "truncate", "path": file, "length": chance.choice((0, 1, PAGE, size // 2 + 37, size - PAGE))}]

    return damage


def _log_missing(which: str) -> Callable[[Base, random.Random], Found]:
    def damage(base: Base, chance: random.Random) -> Found:
        files = base.files("commitlog")
        number = {"first": 0, "last": -1, "middle": len(files) // 2}[which]
        return [_delete(files[number])]

    return damage


def _log_extra(files_on: int, length: int | None) -> Callable[[Base, random.Random], Found]:
    """A file of zeros behind the last one: `files_on` places further, of the log's size or another one."""

    def damage(base: Base, chance: random.Random) -> Found:
        last = base.files("commitlog")[-1]
        size = base.size(last)
        return [_create(f"commitlog/{int(Path(last).name) + files_on * size:020d}", size if length is None else length)]

    return damage


def _log_swapped(base: Base, chance: random.Random) -> Found:
    files = base.files("commitlog")
    return _swapped(*chance.sample(files, 2)) if len(files) > 1 else None


def _swapped(one: str, other: str) -> list[Edit]:
    kept = f"{one}.kept"
    moves = ((one, kept), (other, one), (kept, other))
    return [*({"op": "copy", "path": source, "to": target} for source, target in moves), _delete(kept)]


def _stale_tail(base: Base, chance: random.Random) -> Found:
    last, older = base.records[-1], chance.choice(base.records)
    if last.end + older.message.total_size >= base.size(last.file):
        return None
    moved = {"offset": older.file_pos, "length": older.message.total_size, "toOffset": last.end}
    return [{"op": "copy", "path": older.file, "to": last.file, **moved}]


def _garbage_tail(base: Base, chance: random.Random) -> Found:
    last = base.records[-1]
    room = base.size(last.file) - last.end
    at = last.end + chance.choice((0, 0, 1, 8, 500))
    return [_write(last.file, at, chance.randbytes(16).hex())] if at + 16 < last.end + room else None


def _bytes_copied(base: Base, chance: random.Random) -> Found:
    """Some bytes of the log over others."""
    source, target = (chance.choice(base.records) for _ in range(2))
    moved = {"offset": source.file_pos, "length": chance.choice((8, 64, 512)), "toOffset": target.file_pos + 4}
    fits = moved["toOffset"] + moved["length"] <= base.size(target.file)
    return [{"op": "copy", "path": source.file, "to": target.file, **moved}] if fits and source != target else None


# -- queues


def _any_queue_file(base: Base, chance: random.Random, which: str = "any") -> str:
    files = base.files(chance.choice(base.queues()))
    return {"first": files[0], "last": files[-1], "any": chance.choice(files)}[which]


def _queue_gone(levels: int) -> Callable[[Base, random.Random], Found]:
    def damage(base: Base, chance: random.Random) -> Found:
        return [_delete("/".join(chance.choice(base.queues()).split("/")[: levels + 1]))]

    return damage


def _queue_file_gone(which: str) -> Callable[[Base, random.Random], Found]:
    def damage(base: Base, chance: random.Random) -> Found:
        longest = max(base.queues(), key=lambda folder: (len(base.files(folder)), folder))
        files = base.files(longest)
        if which == "middle" and len(files) < 3:
            return None
        return [_delete({"first": files[0], "last": files[-1], "middle": files[len(files) // 2]}[which])]

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
    return [_zero(file, (units - lost) * UNIT, lost * UNIT)] if lost else None


def _queue_tails_zeroed(base: Base, chance: random.Random) -> Found:
    tails = (_tail_of(base, base.files(folder)[-1], chance) for folder in base.queues())
    return [edit for tail in tails if tail for edit in tail] or None


def _queue_file_zeroed(base: Base, chance: random.Random) -> Found:
    file = _any_queue_file(base, chance)
    return [_zero(file, 0, base.size(file))]


def _unit(content: Callable[[Base, random.Random], bytes]) -> Callable[[Base, random.Random], Found]:
    """One written unit replaced."""

    def damage(base: Base, chance: random.Random) -> Found:
        file = _any_queue_file(base, chance)
        units = base.units(file)
        return [_write(file, chance.randrange(units) * UNIT, content(base, chance).hex())] if units else None

    return damage


def _wrong_unit(base: Base, chance: random.Random) -> bytes:
    record = chance.choice(base.records)
    return struct.pack(">qiq", base.physical_offset(record), record.message.total_size, chance.choice((0, 1, 77)))


def _unit_beyond_log(base: Base, chance: random.Random) -> Found:
    file = _any_queue_file(base, chance, "last")
    at = base.units(file) * UNIT
    far = struct.pack(">qiq", 1 << 40, 200, 0).hex()
    return [_write(file, at, far)] if at < base.size(file) else None


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
        _write(file, one * UNIT, content[other * UNIT : (other + 1) * UNIT].hex()),
        _write(file, other * UNIT, content[one * UNIT : (one + 1) * UNIT].hex()),
    ]


def _queue_files_swapped(base: Base, chance: random.Random) -> Found:
    one, other = (_any_queue_file(base, chance) for _ in range(2))
    return _swapped(one, other) if one != other else None


def _queue_extra(length: int | None) -> Callable[[Base, random.Random], Found]:
    def damage(base: Base, chance: random.Random) -> Found:
        last = _any_queue_file(base, chance, "last")
        size = base.size(last)
        behind = f"{last.rpartition('/')[0]}/{int(Path(last).name) + size:020d}"
        return [_create(behind, size if length is None else length)]

    return damage


def _ghost_queue(base: Base, chance: random.Random) -> Found:
    size = int(base.plan.settings["mappedFileSizeConsumeQueue"])
    folder = chance.choice(("Ghost/0", "T/0", "TopicA/17"))
    return [_create(f"consumequeue/{folder}/{0:020d}", size, _wrong_unit(base, chance).hex())]


def _stray_queue_folder(base: Base, chance: random.Random) -> Found:
    return [{"op": "mkdir", "path": f"consumequeue/{chance.choice(('T/0', 'TopicA/x', 'Ghost', 'TopicA/17'))}"}]


def _bad_queue_folder(base: Base, chance: random.Random) -> Found:
    size = int(base.plan.settings["mappedFileSizeConsumeQueue"])
    return [_create(f"consumequeue/TopicA/x/{0:020d}", size)]


# -- index


def _index(damage: Callable[[str, Base, random.Random], Found]) -> Callable[[Base, random.Random], Found]:
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


# -- checkpoint, configuration, the whole store


def _checkpoint_field(base: Base, chance: random.Random) -> Found:
    """One field alone: 0, far, negative, or near what it was."""
    at = 8 * chance.randrange(CHECKPOINT_FIELDS)
    value = struct.unpack_from(">q", (base.root / "checkpoint").read_bytes(), at)[0]
    told = chance.choice((0, 1 << 41, -1, 1, value + 1, max(0, value - 5_000), value + 20_000))
    return [_write("checkpoint", at, struct.pack(">q", told).hex())]


def _checkpoint_set(content: str) -> Callable[[Base, random.Random], Found]:
    return lambda base, chance: [_write("checkpoint", 0, content * 3)]


def _fixed(*edits: Edit) -> Callable[[Base, random.Random], Found]:
    return lambda base, chance: [dict(edit) for edit in edits]


# -- loss of power: only what was forced survives


def _unforced(base: Base, *, log: bool, queues: bool, deeper: int = 0) -> Found:
    if base.flushed is None:
        return None
    found = list[Edit]()
    if log:
        found += _cut_at(base, "commitlog", max(0, base.flushed["commitLogFlushed"] - deeper))
    for queue, forced in base.flushed["queuesFlushed"].items() if queues else ():
        if (base.root / "consumequeue" / queue).is_dir():
            found += _cut_at(base, f"consumequeue/{queue}", forced)
    return found or None


def _cut_at(base: Base, folder: str, forced: int) -> list[Edit]:
    """Everything in a folder's files from a position on is zero."""
    found = list[Edit]()
    for file in base.files(folder):
        first, size = int(Path(file).name), base.size(file)
        if first + size > forced and size:
            at = max(0, forced - first)
            found.append(_zero(file, at, size - at))
    return found


def _powerloss_deeper(base: Base, chance: random.Random) -> Found:
    """The log lost more than the force position says."""
    return _unforced(base, log=True, queues=False, deeper=chance.choice((1, 3)) * PAGE)


def _powerloss_pages(base: Base, chance: random.Random) -> Found:
    """Some of the unforced pages of the log lost, later ones kept."""
    if base.flushed is None:
        return None
    last = base.records[-1]
    end, size = int(Path(last.file).name) + last.end, base.size(last.file)
    pages = range(base.flushed["commitLogFlushed"] // PAGE, end // PAGE)
    lost = [page * PAGE for page in pages if chance.random() < 0.4]
    return [_zero(f"commitlog/{at // size * size:020d}", at % size, PAGE) for at in lost] or None


def _powerloss_all(base: Base, chance: random.Random) -> Found:
    found = _unforced(base, log=True, queues=True)
    files = base.index_files()
    if found is None or not files:
        return None
    newest = [_zero(files[-1], 0, base.size(files[-1]))]
    checkpoint = [_zero("checkpoint", 0, PAGE)] if chance.random() < 0.5 else []
    return [*found, *newest, *checkpoint]


ROOT_FOLDERS = ("commitlog", "consumequeue", "index", "checkpoint", "config")

DAMAGES: dict[str, Callable[[Base, random.Random], Found]] = {
    "record.body_flip": _body_flip,
    "record.properties_flip": _properties_flip,
    "record.size_zero": _field(0, "00000000"),
    "record.size_negative": _field(0, "ffffff00"),
    "record.size_huge": _field(0, "7fffff00"),
    "record.size_other": _size_plus,
    "record.magic": _field(4, "0badcafe"),
    "record.magic_blank": _field(4, "cbd43194"),
    "record.queueid": _field(12, "00000009"),
    "record.queueoffset": _field(20, "00000000000003e7"),
    "record.physicaloffset": _field(28, "0000000000000007"),
    "record.transaction_type": _transaction,
    "record.prepared_type": _field(36, "00000004"),
    "record.store_timestamp": _store_time,
    "record.body_length": _body_length,
    "record.topic_length": _topic_length,
    "record.replaced": _swap_records,
    "file_head.magic": _first_record(4, "00000001"),
    "file_head.storetime_zero": _first_record(56, "0" * 16),
    "file_head.storetime_future": _first_record(56, LATER),
    "file_head.size_zero": _first_record(0, "00000000"),
    "zero_page": _zero_page,
    "bytes_copied": _bytes_copied,
    "stale_tail": _stale_tail,
    "garbage_tail": _garbage_tail,
    "file.truncated_last": _log_truncated("last"),
    "file.truncated_middle": _log_truncated("middle"),
    "file.missing_first": _log_missing("first"),
    "file.missing_middle": _log_missing("middle"),
    "file.missing_last": _log_missing("last"),
    "file.extra_empty": _log_extra(1, None),
    "file.zero_length_extra": _log_extra(1, 0),
    "file.extra_after_gap": _log_extra(2, None),
    "file.swapped": _log_swapped,
    "file.no_commitlog": _fixed(_delete("commitlog")),
    "file.bad_name": _fixed(_create("commitlog/notes.txt", 300)),
    "cq.deleted_all": _fixed(_delete("consumequeue")),
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
    "cq.unit_wrong": _unit(_wrong_unit),
    "cq.unit_flip": _unit_flip,
    "cq.units_swapped": _units_swapped,
    "cq.unit_past_end": _unit_beyond_log,
    "cq.files_swapped": _queue_files_swapped,
    "cq.zero_length_file": _queue_extra(0),
    "cq.extra_empty_file": _queue_extra(None),
    "cq.unknown_topic": _ghost_queue,
    "cq.stray_folder": _stray_queue_folder,
    "cq.bad_queue_dir": _bad_queue_folder,
    "index.deleted_all": _fixed(_delete("index")),
    "index.deleted_one": _index(lambda file, base, chance: [_delete(file)]),
    "index.header_count": _index(lambda file, base, chance: [_write(file, 36, f"{chance.randrange(1, 300):08x}")]),
    "index.future_end": _index(lambda file, base, chance: [_write(file, 8, LATER)]),
    "index.end_zero": _index(lambda file, base, chance: [_write(file, 8, "0" * 16)]),
    "index.flip": _index(_index_entry),
    "index.truncated": _index(_index_cut),
    "index.zeroed": _index(lambda file, base, chance: [_zero(file, 0, base.size(file))]),
    "index.bad_name": _fixed(_create("index/notes.txt", 1)),
    "checkpoint.deleted": _fixed(_delete("checkpoint")),
    "checkpoint.zeroed": _fixed(_zero("checkpoint", 0, 48)),
    "checkpoint.field": _checkpoint_field,
    "checkpoint.future": _checkpoint_set(LATER),
    "checkpoint.past": _checkpoint_set(EARLIER),
    "checkpoint.short": _fixed({"op": "truncate", "path": "checkpoint", "length": 24}),
    "config.corrupt_delay_offset": _fixed(_create("config/delayOffset.json", 20, "7b22626164")),
    "store.emptied": _fixed(*(_delete(name) for name in ROOT_FOLDERS)),
    "store.only_commitlog": _fixed(*(_delete(name) for name in ROOT_FOLDERS[1:])),
    "powerloss.commitlog": lambda base, chance: _unforced(base, log=True, queues=False),
    "powerloss.commitlog_and_cq": lambda base, chance: _unforced(base, log=True, queues=True),
    "powerloss.cq": lambda base, chance: _unforced(base, log=False, queues=True),
    "powerloss.deeper": lambda base, chance: _unforced(
        base, log=True, queues=False, deeper=chance.choice((1, 3)) * PAGE
    ),
    "powerloss.holes": _powerloss_pages,
    "powerloss.all": _powerloss_all,
}

SETTINGS: dict[str, tuple[dict[str, str], str]] = {
    "config.no_crc": ({"checkCRCOnRecover": "false"}, "record.body_flip"),
    "config.index_off": ({"messageIndexEnable": "false"}, "cq.deleted_all"),
    "config.index_safe": ({"messageIndexSafe": "true"}, ""),
    "config.sync_flush": ({"flushDiskType": "SYNC_FLUSH"}, "powerloss.commitlog"),
    "config.duplication": ({"duplicationEnable": "true"}, ""),
}
"""Settings that another start has, and the damage it meets."""
