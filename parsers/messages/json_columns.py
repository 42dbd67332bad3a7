"""Many bodies that are one JSON object each, as columns: one pass over all of them, instead of `JsonKind.records` one
by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from parsers.damage.errors import CorruptRecord, StoreFormatError
from parsers.layouts.fastjson import parse
from parsers.messages.declared import WHOLE, Form, json_value
from parsers.messages.json_body import JsonKind
from parsers.values.java import LONG_MAX, LONG_MIN

PIECE_BYTES = 4 << 20
"""No more text than this is parsed at once, unless a single body is longer."""
TYPES: dict[Form, pa.DataType] = {"text": pa.string(), "int64_list": pa.list_(pa.int64()), "flag": pa.bool_()}
OPEN, CLOSE, LINE_ENDS = 0x7B, 0x7D, (0x0A, 0x0D)


class JsonColumns:
    """The columns of kinds of bodies that lie mixed: a field of the same name in two kinds is one column.

    `schema`: a column for each field and `readable`.
    """

    def __init__(self, *kinds: JsonKind) -> None:
        self.fields = {field.name: field for kind in kinds for field in kind.fields}
        self._names: dict[str, tuple[str, ...]] = dict.fromkeys(self.fields, ())
        for field in (field for kind in kinds for field in kind.fields):
            names = (*self._names[field.name], field.stored, field.older_stored)
            self._names[field.name] = tuple(dict.fromkeys(filter(None, names)))
        types = {name: TYPES.get(field.form, pa.int64()) for name, field in self.fields.items()}
        stored = [(each, types[name]) for name, names in self._names.items() for each in names]
        self._parsing = pj.ParseOptions(explicit_schema=pa.schema(stored), unexpected_field_behavior="ignore")
        self.schema = pa.schema([*types.items(), ("readable", pa.bool_())])

    def read(self, bodies: pa.Array) -> pa.Table:
        """A row for each body; what a body does not say is null.

        `readable` is false of a body that is no JSON object or has a value of another type: JSON.parseObject throws.

        Args:
            bodies: texts, valid UTF-8, none of them null.
        """
        pieces = [self._columns(piece) for piece in _pieces(bodies)]
        return pa.concat_tables(pieces) if pieces else self.schema.empty_table()

    def _columns(self, bodies: pa.Array) -> pa.Table:
        parsed = self._parsed_at_once(bodies)
        if parsed is None:
            return pa.Table.from_pylist([self._row(body) for body in bodies.to_pylist()], schema=self.schema)
        columns = [pc.coalesce(*(parsed[stored] for stored in names)) for names in self._names.values()]
        return pa.Table.from_arrays([*columns, pa.array(np.ones(len(bodies), np.bool_))], schema=self.schema)

    def _parsed_at_once(self, bodies: pa.Array) -> pa.Table | None:
        """The bodies as lines of JSON; None where one of them is no line with one object of values of these forms."""
        lines = pc.binary_join_element_wise(bodies, "", "\n").buffers()[2]
        data = np.frombuffer(lines, np.uint8)
        ends = np.flatnonzero(data == LINE_ENDS[0])
        if len(ends) != len(bodies) or (data == LINE_ENDS[1]).any():
            return None
        starts = np.concatenate(([0], ends[:-1] + 1))
        if (ends - starts < len("{}")).any() or (data[starts] != OPEN).any() or (data[ends - 1] != CLOSE).any():
            return None
        reading = pj.ReadOptions(use_threads=False, block_size=len(data) + 1)
        try:
            parsed: pa.Table = pj.read_json(pa.BufferReader(lines), read_options=reading, parse_options=self._parsing)
        except pa.ArrowInvalid:
            return None
        return parsed if parsed.num_rows == len(bodies) and self._are_within(parsed) else None

    def _are_within(self, parsed: pa.Table) -> bool:
        """Whether every number is one of its form: Arrow takes all of them for longs."""
        for name, field in self.fields.items():
            low, high = WHOLE.get(field.form, (LONG_MIN, LONG_MAX))
            if low == LONG_MIN:
                continue
            for stored in self._names[name]:
                found = pc.min_max(parsed[stored]).as_py()
                if found["min"] is not None and not low <= found["min"] <= found["max"] <= high:
                    return False
        return True

    def _row(self, body: str) -> dict[str, Any]:
        """One body by itself."""
        unreadable: dict[str, Any] = dict.fromkeys(self.fields) | {"readable": False}
        try:
            content = parse(body.encode("utf-8"))
        except StoreFormatError:
            return unreadable
        if not isinstance(content, dict):
            return unreadable
        row: dict[str, Any] = {"readable": True}
        for name, field in self.fields.items():
            value = next((content[stored] for stored in self._names[name] if content.get(stored) is not None), None)
            try:
                row[name] = json_value(field, value)
            except CorruptRecord:
                return unreadable
        return row


def _pieces(bodies: pa.Array) -> Iterator[pa.Array]:
    """Runs of bodies of at most PIECE_BYTES, one longer body alone."""
    ends = np.cumsum(pc.binary_length(bodies).to_numpy(zero_copy_only=False).astype(np.int64))
    first = 0
    while first < len(bodies):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + PIECE_BYTES, side="right")), first + 1)
        yield bodies.slice(first, last - first)
        first = last
