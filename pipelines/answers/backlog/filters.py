"""SQL92 filters asked of unread messages: all filters of a store in one reading of its log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.commitlog.batches.read import MessageFilter, read_commitlog
from parsers.commitlog.batches.segment import WITHOUT_CRC
from parsers.damage.errors import DamageSink
from parsers.kernels.arrays import Longs, Mask
from parsers.store.store import Store
from parsers.values.topics import is_lmq
from recovery.filter.expressions import Expression, asked_properties, delivers

MOST_REMEMBERED = 1 << 16
"""Different values of properties whose answer is kept."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One filter and the messages that it is asked of.

    Attributes:
        places: physical offsets, in any order.
        matches: which of them it lets through; met: which of them the log has. Both are filled in by `ask_filters`.
    """

    topic: str
    expression: Expression
    places: Longs
    matches: Mask
    met: Mask

    @classmethod
    def of(cls, topic: str, expression: Expression, places: Longs) -> Asked:
        """Nothing is answered yet."""
        return cls(topic, expression, places, np.zeros(len(places), np.bool_), np.zeros(len(places), np.bool_))


def ask_filters(store: Store, filters: Sequence[Asked], damage: DamageSink) -> None:
    """Answer every filter; the log is read once, and only where messages of these filters lie.

    Memory: 16 bytes for each message asked about. Damage of the part that is read goes to `damage`.
    """
    filters = [each for each in filters if len(each.places)]
    if not filters:
        return
    ends = np.cumsum([0, *(len(each.places) for each in filters)])
    places = np.concatenate([each.places for each in filters])
    order = np.argsort(places, kind="stable")
    rising = places[order]
    ask = [_asker(each) for each in filters]
    columns = ["physical_offset", "properties"]
    where = MessageFilter(_topics(filters), None, None, int(rising[0]), int(rising[-1]) + 1)
    for batch in read_commitlog(store, columns=columns, where=where, decoding=WITHOUT_CRC, damage=damage):
        rows, at = _met(rising, batch["physical_offset"].to_numpy())
        number = order[at]
        whose = np.searchsorted(ends, number, side="right") - 1
        for each in np.unique(whose).tolist():
            own = whose == each
            ask[each](number[own] - ends[each], batch["properties"].take(pa.array(rows[own])))


def _topics(filters: Iterable[Asked]) -> set[str] | None:
    """The topics of the messages; None where a lightweight queue may hold messages of any."""
    topics = {each.topic for each in filters}
    return None if any(map(is_lmq, topics)) else topics


def _met(rising: Longs, places: Longs) -> tuple[Longs, Longs]:
    """Every pair (row of `places`, row of `rising`) of equal physical offsets; `rising` may have one several times."""
    first = np.searchsorted(rising, places)
    count = np.searchsorted(rising, places, side="right") - first
    rows = np.repeat(np.arange(len(places)), count)
    began = np.cumsum(count) - count
    return rows, first[rows] + np.arange(len(rows)) - began[rows]


def _asker(asked: Asked) -> Callable[[Longs, pa.ListArray], None]:
    """Fills in the answers of messages by their properties; those with the same values are asked once."""
    names = sorted(asked_properties(asked.expression))
    known: dict[tuple[str | None, ...], bool] = {}

    def ask(numbers: Longs, properties: pa.ListArray) -> None:
        answers = []
        for values in _values(properties, names):
            if values not in known:
                if len(known) >= MOST_REMEMBERED:
                    known.clear()
                held = {name: value for name, value in zip(names, values, strict=True) if value is not None}
                known[values] = delivers(asked.expression, held)
            answers.append(known[values])
        asked.matches[numbers], asked.met[numbers] = answers, True

    return ask


def _values(properties: pa.ListArray, names: Sequence[str]) -> list[tuple[str | None, ...]]:
    """The values of the named properties of each row; the last one counts where a name stands twice.

    Source: MessageDecoder#string2messageProperties puts them into a map.
    """
    pairs, rows = properties.flatten(), pc.list_parent_indices(properties).to_numpy()
    columns = []
    for name in names:
        found = np.flatnonzero(pc.equal(pairs.field("name"), name).to_numpy(zero_copy_only=False))
        values: list[str | None] = [None] * len(properties)
        for row, value in zip(
            rows[found].tolist(), pairs.field("value").take(pa.array(found)).to_pylist(), strict=True
        ):
            values[row] = value
        columns.append(values)
    return list(zip(*columns, strict=True)) if columns else [()] * len(properties)
