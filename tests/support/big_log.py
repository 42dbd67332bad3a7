"""A CommitLog of any size in seconds: one block of different records, written again with its numbers moved on.

The mix is that of a shop: 20 topics of 8 queues, a tag, one to three keys and a unique id for each message, some
properties of its own, bodies of 100 to 1500 bytes; a record has 614 bytes on average.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from parsers.commitlog.record.host import Host
from parsers.commitlog.record.layout import HEAD, HOST_V4, MAGIC_BLANK, RECORD_START
from parsers.commitlog.record.message import encode_message
from parsers.commitlog.record.properties import encode_properties
from parsers.kernels.arrays import Longs
from tests.support.new_message import new_message

BLOCK_RECORDS = 20_000
FILE_SIZE = 1 << 30
FIRST_MS, RECORDS_A_SECOND = 1_795_000_000_000, 50_000
TAGS = ("created", "paid", "shipped", "cancelled", "refunded")
REGIONS = ("eu-west", "us-east", "ap-south", "cn-hangzhou")
ID_HEAD, ID_DIGITS, ORDER_DIGITS = "7F0000011D4C18B4AAC20000", 8, 9
STORE_TIME_AT = HEAD.size + HOST_V4.size
DIGITS = np.frombuffer(b"0123456789ABCDEF", np.uint8)


@dataclass(frozen=True, slots=True)
class Block:
    """Records one after another, and where in them the numbers are that differ from one copy to the next."""

    data: npt.NDArray[np.uint8]
    record_at: Longs
    id_at: Longs
    order_at: Longs
    queue_offset: Longs
    queue_step: Longs


def make_block(seed: int = 20240607) -> Block:
    """The same block for the same seed; queue offsets count from 0 in each of its queues."""
    rnd, filler = random.Random(seed), random.Random(seed).randbytes(1 << 16)
    records, queue_of, met = [], [], {}
    offsets = []
    for number in range(BLOCK_RECORDS):
        queue = rnd.randrange(20), rnd.randrange(8)
        queue_of.append(queue)
        offsets.append(met.get(queue, 0))
        met[queue] = offsets[-1] + 1
        records.append(_record(rnd, filler, number, *queue))
    joined = b"".join(records)
    record_at = np.cumsum([0, *map(len, records[:-1])])
    finds = [(record.rindex(ID_HEAD.encode()) + len(ID_HEAD), record.rindex(b"order-") + 6) for record in records]
    return Block(
        data=np.frombuffer(joined, np.uint8),
        record_at=record_at,
        id_at=record_at + np.array([at for at, _ in finds]),
        order_at=record_at + np.array([at for _, at in finds]),
        queue_offset=np.array(offsets),
        queue_step=np.array([met[queue] for queue in queue_of]),
    )


def _record(rnd: random.Random, filler: bytes, number: int, topic: int, queue_id: int) -> bytes:
    start = rnd.randrange(1 << 15)
    keys = ["order-" + "0" * ORDER_DIGITS]
    keys += [f"user-{int(200_000 * rnd.random() ** 2)}", f"sku-{rnd.randrange(5000)}"][: rnd.randrange(3)]
    pairs = [("traceId", f"{rnd.getrandbits(63):x}"), ("region", rnd.choice(REGIONS)), ("KEYS", " ".join(keys))]
    pairs += [("customer", f"客户-{rnd.randrange(1000)}")] if rnd.randrange(4) == 0 else []
    pairs += [("UNIQ_KEY", ID_HEAD + "0" * ID_DIGITS), ("TAGS", rnd.choice(TAGS))]
    message = new_message(
        f"bench-topic-{topic:02d}",
        filler[start : start + 100 + int(1400 * rnd.random() ** 4)],
        queue_id=queue_id,
        born_timestamp_ms=FIRST_MS,
        born_host=Host(bytes((10, 0, 0, 1 + number % 16)), 40_000),
        store_host=Host(bytes((127, 0, 0, 1)), 10_911),
        properties_stored=encode_properties(pairs),
    )
    return encode_message(message)


def write_log(root: Path, records: int, *, file_size: int = FILE_SIZE) -> int:
    """Write commitlog/ under `root` with at least this many records, whole blocks; returns how many there are."""
    block, folder = make_block(), root / "commitlog"
    folder.mkdir(parents=True)
    at, copies = 0, -(-records // BLOCK_RECORDS)
    for copy in range(copies):
        base = at - at % file_size
        if at - base + len(block.data) + RECORD_START.size > file_size:
            _end_file(folder / f"{base:020d}", at - base, file_size)
            at = base = base + file_size
        with (folder / f"{base:020d}").open("r+b" if at > base else "w+b") as file:
            file.truncate(file_size)
            file.seek(at - base)
            file.write(_moved(block, copy, at).data)
        at += len(block.data)
    return copies * BLOCK_RECORDS


def _end_file(path: Path, at: int, file_size: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(RECORD_START.pack({"total_size": file_size - at, "magic_code": MAGIC_BLANK}))


def _moved(block: Block, copy: int, physical_offset: int) -> npt.NDArray[np.uint8]:
    """The block's bytes as its `copy`-th copy at that place in the log."""
    data, number = block.data.copy(), copy * BLOCK_RECORDS + np.arange(BLOCK_RECORDS)
    _put_longs(data, block.record_at + HEAD.offsets["physical_offset"], block.record_at + physical_offset)
    _put_longs(data, block.record_at + HEAD.offsets["queue_offset"], block.queue_offset + copy * block.queue_step)
    _put_longs(data, block.record_at + STORE_TIME_AT, FIRST_MS + number * 1000 // RECORDS_A_SECOND)
    _put_digits(data, block.id_at, number, 16, ID_DIGITS)
    _put_digits(data, block.order_at, number // 4, 10, ORDER_DIGITS)
    return data


def _put_longs(data: npt.NDArray[np.uint8], at: Longs, values: Longs) -> None:
    data[at[:, None] + np.arange(8)] = values.astype(">i8").view(np.uint8).reshape(-1, 8)


def _put_digits(data: npt.NDArray[np.uint8], at: Longs, values: Longs, radix: int, digits: int) -> None:
    powers = radix ** np.arange(digits - 1, -1, -1)
    data[at[:, None] + np.arange(digits)] = DIGITS[values[:, None] // powers % radix]
