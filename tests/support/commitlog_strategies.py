"""Messages, and damaged files of them, for property tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from parsers.commitlog.record.host import Host
from parsers.commitlog.record.layout import MAGIC_V1, MAGIC_V2, SYS_FLAG_BORN_HOST_V6, SYS_FLAG_STORE_HOST_V6, parts
from parsers.commitlog.record.message import Message, encode_message
from parsers.commitlog.record.properties import RESERVED_SIZE, encode_record_crc
from parsers.values.java import crc31

INT = st.integers(-(2**31), 2**31 - 1)
LONG = st.integers(-(2**63), 2**63 - 1)
HOST = st.builds(Host, st.one_of(st.binary(min_size=4, max_size=4), st.binary(min_size=16, max_size=16)), INT)
TEXT = st.one_of(
    st.binary(max_size=40),
    st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace")),
    st.lists(
        st.sampled_from(
            [b"KEYS", b"TAGS", b"UNIQ_KEY", b"\x01", b"\x02", b"a", b"", "键".encode(), b"\xff", b"x" * 70]
        ),
        max_size=24,
    ).map(b"".join),
)


@st.composite
def messages(draw: Any, physical_offset: int | None = None, with_record_crc: bool = False) -> Message:
    """Any message that has a shape; sizes that count as none may be negative."""
    born_host, store_host = draw(HOST), draw(HOST)
    magic_code = draw(st.sampled_from([MAGIC_V1, MAGIC_V2]))
    hosts = (SYS_FLAG_BORN_HOST_V6 if born_host.is_v6 else 0) | (SYS_FLAG_STORE_HOST_V6 if store_host.is_v6 else 0)
    sys_flag = draw(INT) & ~(SYS_FLAG_BORN_HOST_V6 | SYS_FLAG_STORE_HOST_V6) | hosts
    body, topic, properties = draw(st.binary(max_size=200)), draw(st.binary(max_size=100)), draw(TEXT)
    if with_record_crc:
        properties += encode_record_crc(0)
    body_size = len(body) or draw(st.integers(-(2**31), 0))
    properties_size = len(properties) or draw(st.integers(-(2**15), 0))
    return Message(
        total_size=parts(magic_code, sys_flag).total_size(body_size, len(topic), properties_size),
        magic_code=magic_code,
        body_crc=draw(st.one_of(st.just(crc31(body)), INT)),
        queue_id=draw(INT),
        flag=draw(INT),
        queue_offset=draw(LONG),
        physical_offset=draw(LONG) if physical_offset is None else physical_offset,
        sys_flag=sys_flag,
        born_timestamp_ms=draw(LONG),
        born_host=born_host,
        store_timestamp_ms=draw(st.one_of(st.integers(1_700_000_000_000, 1_800_000_000_000), LONG)),
        store_host=store_host,
        reconsume_times=draw(INT),
        prepared_transaction_offset=draw(LONG),
        body_size=body_size,
        body=body,
        topic_size=len(topic),
        topic_stored=topic,
        properties_size=properties_size,
        properties_stored=properties,
    )


def sealed(record: bytes) -> bytes:
    """A record that ends with a reserved `__CRC32#` property, with the right value in it."""
    return record[:-RESERVED_SIZE] + encode_record_crc(crc31(record[:-RESERVED_SIZE]))


@st.composite
def log_files(draw: Any, most: int = 6) -> bytes:
    """A CommitLog file with base offset 0: messages one after another, then zeros, a blank, or anything."""
    content = b""
    for _ in range(draw(st.integers(0, most))):
        with_crc = draw(st.booleans())
        record = encode_message(draw(messages(physical_offset=len(content), with_record_crc=with_crc)))
        content += sealed(record) if with_crc and draw(st.booleans()) else record
    return content + draw(st.one_of(st.binary(max_size=100), st.integers(0, 300).map(bytes)))


@st.composite
def damaged_files(draw: Any) -> bytes:
    """A file with flips, cuts, swaps and repeats."""
    words = [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\0\0\0\x5b"]
    return draw(edited(draw(log_files()), words))


@st.composite
def edited(draw: Any, whole: bytes, words: Sequence[bytes] = ()) -> bytes:
    """Bytes with up to four flips, cuts, zeros and repeats, and `words` written anywhere."""
    content = bytearray(whole)
    for _ in range(draw(st.integers(0, 4))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(content))] * 2)))
        edit = draw(st.sampled_from(["flip", "cut", "zero", "repeat", *(["write"] if words else [])]))
        if edit == "flip" and content:
            content[start % len(content)] ^= 1 << draw(st.integers(0, 7))
        elif edit == "cut":
            del content[start:end]
        elif edit == "zero":
            content[start:end] = bytes(end - start)
        elif edit == "repeat":
            content[end:end] = content[start:end]
        elif edit == "write":
            content[start : start + 4] = draw(st.sampled_from(words))
    return bytes(content)
