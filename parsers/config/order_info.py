"""consumerOrderInfo.json: the last pop of each queue that a group pops in order (since 5.0.0).

An orderly pop has no checkpoint: the queue is blocked until all its messages are acknowledged or visible again.
5.0.0 writes short names and no invisible time, which the client names anew at each pop; it reads long names alone, so
that it starts without what it saved. Its `l` is the time of the pop.
Source: ConsumerOrderInfoManager.OrderInfo @5.0.0 (#encode, #update), @5.1.0, 5.3.3;
QueueLevelConsumerManager.OrderInfo @5.4.0, 5.5.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.config.document import odd_value, read_document
from parsers.config.values import int64
from parsers.damage.errors import DamageSink, report
from parsers.layouts.fastjson import Json, as_map, whole_number
from parsers.store.store_file import StoreFile
from parsers.values.java import INT_MAX

FILE, TABLE = "consumerOrderInfo.json", "table"
BITS = 64


@dataclass(frozen=True, slots=True)
class OrderedPop:
    """One message of the last pop of a queue. None is not said: 5.0.0 does not save until when it is invisible."""

    group: str
    topic: str
    queue_id: int
    queue_offset: int
    pop_time_ms: int | None
    visible_at_ms: int | None
    is_acked: bool


def read_order_info(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> list[OrderedPop]:
    """Every message of every last pop; an entry that is none is reported and left out."""
    document = read_document(files, FILE, damage=damage)
    found: list[OrderedPop] = []
    if document is None:
        return found
    for name, queues in document.table(TABLE).items():
        topic, _, group = name.partition("@")
        for queue, entry in as_map(queues).items():
            queue_id, messages = whole_number(queue), None
            if group and queue_id is not None and 0 <= queue_id <= INT_MAX:
                messages = _messages(group, topic, queue_id, as_map(entry))
            if messages is None:
                odd = odd_value(document, f"{name}.{queue}", entry, "topic@group: {queue: the last pop}")
                report(odd, damage)
            else:
                found += messages
    return found


def _messages(group: str, topic: str, queue_id: int, info: dict[str, Json]) -> list[OrderedPop] | None:
    """The messages of one pop; None where it is none, or where its offsets or times add up to no long."""
    offsets = _offsets(info)
    last_consumed = info.get("l", info.get("lastConsumeTimestamp"))
    popped, invisible = int64(info.get("popTime", last_consumed)), int64(info.get("i", info.get("invisibleTime")))
    is_timed, visible = False, None
    if popped is not None and invisible is not None and invisible > 0:
        is_timed, visible = True, int64(popped + invisible)
    if offsets is None or (is_timed and visible is None):
        return None
    acked = int64(info.get("cm", info.get("commitOffsetBit"))) or 0
    next_visible = as_map(info.get("ot", info.get("offsetNextVisibleTime")))
    found = []
    for number, offset in enumerate(offsets):
        at = int64(next_visible.get(str(offset)))
        is_acked = bool(acked >> number % BITS & 1)  # Java: 1L << number takes its last six bits
        found.append(OrderedPop(group, topic, queue_id, offset, popped, visible if at is None else at, is_acked))
    return found


def _offsets(info: dict[str, Json]) -> list[int] | None:
    """The offsets of the pop: the first one, then how far each is from it; None where they are no list of longs."""
    listed = info.get("o", info.get("offsetList"))
    numbers = [int64(each) for each in listed] if isinstance(listed, list) else [None]
    first = numbers[0] if numbers else None
    sums = [int64(first + each) for each in numbers[1:] if first is not None and each is not None]
    whole = [each for each in (first, *sums) if each is not None]
    return whole if len(whole) == len(numbers) > 0 else None
