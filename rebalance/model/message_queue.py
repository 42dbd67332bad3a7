"""The nouns of a rebalance: MessageQueue and ClientId."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from parsers.values.java import utf16_order


class MessageQueue(NamedTuple):
    """One queue of a topic on one broker, ordered and printed as Java does.

    Order: topic, broker name (both by UTF-16 code unit), queue id (number).
    Source: MessageQueue#compareTo, #toString, unchanged 4.4.0 - 5.3.3.
    """

    topic: str
    broker_name: str
    queue_id: int

    def __str__(self) -> str:
        return f"MessageQueue [topic={self.topic}, brokerName={self.broker_name}, queueId={self.queue_id}]"

    @property
    def order(self) -> tuple[str, str, int]:
        """Sort key: `sorted(queues, key=lambda mq: mq.order)` is what `Collections.sort` gives."""
        return utf16_order(self.topic), utf16_order(self.broker_name), self.queue_id

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        return self.order < MessageQueue(*other).order

    def __le__(self, other: tuple[Any, ...]) -> bool:
        return self.order <= MessageQueue(*other).order

    def __gt__(self, other: tuple[Any, ...]) -> bool:
        return self.order > MessageQueue(*other).order

    def __ge__(self, other: tuple[Any, ...]) -> bool:
        return self.order >= MessageQueue(*other).order

    @classmethod
    def parse(cls, text: str) -> MessageQueue | None:
        """The queue whose Java text this is, or None."""
        found = _MESSAGE_QUEUE_TEXT.fullmatch(text)
        return cls(found[1], found[2], int(found[3])) if found else None


_MESSAGE_QUEUE_TEXT = re.compile(
    r"MessageQueue \[topic=(.{0,512}?), brokerName=(.{0,512}?), queueId=(-?\d{1,10})\]", re.DOTALL
)


class ClientId(NamedTuple):
    """The parts of a clientId: `clientIP@instanceName[@unitName][@STREAM]`.

    `pid` is known when the instance name has the default form `<pid>` (<= 4.8.0) or `<pid>#<nanoTime>` (>= 4.9.0).
    Source: ClientConfig#buildMQClientId, #changeInstanceNameToPID.
    """

    text: str
    client_ip: str
    instance_name: str
    unit_name: str | None
    stream: bool
    pid: int | None

    @classmethod
    def parse(cls, text: str) -> ClientId:
        """Takes every string: parts that are missing are empty or None."""
        client_ip, _, rest = text.partition("@")
        parts = rest.split("@")
        stream = len(parts) > 1 and parts[-1] == "STREAM"
        unit = "@".join(parts[1 : len(parts) - stream])
        pid = re.fullmatch(r"([0-9]{1,10})(?:#-?[0-9]+)?", parts[0])
        return cls(text, client_ip, parts[0], unit or None, stream, int(pid[1]) if pid else None)


Queues = tuple[MessageQueue, ...]


def sorted_queues(queues: Iterable[MessageQueue]) -> Queues:
    """Queues in Java's order."""
    return tuple(sorted(queues, key=lambda q: q.order))
