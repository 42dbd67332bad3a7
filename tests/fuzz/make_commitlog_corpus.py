"""Small CommitLog files: what the fuzzer starts from."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from parsers.commitlog.record.host import Host
from parsers.commitlog.record.layout import SYS_FLAG_COMPRESSED
from parsers.commitlog.record.message import encode_message
from parsers.commitlog.record.properties import encode_properties, encode_record_crc
from tests.support.commitlog_strategies import sealed
from tests.support.new_message import new_message
from tests.support.small_log import FIRST_MS, SmallLog

V6 = Host(bytes(range(16)), 10911)


def corpus() -> Iterator[tuple[str, bytes]]:
    """One small file for each form that a record or the end of a log has."""
    yield "empty", b""
    yield "unwritten", bytes(256)
    log = SmallLog(size=512)
    log.put(2)
    log.end()
    yield "two-and-blank", bytes(log.content)
    log = SmallLog(size=768)
    log.put(2)
    log.put(2, shift=4096)
    yield "stale", bytes(log.content)
    log = SmallLog(size=512)
    log.put(3)
    log.write(log.places[1] + 4, b"????")
    yield "damaged", bytes(log.content)
    pairs = encode_properties([("TAGS", "标签"), ("KEYS", "a b"), ("empty", ""), ("UNIQ_KEY", "0" * 32)])
    plain = new_message(
        "T" * 130, b"x" * 70, store_timestamp_ms=FIRST_MS, properties_stored=pairs + b"\xff\xed\xa0\x80"
    )
    yield "v2-not-utf8", encode_message(plain)
    yield "ipv6", encode_message(new_message("T", b"", born_host=V6, store_host=V6, sys_flag=0xC))
    packed = zlib.compress(b"body " * 50)
    yield "zlib", encode_message(new_message("T", packed, sys_flag=SYS_FLAG_COMPRESSED | 0x300))
    yield "own-crc", sealed(encode_message(new_message("T", b"b", properties_stored=pairs + encode_record_crc(0))))
