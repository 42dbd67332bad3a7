"""What the broker's dispatch does with one record: which queue units and which index keys it becomes.

The scalar reference of the compiled scan (`recovery/scan/kernel.py`), under the same tests.
Source: CommitLog#checkMessageAndReturnSize, DefaultMessageStore#doDispatch, ConsumeQueue#putMessagePositionInfoWrapper,
MultiDispatchUtils, IndexService#buildIndex @5.3.3, and the versions each rule names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from parsers.commitlog.record.layout import SYS_FLAG_TRANSACTION
from parsers.commitlog.record.message import Message
from parsers.commitlog.record.properties import PropertyRule
from parsers.commitlog.record.tags import DelayLevels, tags_code
from parsers.values.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, split
from parsers.values.topics import SCHEDULE_TOPIC, SYSTEM_PREFIX, TIMER_TOPIC, is_lmq, is_retry
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion

PREPARED, COMMIT, ROLLBACK = 0x4, 0x8, 0xC
SHORT_MIN, SHORT_MAX = -(2**15), 2**15 - 1


class InvalidForDispatch(ValueError):
    """A property that dispatch reads as a number is none: the broker takes the whole record for invalid."""


FIRST_MULTI_DISPATCH = BrokerVersion.parse("4.9.3")


@dataclass(frozen=True, slots=True)
class DispatchRules:
    """What dispatch depends on besides the record. `batch_topics` have the attribute `queue.type=BatchCQ`."""

    version: BrokerVersion
    delay_levels: DelayLevels
    batch_topics: frozenset[str] = frozenset()
    enable_lmq: bool = False
    enable_multi_dispatch: bool = False
    index_enabled: bool = True

    @classmethod
    def of(cls, version: BrokerVersion, settings: StoreSettings, batch_topics: Iterable[str] = ()) -> Self:
        return cls(
            version=version,
            delay_levels=DelayLevels.parse(settings.message_delay_level),
            batch_topics=frozenset(batch_topics) if version.has_batch_queues else frozenset(),
            enable_lmq=settings.enable_lmq,
            enable_multi_dispatch=settings.enable_multi_dispatch
            and (settings.reads_queue_database or not settings.light_queues_in_database(version)),
            index_enabled=settings.writes_index_files,
        )

    @property
    def unindexed(self) -> tuple[int, ...]:
        """Transaction types of records that the index leaves out."""
        return (ROLLBACK,) if self.version.indexes_commits else (COMMIT, ROLLBACK)

    def looks_for_multi_dispatch(self, topic: str) -> bool:
        """Whether records of this topic are asked for INNER_MULTI_DISPATCH at all."""
        version = self.version
        excluded = (
            (version.multi_dispatch_excludes_retry and is_retry(topic))
            or (version.multi_dispatch_excludes_schedule and topic in (SCHEDULE_TOPIC, TIMER_TOPIC))
            or (version.multi_dispatch_excludes_system and topic.startswith(SYSTEM_PREFIX))
        )
        return self.enable_multi_dispatch and not excluded

    @property
    def leaves_topics_out(self) -> bool:
        """Whether an earlier version dispatched records to light queues that this one does not."""
        return self.enable_multi_dispatch and self.version.multi_dispatch_excludes_retry

    def with_every_topic(self) -> Self:
        """The rules that units in light queues were once made by: records of every topic were asked.

        Source: DefaultMessageStore#checkMultiDispatchQueue @4.9.3 … 4.9.8, ConsumeQueue#checkMultiDispatchQueue @5.0.0.
        """
        return replace(self, version=FIRST_MULTI_DISPATCH)


@dataclass(frozen=True, slots=True)
class DispatchRequest:
    """One valid record as its dispatchers see it (Java's class of this name); offsets and size are its fields."""

    topic: str
    queue_id: int
    queue_offset: int
    physical_offset: int
    msg_size: int
    sys_flag: int
    store_timestamp_ms: int
    properties: Mapping[str, str]

    @classmethod
    def of(cls, message: Message, rules: DispatchRules) -> Self:
        """The request of a decoded record, its properties read as the version reads them."""
        rule: PropertyRule = "first_separator" if rules.version.keeps_property_values_with_separators else "split"
        return cls(
            topic=message.topic,
            queue_id=message.queue_id,
            queue_offset=message.queue_offset,
            physical_offset=message.physical_offset,
            msg_size=message.total_size,
            sys_flag=message.sys_flag,
            store_timestamp_ms=message.store_timestamp_ms,
            properties=dict(message.properties(rule)),
        )

    @classmethod
    def empty(cls, size: int) -> Self:
        """What `new DispatchRequest(size, false)` is: a message of no topic at the log's first byte."""
        return cls("", 0, 0, 0, size, 0, 0, {})

    @property
    def transaction_type(self) -> int:
        return self.sys_flag & SYS_FLAG_TRANSACTION


@dataclass(frozen=True, slots=True)
class QueueUnit:
    """One unit for the queue (topic, queue_id). Count and store time reach the file of a BatchCQ only."""

    topic: str
    queue_id: int
    queue_offset: int
    physical_offset: int
    msg_size: int
    tags_code: int
    store_timestamp_ms: int = 0
    message_count: int = 1
    in_batch_queue: bool = False


def unit_tags_code(request: DispatchRequest, rules: DispatchRules) -> int:
    """The tags code of the units. Raises InvalidForDispatch for a DELAY on the schedule topic that is no int."""
    delay = request.properties.get("DELAY")
    if request.topic == SCHEDULE_TOPIC and delay is not None:
        parse_number(delay, INT_MIN, INT_MAX)
    return tags_code(
        request.topic, request.properties.get("TAGS"), delay, request.store_timestamp_ms, rules.delay_levels
    )


def parse_number(text: str, least: int, most: int) -> int:
    """`Integer.parseInt` and its siblings: an optional sign and ASCII digits, in range. Raises InvalidForDispatch."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 40 or not least <= int(text) <= most:
        raise InvalidForDispatch(f"{text!r} is not a number between {least} and {most}")
    return int(text)


def queue_units(request: DispatchRequest, rules: DispatchRules) -> list[QueueUnit]:
    """The units of one record: its own queue first, then the queues of a multi-dispatch, in the listed order.

    PREPARED and ROLLBACK records have none. Raises InvalidForDispatch as `unit_tags_code` does.
    """
    code = unit_tags_code(request, rules)
    if request.topic in rules.batch_topics:
        return _batch_unit(request, code) if request.transaction_type in (0, COMMIT) else []
    if request.transaction_type not in (0, COMMIT):
        return []
    main = QueueUnit(
        request.topic,
        request.queue_id,
        request.queue_offset,
        request.physical_offset,
        request.msg_size,
        code,
        store_timestamp_ms=request.store_timestamp_ms,
    )
    return [main, *_multi_dispatch_units(request, main, rules)]


def _batch_unit(request: DispatchRequest, code: int) -> list[QueueUnit]:
    """Source: CommitLog#setBatchSizeIfNeeded, BatchConsumeQueue#putMessagePositionInfoWrapper @5.3.3."""
    base, count = request.queue_offset, 1
    number, base_text = request.properties.get("INNER_NUM"), request.properties.get("INNER_BASE")
    if number is not None and base_text is not None:
        base = parse_number(base_text, LONG_MIN, LONG_MAX)
        count = parse_number(number, SHORT_MIN, SHORT_MAX)
    if base < 0 or count < 0:
        return []
    return [
        QueueUnit(
            request.topic,
            request.queue_id,
            base,
            request.physical_offset,
            request.msg_size,
            code,
            store_timestamp_ms=request.store_timestamp_ms,
            message_count=count,
            in_batch_queue=True,
        )
    ]


def _multi_dispatch_units(request: DispatchRequest, main: QueueUnit, rules: DispatchRules) -> list[QueueUnit]:
    """Units in the queues INNER_MULTI_DISPATCH names, at the offsets INNER_MULTI_QUEUE_OFFSET lists.

    Lists of different lengths give nothing; at the first offset that is no number the rest is given up, as the
    exception does. Source: ConsumeQueue#multiDispatchLmqQueue @4.9.3 … 5.3.3.
    """
    names = request.properties.get("INNER_MULTI_DISPATCH", "")
    offsets = request.properties.get("INNER_MULTI_QUEUE_OFFSET", "")
    if not rules.looks_for_multi_dispatch(request.topic) or not names.strip() or not offsets.strip():
        return []
    listed_names, listed_offsets = split(names, ","), split(offsets, ",")
    if len(listed_names) != len(listed_offsets):
        return []
    units: list[QueueUnit] = []
    for name, listed in zip(listed_names, listed_offsets, strict=True):
        if rules.version.multi_dispatch_excludes_schedule and "/" in name:
            continue
        try:
            queue_offset = parse_number(listed, LONG_MIN, LONG_MAX)
        except InvalidForDispatch:
            break
        queue_id = 0 if rules.enable_lmq and is_lmq(name) else request.queue_id
        units.append(QueueUnit(name, queue_id, queue_offset, main.physical_offset, main.msg_size, main.tags_code))
    return units


def index_keys(request: DispatchRequest, rules: DispatchRules) -> list[str]:
    """The index keys of one record, in the order they are put: UNIQ_KEY, each piece of KEYS, with 5.5 the tag.

    Each is `topic#key` (`topic#T#tag`). ROLLBACK records have none, PREPARED ones have theirs; in 3.x COMMIT records
    have none, and UNIQ_KEY is no key.
    Source: IndexService#buildIndex @3.2.6 … 5.5.1.
    """
    if not rules.index_enabled or request.transaction_type in rules.unindexed:
        return []
    properties = request.properties
    has_unique_id = rules.version.indexes_unique_ids and "UNIQ_KEY" in properties
    keys = [f"{request.topic}#{properties['UNIQ_KEY']}"] if has_unique_id else []
    keys += [f"{request.topic}#{key}" for key in properties.get("KEYS", "").split(" ") if key]
    if rules.version.indexes_tags and properties.get("TAGS"):
        keys.append(f"{request.topic}#T#{properties['TAGS']}")
    return keys
