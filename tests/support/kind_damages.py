"""One damage for each kind of finding, to a small store as `shop` builds it, and what is found in such a store."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from parsers.checkpoints.checkpoint import CHECKPOINT
from parsers.commitlog.record.layout import HEAD, HOST_V4
from parsers.commitlog.record.message import Message, encode_message
from parsers.commitlog.record.properties import encode_record_crc
from parsers.consumequeue.layout import CQ_UNIT
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.values.java import crc31
from recovery.rules.dispatch import PREPARED
from recovery.verify.findings.finding import Finding
from recovery.verify.verify import verify
from tests.support.build_store import FIRST_MS, SETTINGS, VERSION, StoreBuilder, overwrite, queue_file, write_json
from tests.support.opened import opened

Records = list[Message]
Damage = Callable[[Path, Records], str]
"""Damages a store and returns a part of the path that the finding has to name."""

LONG, INT = 8, 4
STORE_TIME_AT = 56
SLOTS = SETTINGS.max_hash_slot_num
ENTRIES_AT = INDEX_HEADER.size + SLOTS * INDEX_SLOT.size
DAMAGES: dict[str, Damage] = {}


def damage(kind: str) -> Callable[[Damage], Damage]:
    def register(function: Damage) -> Damage:
        DAMAGES[kind] = function
        return function

    return register


def log_write(root: Path, message: Message, at: int, data: bytes) -> str:
    base = message.physical_offset - message.physical_offset % SETTINGS.mapped_file_size_commit_log
    overwrite(root / "commitlog" / f"{base:020d}", message.physical_offset - base + at, data)
    return f"commitlog/{base:020d}"


def unit_write(root: Path, slot: int, field: str, value: int, size: int) -> str:
    overwrite(queue_file(root, "Orders", 1), slot * CQ_UNIT.size + CQ_UNIT.offsets[field], value.to_bytes(size, "big"))
    return "consumequeue/Orders/1"


def entry_write(root: Path, number: int, field: str, value: int, size: int) -> str:
    path = sorted((root / "index").iterdir())[0]
    at = ENTRIES_AT + number * INDEX_ENTRY.size + INDEX_ENTRY.offsets[field]
    overwrite(path, at, value.to_bytes(size, "big"))
    return f"index/{path.name}"


@damage("log_damaged")
def _(root: Path, records: Records) -> str:
    return log_write(root, records[5], HEAD.offsets["magic_code"], b"\x0b\xad\xca\xfe")


@damage("body_crc_wrong")
def _(root: Path, records: Records) -> str:
    return log_write(root, records[5], 88, b"B")


@damage("record_crc_wrong")
def _(root: Path, records: Records) -> str:
    return log_write(root, records[-1], HEAD.offsets["flag"], b"\0\0\0\1")


@damage("stale_tail")
def _(root: Path, records: Records) -> str:
    last = records[-1]
    return log_write(root, last, last.total_size, encode_message(records[0]))


@damage("log_file_missing")
def _(root: Path, records: Records) -> str:
    path = sorted((root / "commitlog").iterdir())[1]
    path.unlink()
    return f"commitlog/{path.name}"


@damage("log_file_out_of_place")
def _(root: Path, records: Records) -> str:
    size = SETTINGS.mapped_file_size_commit_log
    name = f"{int(sorted((root / 'commitlog').iterdir())[-1].name) + 2 * size:020d}"
    (root / "commitlog" / name).write_bytes(bytes(size))
    return f"commitlog/{name}"


@damage("log_head_missing")
def _(root: Path, records: Records) -> str:
    path = sorted((root / "commitlog").iterdir())[0]
    path.unlink()
    return f"commitlog/{path.name}"


@damage("log_tail_missing")
def _(root: Path, records: Records) -> str:
    path = sorted((root / "commitlog").iterdir())[-1]
    path.unlink()
    return f"commitlog/{path.name}"


@damage("file_size_wrong")
def _(root: Path, records: Records) -> str:
    path = queue_file(root, "Orders", 1)
    path.write_bytes(path.read_bytes()[:-7])
    return "consumequeue/Orders/1"


@damage("unexpected_file")
def _(root: Path, records: Records) -> str:
    (root / "commitlog" / "notes.txt").write_text("x")
    return "commitlog/notes.txt"


@damage("record_contradicts_itself")
def _(root: Path, records: Records) -> str:
    prepared = next(record for record in records if record.sys_flag == PREPARED)
    return log_write(root, prepared, HEAD.offsets["queue_offset"], (7).to_bytes(LONG, "big"))


@damage("store_timestamp_disorder")
def _(root: Path, records: Records) -> str:
    return log_write(root, records[9], HEAD.size + HOST_V4.size, (FIRST_MS + 10**9).to_bytes(LONG, "big"))


@damage("unit_points_to_nothing")
def _(root: Path, records: Records) -> str:
    return unit_write(root, 2, "physical_offset", records[3].physical_offset + 1, LONG)


@damage("unit_of_other_message")
def _(root: Path, records: Records) -> str:
    other = next(record for record in records if record.topic == "Payments")
    return unit_write(root, 2, "physical_offset", other.physical_offset, LONG)


@damage("unit_beyond_log")
def _(root: Path, records: Records) -> str:
    return unit_write(root, 2, "physical_offset", 10**9, LONG)


@damage("unit_wrong_size")
def _(root: Path, records: Records) -> str:
    return unit_write(root, 2, "msg_size", 5, INT)


@damage("unit_wrong_tags_code")
def _(root: Path, records: Records) -> str:
    return unit_write(root, 2, "tags_code", 12345, LONG)


@damage("unit_invalid")
def _(root: Path, records: Records) -> str:
    return unit_write(root, 2, "msg_size", 0, INT)


@damage("queue_order")
def _(root: Path, records: Records) -> str:
    mine = [record for record in records if (record.topic, record.queue_id) == ("Orders", 1)]
    return unit_write(root, 2, "physical_offset", mine[4].physical_offset, LONG)


@damage("unit_unexpected")
def _(root: Path, records: Records) -> str:
    prepared = next(record for record in records if record.sys_flag == PREPARED and record.topic == "Orders")
    path = queue_file(root, "Orders", prepared.queue_id)
    overwrite(path, CQ_UNIT.size, prepared.physical_offset.to_bytes(LONG, "big"))
    return f"consumequeue/Orders/{prepared.queue_id}"


@damage("not_dispatched")
def _(root: Path, records: Records) -> str:
    path = queue_file(root, "Payments", 0, -1)
    written = -(-len(path.read_bytes().rstrip(b"\0")) // CQ_UNIT.size)
    overwrite(path, (written - 1) * CQ_UNIT.size, bytes(CQ_UNIT.size))
    return "consumequeue/Payments/0"


@damage("queue_offset_taken")
def _(root: Path, records: Records) -> str:
    lost, later = [record for record in records if record.topic == "Payments" and record.sys_flag in (0, 8)][-2:]
    log_write(root, later, HEAD.offsets["queue_offset"], lost.queue_offset.to_bytes(LONG, "big"))
    path = queue_file(root, "Payments", 0, -1)
    slots = lost.queue_offset % 10 * CQ_UNIT.size
    units = path.read_bytes()[slots : slots + 2 * CQ_UNIT.size]
    overwrite(path, slots, units[CQ_UNIT.size :] + bytes(CQ_UNIT.size))
    write_json(root / "config" / "consumerOffset.json", {"offsetTable": {"Payments@readers": {"0": 1}}})
    return "consumequeue/Payments/0"


@damage("not_dispatched_yet")
def _(root: Path, records: Records) -> str:
    last = next(record for record in reversed(records) if record.sys_flag in (0, 8))
    number, slot = divmod(last.queue_offset, 10)
    path = queue_file(root, last.topic, last.queue_id, number)
    overwrite(path, slot * CQ_UNIT.size, bytes(CQ_UNIT.size))
    return f"consumequeue/{last.topic}/{last.queue_id}/{path.name}"


@damage("queue_missing")
def _(root: Path, records: Records) -> str:
    shutil.rmtree(root / "consumequeue" / "Orders" / "1")
    return "consumequeue/Orders/1"


@damage("queue_file_missing")
def _(root: Path, records: Records) -> str:
    path = queue_file(root, "Orders", 1)
    path.unlink()
    return f"consumequeue/Orders/1/{path.name}"


@damage("queue_file_superfluous")
def _(root: Path, records: Records) -> str:
    last = queue_file(root, "Orders", 1, -1)
    following = last.with_name(f"{int(last.name) + 200:020d}")
    following.write_bytes(bytes(200))
    return f"consumequeue/Orders/1/{following.name}"


@damage("index_entry_to_nothing")
def _(root: Path, records: Records) -> str:
    return entry_write(root, 4, "physical_offset", records[1].physical_offset + 1, LONG)


@damage("index_entry_wrong")
def _(root: Path, records: Records) -> str:
    return entry_write(root, 4, "key_hash", 77, INT)


@damage("index_time_wrong")
def _(root: Path, records: Records) -> str:
    return entry_write(root, 4, "time_diff_s", 77, INT)


@damage("index_chain_wrong")
def _(root: Path, records: Records) -> str:
    return entry_write(root, 40, "prev_index_no", 0, INT)


@damage("index_keys_missing")
def _(root: Path, records: Records) -> str:
    sorted((root / "index").iterdir())[0].unlink()
    return "index"


@damage("index_header_wrong")
def _(root: Path, records: Records) -> str:
    path = sorted((root / "index").iterdir())[0]
    overwrite(path, INDEX_HEADER.offsets["end_timestamp_ms"], bytes(LONG))
    return f"index/{path.name}"


@damage("checkpoint_missing")
def _(root: Path, records: Records) -> str:
    (root / "checkpoint").unlink()
    return "checkpoint"


@damage("checkpoint_unreadable")
def _(root: Path, records: Records) -> str:
    (root / "checkpoint").write_bytes((root / "checkpoint").read_bytes()[:24])
    return "checkpoint"


@damage("checkpoint_later_than_data")
def _(root: Path, records: Records) -> str:
    overwrite(root / "checkpoint", CHECKPOINT.offsets["physic_msg_timestamp"], (2**42).to_bytes(LONG, "big"))
    return "checkpoint"


@damage("checkpoint_earlier_than_data")
def _(root: Path, records: Records) -> str:
    overwrite(root / "checkpoint", CHECKPOINT.offsets["physic_msg_timestamp"], (2**32).to_bytes(LONG, "big"))
    return "checkpoint"


@damage("config_unreadable")
def _(root: Path, records: Records) -> str:
    (root / "config" / "delayOffset.json").write_text("{{{")
    return "config/delayOffset.json"


@damage("config_emptied")
def _(root: Path, records: Records) -> str:
    (root / "config" / "topics.json").write_text("")
    return "config/topics.json"


@damage("config_missing")
def _(root: Path, records: Records) -> str:
    (root / "config" / "topics.json").unlink()
    return "config/topics.json"


@damage("config_older")
def _(root: Path, records: Records) -> str:
    (root / "config" / "topics.json").rename(root / "config" / "topics.json.bak")
    return "config/topics.json"


@damage("queue_without_topic_config")
def _(root: Path, records: Records) -> str:
    write_json(root / "config" / "topics.json", {"topicConfigTable": {"Orders": {"topicName": "Orders"}}})
    return "consumequeue/Payments"


@damage("queue_beyond_read_queues")
def _(root: Path, records: Records) -> str:
    path = root / "config" / "topics.json"
    table = json.loads(path.read_text("utf-8"))
    table["topicConfigTable"]["Orders"] |= {"readQueueNums": 1, "writeQueueNums": 5}
    write_json(path, table)
    write_json(root / "config" / "consumerOffset.json", {"offsetTable": {"Orders@early": {"0": 1, "1": 1}}})
    return "config/topics.json"


@damage("consumer_offset_above_max")
def _(root: Path, records: Records) -> str:
    write_json(root / "config" / "consumerOffset.json", {"offsetTable": {"Orders@late": {"1": 1000}}})
    return "config/consumerOffset.json"


@damage("delay_offset_above_max")
def _(root: Path, records: Records) -> str:
    write_json(root / "config" / "delayOffset.json", {"offsetTable": {"3": 5}})
    return "config/delayOffset.json"


def with_record_crc(builder: StoreBuilder, *properties: tuple[str, str]) -> StoreBuilder:
    """One more record, which carries its CRC."""
    crc_at = b"__CRC32#\x01" + b"0" * 10 + b"\x02"
    message = builder.put(properties=(*properties, ("__CRC32#", "0" * 10)))
    record = encode_message(message)
    assert record.endswith(crc_at)
    log_write(builder.root, message, len(record) - len(crc_at), encode_record_crc(crc31(record[: -len(crc_at)])))
    return builder


def findings_of(root: Path) -> tuple[Finding, ...]:
    return verify(*opened(root, VERSION, SETTINGS)).findings
