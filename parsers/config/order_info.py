"""consumerOrderInfo.json: the last pop of each queue that a group pops in order (since 5.0.0).

An orderly pop has no checkpoint: the queue is blocked until all its messages are acknowledged or visible again.
Source: ConsumerOrderInfoManager.OrderInfo @5.0.0 (long names, no times), @5.1.0, 5.3.3;
QueueLevelConsumerManager.OrderInfo @5.4.0, 5.5.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from parsers.config.document import odd_value, read_document
from parsers.config.values import int64
from parsers.errors import DamageSink, OnDamage, report
from parsers.fastjson import Json, as_map, whole_number
from parsers.java import INT_MAX
from parsers.store import StoreFile

FILE, TABLE = "consumerOrderInfo.json", "table"
BITS = 64


@dataclass(frozen=True, slots=True)
class OrderedPop:
    """One message of the last pop of a queue. None is not said: 5.0.0 keeps no times."""

    group: str
    topic: str
    queue_id: int
    queue_offset: int
    pop_time_ms: int | None
    visible_at_ms: int | None
    is_acked: bool


def read_order_info(
    files: Sequence[StoreFile], *, on_damage: OnDamage = "raise", damage: DamageSink | None = None
) -> list[OrderedPop]:
    """Every message of every last pop; an entry that is none is reported and left out."""
    document = read_document(files, FILE, on_damage=on_damage, damage=damage)
    found: list[OrderedPop] = []
    if document is None:
        return found
    for name, queues in document.table(TABLE).items():
        topic, _, group = name.partition("@")
        for queue, entry in as_map(queues).items():
            queue_id, info = whole_number(queue), as_map(entry)
            offsets = _offsets(info)
            if not group or queue_id is None or not 0 <= queue_id <= INT_MAX or offsets is None:
                odd = odd_value(document, f"{name}.{queue}", entry, "topic@group: {queue: the last pop}")
                report(odd, on_damage, damage)
            else:
                found += _messages(group, topic, queue_id, info, offsets)
    return found


def _offsets(info: dict[str, Json]) -> list[int] | None:
    """The offsets of the pop: the first one, then how far each is from it; None where they are no such list."""
    listed = info.get("o", info.get("offsetList"))
    numbers = [int64(each) for each in listed] if isinstance(listed, list) else [None]
    whole = [number for number in numbers if number is not None]
    return [whole[0], *(whole[0] + distance for distance in whole[1:])] if len(whole) == len(numbers) > 0 else None


def _messages(
    group: str, topic: str, queue_id: int, info: dict[str, Json], offsets: Sequence[int]
) -> Iterator[OrderedPop]:
    popped, invisible = int64(info.get("popTime")), int64(info.get("i", info.get("invisibleTime")))
    acked = int64(info.get("cm", info.get("commitOffsetBit"))) or 0
    next_visible = as_map(info.get("ot", info.get("offsetNextVisibleTime")))
    is_timed = popped is not None and invisible is not None and invisible > 0
    for number, offset in enumerate(offsets):
        at = int64(next_visible.get(str(offset)))
        if at is None and popped is not None and invisible is not None and is_timed:
            at = popped + invisible
        is_acked = bool(acked >> number % BITS & 1)  # Java: 1L << number takes its last six bits
        yield OrderedPop(group, topic, queue_id, offset, popped, at, is_acked)
