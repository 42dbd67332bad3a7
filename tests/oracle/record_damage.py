"""Damage to single records of the log."""

from __future__ import annotations

import random

from tests.oracle.base import Base, Record
from tests.oracle.edits import EARLIER, LATER, Damager, Found, write


def any_record(base: Base, chance: random.Random) -> Record:
    """Half of the time one of the last file, else any."""
    last = [record for record in base.records if record.file == base.records[-1].file]
    return chance.choice(last if chance.random() < 0.5 else base.records)


def _field(at: int, content: str) -> Damager:
    """Bytes written over a record, counted from its start."""

    def damage(base: Base, chance: random.Random) -> Found:
        record = any_record(base, chance)
        return [write(record.file, record.file_pos + at, content)]

    return damage


def _first_record(at: int, content: str) -> Damager:
    """Bytes written over the first record of a file."""

    def damage(base: Base, chance: random.Random) -> Found:
        return [write(chance.choice(sorted({record.file for record in base.records})), at, content)]

    return damage


def _body_flip(base: Base, chance: random.Random) -> Found:
    record = any_record(base, chance)
    if not record.message.body:
        return None
    at = record.body_at + chance.randrange(len(record.message.body))
    return [{"op": "flip", "path": record.file, "offset": at, "hex": f"{1 << chance.randrange(8):02x}"}]


def _properties_flip(base: Base, chance: random.Random) -> Found:
    record = any_record(base, chance)
    if record.message.properties_size <= 0:
        return None
    at = record.properties_at + 2 + chance.randrange(record.message.properties_size)
    return [{"op": "flip", "path": record.file, "offset": at, "hex": "01"}]


def _size_plus(base: Base, chance: random.Random) -> Found:
    record = any_record(base, chance)
    size = record.message.total_size + chance.choice((-1, 1, 4, 100))
    return [write(record.file, record.file_pos, f"{size:08x}")]


def _body_length(base: Base, chance: random.Random) -> Found:
    record = any_record(base, chance)
    return [write(record.file, record.body_at - 4, chance.choice(("00ffffff", "ffffffff", "00000001")))]


def _topic_length(base: Base, chance: random.Random) -> Found:
    record = any_record(base, chance)
    return [write(record.file, record.topic_at, chance.choice(("ff", "7f", "00")))]


def _transaction(base: Base, chance: random.Random) -> Found:
    """Another transaction type; compression and hosts as they were."""
    record = any_record(base, chance)
    flag = record.message.sys_flag & ~0xC | chance.choice((0, 4, 8, 12))
    return None if flag == record.message.sys_flag else [write(record.file, record.file_pos + 36, f"{flag:08x}")]


def _store_time(base: Base, chance: random.Random) -> Found:
    record = any_record(base, chance)
    return [write(record.file, record.store_time_at, chance.choice((LATER, EARLIER, "0" * 16)))]


def _swap_records(base: Base, chance: random.Random) -> Found:
    """A record copied over another one of the same length, in place."""
    record = any_record(base, chance)
    same = [one for one in base.records if one.message.total_size == record.message.total_size and one != record]
    if not same:
        return None
    other = chance.choice(same)
    moved = {"offset": other.file_pos, "length": other.message.total_size, "toOffset": record.file_pos}
    return [{"op": "copy", "path": other.file, "to": record.file, **moved}]


RECORD_DAMAGES: dict[str, Damager] = {
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
}
