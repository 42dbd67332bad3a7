"""Facts as columns and back: one Arrow batch holds facts of one type, a column per field as the type declares it.

Whole numbers are int64 columns. Every other value is written once per batch, as JSON, and referred to by number: ids,
queues and member lists repeat. Decoded facts are equal to those that were encoded and share their equal values.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, make_dataclass
from functools import cache
from itertools import repeat
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rebalance import facts as facts_package
from rebalance.facts import Evidence, Fact, GroupFact

POSITION = "position"
EVIDENCE = ("evidence_file", "evidence_record")
_KIND = b"fact"


def facts_to_batch(kind: type[Fact], facts: Sequence[Fact], positions: Sequence[int]) -> pa.RecordBatch:
    """Facts of one type as a batch.

    Args:
        positions: where each fact stands in the whole record.
    """
    columns = {POSITION: pa.array(positions, pa.int64())}
    for name, hint in _hints(kind.__name__).items():
        values = list(map(attrgetter(name), facts))
        if name == "evidence":
            files, records = (list(map(itemgetter(part), values)) for part in (0, 1))
            columns |= {EVIDENCE[0]: _coded(files), EVIDENCE[1]: _numbers(records)}
        else:
            columns[name] = _numbers(values) if _is_number(hint) else _coded(values)
    schema = pa.schema([(name, column.type) for name, column in columns.items()], {_KIND: kind.__name__.encode()})
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=schema)


class _Book(dict[Any, int]):
    """Numbers for values in the order they are met."""

    def __missing__(self, value: Any) -> int:
        self[value] = len(self)
        return self[value]


def _coded(values: Iterable[Any]) -> pa.DictionaryArray:
    book = _Book()
    codes = pa.array(list(map(book.__getitem__, values)), pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(list(map(json.dumps, book)), pa.string()))


def _numbers(values: list[Any]) -> pa.Array:
    """A number that 64 bits cannot hold makes the column one of JSON."""
    try:
        return pa.array(values, pa.int64())
    except (OverflowError, pa.ArrowInvalid, pa.ArrowTypeError):
        return _coded(values)


# ---- and back

_Values = Callable[[int, int], Iterable[Any]]
"""The values of a column from one row up to another, without it."""
Interned = dict[Any, Any]
"""Values that were decoded, so that equal ones are one object."""


@dataclass(slots=True)
class FactRun:
    """Facts of one type, ordered by group and position, decoded as they are asked for."""

    kind: type[Fact]
    group_ends: dict[str, tuple[int, int]]
    positions: np.ndarray[Any, np.dtype[np.int64]]
    _columns: list[_Values]

    def facts(self, first: int, end: int) -> list[Fact]:
        """The facts of some rows."""
        facts: list[Fact] = list(map(object.__new__, repeat(self.kind, end - first)))
        columns = (values(first, end) for values in self._columns)
        deque(map(_filling(self.kind.__name__), facts, *columns), maxlen=0)
        return facts


def fact_run(batches: Sequence[pa.RecordBatch], interned: Interned) -> FactRun:
    """Batches of one schema, as `facts_to_batch` made them, drawn together. Facts about no group have the group ""."""
    kind = _kinds()[batches[0].schema.metadata[_KIND].decode()]
    table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    names = table.column("group").cast(pa.string()) if issubclass(kind, GroupFact) else pa.repeat('""', len(table))
    keys = pa.table({"group": names, POSITION: table.column(POSITION)})
    order = pc.sort_indices(keys, [("group", "ascending"), (POSITION, "ascending")])
    table = table.take(order)
    columns = list(_columns(kind, table, interned))
    return FactRun(kind, _ends(names.take(order)), table.column(POSITION).to_numpy(), columns)


def _ends(names: pa.ChunkedArray | pa.Array) -> dict[str, tuple[int, int]]:
    encoded = pc.run_end_encode(names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names)
    ends = encoded.run_ends.to_pylist()
    groups = [json.loads(name) for name in encoded.values.to_pylist()]
    return dict(zip(groups, zip([0, *ends[:-1]], ends, strict=True), strict=True))


def _columns(kind: type[Fact], table: pa.Table, interned: Interned) -> Iterator[_Values]:
    for name, hint in _hints(kind.__name__).items():
        if name == "evidence":
            yield _evidence(*(_values(table.column(part), str, interned) for part in EVIDENCE))
        else:
            yield _values(table.column(name), hint, interned)


def _evidence(files: _Values, records: _Values) -> _Values:
    def values(first: int, end: int) -> Iterable[Any]:
        return map(tuple.__new__, repeat(Evidence), zip(files(first, end), records(first, end), strict=True))

    return values


def _values(column: pa.ChunkedArray, hint: Any, interned: Interned) -> _Values:
    whole = column.combine_chunks()
    if pa.types.is_dictionary(whole.type):
        decode = _decoder(hint)
        told = map(decode, json.loads(f"[{','.join(whole.dictionary.to_pylist())}]"))
        known = [interned.setdefault(value, value) for value in told]
        if len(known) == 1:
            return lambda first, end: repeat(known[0], end - first)
        codes = whole.indices.to_numpy()
        return lambda first, end: map(known.__getitem__, codes[first:end].tolist())
    if whole.null_count:
        return lambda first, end: whole.slice(first, end - first).to_pylist()
    numbers = whole.to_numpy()
    if (numbers == numbers[0]).all():
        only = int(numbers[0])
        return lambda first, end: repeat(only, end - first)
    return lambda first, end: numbers[first:end].tolist()


def _decoder(hint: Any) -> Callable[[Any], Any]:
    """What makes a value of a declared type from its JSON."""
    if get_origin(hint) in (Union, UnionType):
        (inner,) = (_decoder(arg) for arg in get_args(hint) if arg is not NoneType)
        return lambda value: None if value is None else inner(value)
    if get_origin(hint) is tuple:
        part = _decoder(get_args(hint)[0])
        return lambda value: tuple(map(part, value))
    if isinstance(hint, type) and issubclass(hint, tuple):
        return lambda value: hint(*value)
    return lambda value: sys.intern(value) if type(value) is str else value


# ---- what types declare


@cache
def _hints(name: str) -> dict[str, Any]:
    """The fields of a type of facts, in order, with their types."""
    kind = _kinds()[name]
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def _filling(name: str) -> Callable[..., None]:
    """Takes a fact and all its fields in order: its `__init__`, but for the keywords, which cost more than the rest."""
    positional: Any = make_dataclass(name, _hints(name))
    fill: Callable[..., None] = positional.__init__
    return fill


def _is_number(hint: Any) -> bool:
    return hint is int or set(get_args(hint)) == {int, NoneType}


@cache
def _kinds() -> dict[str, type[Fact]]:
    named = {name: getattr(facts_package, name) for name in facts_package.__all__}
    return {name: kind for name, kind in named.items() if isinstance(kind, type) and issubclass(kind, Fact)}
