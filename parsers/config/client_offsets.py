"""offsets.json of a client: how far a broadcasting consumer is, which no broker knows.

A client keeps it in `.rocketmq_offsets/<client id>/<group>/`; its keys are queues written as objects.
Source: LocalFileOffsetStore#persistAll, OffsetSerializeWrapper, fastjson's SerializerFeature of maps @3.2.6 - 5.5.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from parsers.damage.errors import CorruptRecord
from parsers.layouts.fastjson import as_map, parse, whole_number
from parsers.values.java import INT_MAX, LONG_MAX

_HEAD = re.compile(rb'\s*+\{\s*+"offsetTable"\s*+:\s*+\{\s*+(?=\{)')
_ENTRY = re.compile(rb"(\{[^{}]{1,2048}+\})\s*+:\s*+(-?[0-9]{1,19})\s*+,?\s*+")
_TAIL = re.compile(rb"\}\s*+\}\s*+\Z")


@dataclass(frozen=True, slots=True)
class ClientOffset:
    """The next message number that one client will consume of one queue."""

    broker: str
    topic: str
    queue_id: int
    consumer_offset: int


def is_client_offsets(content: bytes) -> bool:
    """Whether a file begins as a client's offsets.json does: a broker's has texts for keys. An empty one counts as a
    broker's."""
    return _HEAD.match(content) is not None


def client_offsets(content: bytes) -> list[ClientOffset]:
    """The offsets of a client's offsets.json, in the order of the file.

    Raises:
        CorruptRecord: it does not go on as one; `at` is the byte from which on.
    """
    head = _HEAD.match(content)
    at = 0 if head is None else head.end()
    found: list[ClientOffset] = []
    while head is not None and (entry := _ENTRY.match(content, at)):
        found.append(_offset(entry[1], int(entry[2]), at))
        at = entry.end()
    if head is None or _TAIL.match(content, at) is None:
        raise CorruptRecord("no offsets.json of a client from here on", at=at, field="offsetTable")
    return found


def _offset(key: bytes, consumer_offset: int, at: int) -> ClientOffset:
    queue = as_map(parse(key))
    broker, topic, queue_id = queue.get("brokerName"), queue.get("topic"), whole_number(queue.get("queueId"))
    is_queue = isinstance(broker, str) and isinstance(topic, str) and queue_id is not None
    if not is_queue or not 0 <= (queue_id or 0) <= INT_MAX or not 0 <= consumer_offset <= LONG_MAX:
        raise CorruptRecord("a key that names no queue, or a value that is no offset", at=at, field="offsetTable")
    return ClientOffset(str(broker), str(topic), queue_id or 0, consumer_offset)
