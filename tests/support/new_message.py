"""A message as a broker would put it, for tests that name only the fields they look at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from parsers.commitlog.record.host import Host
from parsers.commitlog.record.layout import MAGIC_V1, MAGIC_V2, SYS_FLAG_BORN_HOST_V6, SYS_FLAG_STORE_HOST_V6, parts
from parsers.commitlog.record.message import Message
from parsers.values.java import crc31

NO_HOST = Host(bytes(4), 0)
HOST_BITS = SYS_FLAG_BORN_HOST_V6 | SYS_FLAG_STORE_HOST_V6
NOTHING_SAID = Message(
    total_size=0,
    magic_code=MAGIC_V1,
    body_crc=0,
    queue_id=0,
    flag=0,
    queue_offset=0,
    physical_offset=0,
    sys_flag=0,
    born_timestamp_ms=0,
    born_host=NO_HOST,
    store_timestamp_ms=0,
    store_host=NO_HOST,
    reconsume_times=0,
    prepared_transaction_offset=0,
    body_size=0,
    body=b"",
    topic_size=0,
    topic_stored=b"",
    properties_size=0,
    properties_stored=b"",
)


def new_message(topic: str, body: bytes, **fields: Any) -> Message:
    """A message with its sizes, CRC, host bits and version as a 5.1.0 or later broker sets them.

    `fields`: others of `Message` by name; those that are not named are 0 or empty.
    """
    said = replace(NOTHING_SAID, body=body, topic_stored=topic.encode(), **fields)
    sizes = (len(said.body), len(said.topic_stored), len(said.properties_stored))
    hosts = (SYS_FLAG_BORN_HOST_V6 if said.born_host.is_v6 else 0) | (
        SYS_FLAG_STORE_HOST_V6 if said.store_host.is_v6 else 0
    )
    magic_code = MAGIC_V2 if len(topic) > 127 else MAGIC_V1  # MessageVersion is chosen by the length in characters
    sys_flag = said.sys_flag & ~HOST_BITS | hosts
    return replace(
        said,
        magic_code=magic_code,
        sys_flag=sys_flag,
        body_crc=crc31(body),
        total_size=parts(magic_code, sys_flag).total_size(*sizes),
        body_size=sizes[0],
        topic_size=sizes[1],
        properties_size=sizes[2],
    )
