"""Which groups have consumers behind a proxy in cluster mode, by the heartbeats that a store has of them.

A proxy tells other proxies of each heartbeat in a message, to one of the cluster's brokers: what a store has shows that
a consumer was there, never that none was. Source: HeartbeatSyncer, AbstractSystemMessageSyncer @5.1.0 - 5.5.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from parsers.commitlog.record.message import Message
from parsers.damage.errors import StoreFormatError
from parsers.messages.heartbeat import PROXY_HEARTBEAT
from parsers.queues.store_queues import StoreQueues
from parsers.values.topics import HEARTBEAT_TOPIC
from recovery.lives.group_life import Proxied
from recovery.scan.log_access import LogAccess

NEWEST = 512
"""How many of the newest heartbeats are read from each queue of their topic."""
MOST_BODY = 1 << 16
REGISTER = "REGISTER"


@dataclass(frozen=True, slots=True)
class _Heartbeat:
    stored_ms: int
    physical_offset: int
    group: str
    client_id: str
    is_farewell: bool


def proxied_groups(queues: StoreQueues, log: LogAccess) -> dict[str, Proxied]:
    """Of each group that the newest heartbeats name the consumer that was heard last; one that has said farewell since
    counts only where no other one is left."""
    newest: dict[tuple[str, str], _Heartbeat] = {}
    for beat in sorted(_heartbeats(queues, log), key=lambda beat: beat.physical_offset):
        newest[beat.group, beat.client_id] = beat
    found: dict[str, _Heartbeat] = {}
    for beat in newest.values():
        if beat.group not in found or _order(found[beat.group]) < _order(beat):
            found[beat.group] = beat
    return {group: Proxied(beat.client_id, beat.stored_ms, beat.is_farewell) for group, beat in found.items()}


def _order(beat: _Heartbeat) -> tuple[bool, int]:
    return not beat.is_farewell, beat.physical_offset


def _heartbeats(queues: StoreQueues, log: LogAccess) -> Iterator[_Heartbeat]:
    for (topic, _), queue in queues.items():
        if topic != HEARTBEAT_TOPIC:
            continue
        first, end = queue.ends(log.min_physical_offset)
        for queue_offset in range(max(first, end - NEWEST), end):
            unit = queue.pointer(queue_offset)
            message = None if unit is None else log.message(unit.physical_offset)
            beat = None if message is None or message.topic != topic else _heartbeat(message)
            if beat is not None:
                yield beat


def _heartbeat(message: Message) -> _Heartbeat | None:
    """None where the body is none."""
    if len(message.body) > MOST_BODY:
        return None
    try:
        (told,) = (record.values for record in PROXY_HEARTBEAT.records(message.body))
    except (StoreFormatError, ValueError):  # not such a body, or an empty object
        return None
    group, client_id = told["group"], told["client_id"]
    if not (isinstance(group, str) and isinstance(client_id, str)):
        return None
    is_farewell = told["heartbeat_type"] != REGISTER
    return _Heartbeat(message.store_timestamp_ms, message.physical_offset, group, client_id, is_farewell)
