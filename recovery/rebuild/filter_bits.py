"""The bit maps that dispatch puts into ext units: which groups' SQL92 filters a message passes, as a bloom filter.

Each group's bits stand in consumerFilter.json, so that no hash is made here. A broker that loads that file gives every
message of a topic a bit map of these filters, passed or not; a topic without a filter has none.
Source: CommitLogDispatcherCalcBitMap#dispatch, ConsumerFilterManager#decode, BloomFilter#isValid, BitsArray#setBit
@4.2.0 - 5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, e, log

from parsers.config.groups import ConsumerFilter, read_filters
from parsers.damage.errors import unheard
from parsers.store.store import Store
from recovery.filter.errors import FilterTooLarge, InvalidFilter
from recovery.filter.expressions import Expression, asked_properties, delivers
from recovery.filter.sql92 import parse_sql92
from recovery.knowledge.inference import StoreKnowledge
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion

BITS_OF_A_BYTE = 8
MOST_PERCENT = 100
UNSET = StoreSettings()
Shape = tuple[int, int]
MOST_REMEMBERED = 1 << 16
SQL92 = "SQL92"


@dataclass(slots=True)
class TopicFilters:
    """The filters of one topic. `size`: bytes of a bit map. `newest_born_ms`: when the last of them was made."""

    size: int
    newest_born_ms: int
    passed: Sequence[tuple[Expression, Sequence[int]]]
    names: tuple[str, ...]
    _known: dict[tuple[str | None, ...], bytes] = field(default_factory=dict)

    def bit_map(self, properties: Mapping[str, str]) -> bytes:
        """The bit map of a message with these properties."""
        asked = tuple(properties.get(name) for name in self.names)
        known = self._known.get(asked)
        if known is None:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            known = self._known[asked] = self._calculated(properties)
        return known

    def _calculated(self, properties: Mapping[str, str]) -> bytes:
        bits = bytearray(self.size)
        for expression, positions in self.passed:
            if delivers(expression, properties):
                for place in positions:
                    bits[place // BITS_OF_A_BYTE] |= 1 << place % BITS_OF_A_BYTE
        return bytes(bits)


@dataclass(frozen=True, slots=True)
class FilterBits:
    """The filters that a broker has after it has loaded consumerFilter.json, by topic; `why_not`: it has none.

    `undecided`: why it is not known which it has.
    """

    topics: Mapping[str, TopicFilters] = field(default_factory=dict)
    why_not: str = ""
    undecided: str = ""


def filter_bits(store: Store, known: StoreKnowledge) -> FilterBits:
    """What consumerFilter.json says, where the broker calculates bit maps (enableCalcFilterBitMap)."""
    if not known.settings.enable_calc_filter_bit_map:
        return FilterBits(why_not="enableCalcFilterBitMap was not said, and no ext unit of the store has a bit map")
    filters = read_filters(store.config, damage=unheard)
    return bits_of(filters, known.version, filter_shape(known.settings))


def filter_shape(settings: StoreSettings) -> Shape | None:
    """Bits of a bit map, and those that one filter sets, by expectConsumerNumUseFilter and maxErrorRateOfBloomFilter.

    None with the defaults of both, which nobody need have said, and with a rate of which no filter can be made.
    Source: BloomFilter#<init>, ConsumerFilterManager#<init> @5.3.3.
    """
    expected, percent = _filter_settings(settings)
    if (expected, percent) == _filter_settings(UNSET) or percent >= MOST_PERCENT:
        return None
    rate = percent / MOST_PERCENT
    bits = ceil(expected * (log(1 / rate) / log(2)) * (log(e) / log(2)))
    return ceil(bits / BITS_OF_A_BYTE) * BITS_OF_A_BYTE, ceil(log(rate) / log(0.5))


def _filter_settings(settings: StoreSettings) -> tuple[int, int]:
    return settings.expect_consumer_num_use_filter, settings.max_error_rate_of_bloom_filter


def bits_of(filters: Sequence[ConsumerFilter], version: BrokerVersion, own_shape: Shape | None = None) -> FilterBits:
    """What a broker that calculates bit maps makes of the filters that it loads.

    It ignores the whole file when one filter's bit map has another shape than its own have (`own_shape`; None: that of
    the filters is taken for it).
    """
    if not filters:
        return FilterBits(why_not="config/consumerFilter.json keeps no filter")
    shapes = {(each.bit_count, len(each.bit_positions)) for each in filters}
    if len(shapes) > 1 or not all(count and places and count % BITS_OF_A_BYTE == 0 for count, places in shapes):
        why = "filters of config/consumerFilter.json have bit maps of several sizes, none, or odd ones"
        return FilterBits(why_not=why)
    if own_shape is not None and shapes != {own_shape}:
        (bits, places), (own_bits, own_places) = next(iter(shapes)), own_shape
        why = (
            f"filters of config/consumerFilter.json have bit maps of {bits} bits and {places} places, and "
            f"expectConsumerNumUseFilter and maxErrorRateOfBloomFilter give {own_bits} and {own_places}"
        )
        return FilterBits(why_not=why)
    by_topic: dict[str, list[ConsumerFilter]] = {}
    for each in filters:
        by_topic.setdefault(each.topic, []).append(each)
    try:
        return FilterBits({topic: _of_topic(kept, version) for topic, kept in by_topic.items()})
    except FilterTooLarge as wrong:
        return FilterBits(why_not=str(wrong), undecided=str(wrong))


def _of_topic(filters: Sequence[ConsumerFilter], version: BrokerVersion) -> TopicFilters:
    passed = [(parsed, each.bit_positions) for each in filters if (parsed := _parsed(each, version)) is not None]
    names = sorted({name for expression, _ in passed for name in asked_properties(expression)})
    newest = max(each.born_time or 0 for each in filters)
    return TopicFilters((filters[0].bit_count or 0) // BITS_OF_A_BYTE, newest, passed, tuple(names))


def _parsed(kept: ConsumerFilter, version: BrokerVersion) -> Expression | None:
    """None for a filter that the broker cannot compile: it sets no bits and says so in its log."""
    try:
        return parse_sql92(kept.expression or "", version) if kept.expression_type == SQL92 else None
    except InvalidFilter:
        return None
