"""Small store files of the other kinds: what the fuzzer starts from."""

from __future__ import annotations

from parsers.checkpoints.checkpoint import CHECKPOINT
from parsers.checkpoints.epochs import Epoch, encode_epochs
from parsers.commitlog.dledger_headers.entry import encode_header, new_header
from parsers.commitlog.dledger_headers.layout import ENTRY_START
from parsers.commitlog.record.layout import MAGIC_BLANK, RECORD_START
from parsers.commitlog.record.message import encode_message
from parsers.consumequeue.batch import BATCH_UNIT
from parsers.consumequeue.ext import CQ_EXT_UNIT
from parsers.consumequeue.layout import CQ_UNIT, PRE_BLANK
from parsers.index.geometry import Geometry
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.timer.check import TIMER_CHECK
from parsers.timer.log import TIMER_BLANK, TIMER_UNIT
from parsers.timer.wheel import TIMER_SLOT
from parsers.values.java import LONG_MIN
from tests.support.dledger_log import index_unit
from tests.support.files import packed
from tests.support.new_message import new_message

NOW_MS = 1_795_000_000_000
MESSAGES = [
    new_message("T", b"body %d" % number, physical_offset=48 + number * 146, store_timestamp_ms=NOW_MS + number)
    for number in range(3)
]
HEADERS = [
    new_header(message.total_size, entry_index=number, position=message.physical_offset - 48, term=number // 2)
    for number, message in enumerate(MESSAGES)
]
ENTRIES_END = HEADERS[-1].position + HEADERS[-1].entry_size
BLANK = RECORD_START.pack({"total_size": 40, "magic_code": MAGIC_BLANK})
DLEDGER_BLANK = ENTRY_START.pack({"magic": -1, "entry_size": 50}).ljust(50, b"\0")
OFFSETS = b'{\n\t"offsetTable":{\n\t\t"T@G":{0:1,1:2\n\t\t},"T@G@broadcast":{3:4\n\t\t}\n\t}\n}'
TIERED = b"""{"commitLogFileSegmentTable":{"b/T/0":{0:{"baseOffset":0,"path":"b/T/0","size":146,"status":1,"type":0}}},
"consumeQueueFileSegmentTable":{"b/T/0":{0:{"baseOffset":0,"path":"b/T/0","size":20,"status":1,"type":1}}},
"indexFileSegmentTable":{"b/rmq_sys_INDEX/0":{"7":{"size":-1}}},"queueMetadataTable":{"T":{0:{"minOffset":0}}}}"""


def index_file() -> bytes:
    """Three entries in two slots: entries 1 and 3 share slot 1."""
    geometry = Geometry(2, 6)
    header = packed(INDEX_HEADER, [(NOW_MS, NOW_MS + 2000, 100, 300, 2, 4)])
    slots = packed(INDEX_SLOT, [(2,), (3,)])
    entries = packed(INDEX_ENTRY, [(0, 0, 0, 0), (7, 100, 0, 0), (8, 200, 1, 0), (7, 300, 2, 1)])
    return (header + slots + entries).ljust(geometry.file_size, b"\0")


def dledger_file() -> bytes:
    """Three entries of two terms, and zeros after them."""
    entries = (
        encode_header(header) + encode_message(message) for header, message in zip(HEADERS, MESSAGES, strict=True)
    )
    return b"".join(entries).ljust(ENTRIES_END + 100, b"\0")


def copies() -> bytes:
    """Three messages of one key, at their own places, and zeros after them."""
    records = b""
    for number in range(3):
        message = new_message(
            "T", b"x" * number, properties_stored=b"KEYS\x01k\x02", queue_offset=number, physical_offset=len(records)
        )
        records += encode_message(message)
    return records.ljust(len(records) + 60, b"\0")


def corpus() -> dict[str, dict[str, bytes]]:
    """By kind and name: one small file for each form that the kind has."""
    units = packed(CQ_UNIT, [tuple(PRE_BLANK.values()), (100, 90, 5), (190, 91, LONG_MIN + 48)])
    batches = packed(BATCH_UNIT, [(0, 90, 0, NOW_MS, 5, 4, -1, 0), (90, 91, 7, NOW_MS, 9, 1, -1, 0)])
    timers = packed(TIMER_UNIT, [(52, -1, 1, NOW_MS, 5000, 100, 90, 7, 0), (52, 0, 3, NOW_MS, 1, 190, 90, 7, 0)])
    return {
        "consumequeue": {"units": units, "unwritten-rest": units + bytes(60), "empty": b""},
        "batchconsumequeue": {"units": batches, "terminator": batches + packed(BATCH_UNIT, [(-1, *[0] * 5, -1, 0)])},
        "compaction_log": {"records": copies(), "blank": copies().rstrip(b"\0") + BLANK.ljust(40, b"\0")},
        "compaction_queue": {"units": batches, "terminator": batches + packed(BATCH_UNIT, [(-1, *[0] * 5, -1, 0)])},
        "consumequeue_ext": {"units": packed(CQ_EXT_UNIT, [(28, 7, NOW_MS, 8)]) + bytes(8) + b"\xff\xff"},
        "index": {"three-entries": index_file(), "no-entries": bytes(len(index_file()))},
        "dledger": {"entries": dledger_file(), "blank": dledger_file()[:ENTRIES_END] + DLEDGER_BLANK, "empty": b""},
        "dledger_index": {"units": b"".join(map(index_unit, HEADERS)), "later": bytes(32) + index_unit(HEADERS[1])},
        "dledger_state": {"checkpoint": b"committedIndex=1\nendIndex=2\n", "currterm": b"voteLeader=n0\ncurrTerm=3\n"},
        "checkpoint": {"fields": packed(CHECKPOINT, [(NOW_MS, NOW_MS, NOW_MS, 1, 2, 3)]).ljust(4096, b"\0")},
        "epochs": {"entries": encode_epochs([Epoch(7, 7000), Epoch(8, 8000)]), "not-checked": b"1\r\n0\r\n1-0\r\n"},
        "timerlog": {"blank": timers + packed(TIMER_BLANK, [(60, 0, MAGIC_BLANK)]).ljust(60, b"\0"), "units": timers},
        "timerwheel": {"slots": packed(TIMER_SLOT, [(0, 0, 0, 0, 0), (NOW_MS // 1000, 0, 52, 2, 0)])},
        "timercheck": {"fields": packed(TIMER_CHECK, [range(7)]).ljust(4096, b"\0")},
        "config": {"offsets": OFFSETS, "loose": b"{'a':[1,,2,], /* b */ $c:{1:\"2\"} // d\n}"},
        "tiered_metadata": {"segments": TIERED, "no-rows": TIERED.replace(b'{"size":-1}', b"[7]")},
    }
