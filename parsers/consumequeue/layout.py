"""The 20-byte unit of a ConsumeQueue, and what its numbers stand for."""

from __future__ import annotations

from typing import Literal

from parsers.layouts.layout import Field, Layout
from parsers.values.java import INT_MAX, INT_MIN, LONG_MIN
from parsers.values.topics import SCHEDULE_TOPIC

CQ_UNIT = Layout(
    "ConsumeQueue unit",
    "store/ConsumeQueue.java#putMessagePositionInfo @5.3.3",
    Field("physical_offset", "q", "where the message starts, byte in the CommitLog"),
    Field("msg_size", "i", "bytes of the whole message (TOTALSIZE)"),
    Field("tags_code", "q", "String.hashCode of TAGS, or delivery time (epoch ms), or ConsumeQueueExt address"),
)
# ConsumeQueue#fillPreBlank: a queue that starts above 0 has its first file filled up to there with this unit.
PRE_BLANK = {"physical_offset": 0, "msg_size": INT_MAX, "tags_code": 0}

UnitKind = Literal["unit", "pre_blank"]
UNIT_KINDS: tuple[UnitKind, ...] = ("unit", "pre_blank")
TagsCodeKind = Literal["tag_hash", "delivery_time", "ext_address"]
TAGS_CODE_KINDS: tuple[TagsCodeKind, ...] = ("tag_hash", "delivery_time", "ext_address")
MAX_EXT_ADDRESS = INT_MIN - 1  # ConsumeQueueExt#MAX_ADDR: no hash is that small


def is_valid(physical_offset: int, msg_size: int) -> bool:
    """The test of ConsumeQueue#recover: an all-zero unit fails it only by its size; a pre-blank passes."""
    return physical_offset >= 0 and msg_size > 0


def is_pre_blank(physical_offset: int, msg_size: int, tags_code: int) -> bool:
    return (physical_offset, msg_size, tags_code) == (0, INT_MAX, 0)


def tags_code_kind(topic: str, tags_code: int) -> TagsCodeKind:
    """What a tags_code is: below the ints an ext address; above them, on the schedule topic, the delivery time."""
    if tags_code <= MAX_EXT_ADDRESS:
        return "ext_address"
    if topic == SCHEDULE_TOPIC and tags_code > INT_MAX:
        return "delivery_time"
    return "tag_hash"


def ext_offset(tags_code: int) -> int:
    """The byte in consumequeue_ext that an ext address points to (ConsumeQueueExt#unDecorate)."""
    return tags_code - LONG_MIN
