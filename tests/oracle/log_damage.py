"""Damage to the log's files, and to bytes of them wherever records begin."""

from __future__ import annotations

import random
from pathlib import Path

from tests.oracle.base import Base
from tests.oracle.edits import PAGE, Damager, Found, create, delete, swapped, write, zero
from tests.oracle.record_damage import any_record

SECTOR = 512


def _zero_page(base: Base, chance: random.Random) -> Found:
    record = any_record(base, chance)
    return [zero(record.file, record.file_pos // PAGE * PAGE, PAGE)]


def _log_truncated(which: str) -> Damager:
    def damage(base: Base, chance: random.Random) -> Found:
        files = base.log_files()
        file = files[-1] if which == "last" else chance.choice(files[:-1] or files)
        size = base.size(file)
        return [{"op": "truncate", "path": file, "length": chance.choice((0, 1, PAGE, size // 2 + 37, size - PAGE))}]

    return damage


def _log_missing(which: str) -> Damager:
    def damage(base: Base, chance: random.Random) -> Found:
        files = base.log_files()
        number = {"first": 0, "last": -1, "middle": len(files) // 2}[which]
        return [delete(files[number])]

    return damage


def _log_heads_missing(base: Base, chance: random.Random) -> Found:
    """Several of the oldest files deleted by hand: queues and index are as they were."""
    files = base.log_files()
    return [delete(file) for file in files[: chance.randrange(2, len(files))]] if len(files) > 2 else None


def _sectors_zero(base: Base, chance: random.Random) -> Found:
    """A few sectors that the disk lost, in a row."""
    record = any_record(base, chance)
    at = record.file_pos // SECTOR * SECTOR
    return [zero(record.file, at, min(SECTOR * chance.randrange(1, 4), base.size(record.file) - at))]


def _log_extra(files_on: int, length: int | None) -> Damager:
    """A file of zeros after the last one: `files_on` places further, of the log's size or another one."""

    def damage(base: Base, chance: random.Random) -> Found:
        last = base.log_files()[-1]
        size = base.size(last)
        name = f"{int(Path(last).name) + files_on * size:020d}"
        return [create(f"{chance.choice(base.plan.log_folders)}/{name}", size if length is None else length)]

    return damage


def _log_swapped(base: Base, chance: random.Random) -> Found:
    files = base.log_files()
    return swapped(*chance.sample(files, 2)) if len(files) > 1 else None


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
    return [write(last.file, at, chance.randbytes(16).hex())] if at + 16 < last.end + room else None


def _bytes_copied(base: Base, chance: random.Random) -> Found:
    """Some bytes of the log over others."""
    source, target = (chance.choice(base.records) for _ in range(2))
    moved = {"offset": source.file_pos, "length": chance.choice((8, 64, 512)), "toOffset": target.file_pos + 4}
    fits = moved["toOffset"] + moved["length"] <= base.size(target.file)
    return [{"op": "copy", "path": source.file, "to": target.file, **moved}] if fits and source != target else None


def _log_folder_gone(base: Base, chance: random.Random) -> Found:
    """A disk of several that is not there."""
    folders = base.plan.log_folders
    return [delete(chance.choice(folders))] if len(folders) > 1 else None


def _log_moved(base: Base, chance: random.Random) -> Found:
    """A file in another folder of the log than the one it was made in: no harm."""
    file = chance.choice(base.log_files())
    others = [folder for folder in base.plan.log_folders if folder != Path(file).parent.as_posix()]
    if not others:
        return None
    return [{"op": "copy", "path": file, "to": f"{chance.choice(others)}/{Path(file).name}"}, delete(file)]


LOG_DAMAGES: dict[str, Damager] = {
    "zero_page": _zero_page,
    "zero_sectors": _sectors_zero,
    "bytes_copied": _bytes_copied,
    "stale_tail": _stale_tail,
    "garbage_tail": _garbage_tail,
    "file.truncated_last": _log_truncated("last"),
    "file.truncated_middle": _log_truncated("middle"),
    "file.missing_first": _log_missing("first"),
    "file.missing_heads": _log_heads_missing,
    "file.missing_middle": _log_missing("middle"),
    "file.missing_last": _log_missing("last"),
    "file.extra_empty": _log_extra(1, None),
    "file.zero_length_extra": _log_extra(1, 0),
    "file.extra_after_gap": _log_extra(2, None),
    "file.swapped": _log_swapped,
    "file.no_commitlog": lambda base, chance: [delete(folder) for folder in base.plan.log_folders],
    "file.no_folder": _log_folder_gone,
    "file.in_other_folder": _log_moved,
    "file.bad_name": lambda base, chance: [create(f"{base.plan.log_folders[0]}/notes.txt", 300)],
}
