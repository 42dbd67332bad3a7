"""Bodies of the messages of POP's revive log: checkpoints (tag ck) and acknowledgements (ack, bAck), as columns.

A pass over all of them at once; what a body is, is declared in `pop_checkpoint` and `pop_ack`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from parsers.errors import CorruptRecord, StoreFormatError
from parsers.fastjson import parse
from parsers.messages.declared import Form, json_value
from parsers.messages.pop_ack import POP_BATCH_ACK
from parsers.messages.pop_checkpoint import POP_CHECKPOINT

PIECE_BYTES = 4 << 20
"""No more text than this is parsed at once, unless a single body is longer."""
TYPES: dict[Form, pa.DataType] = {"text": pa.string(), "int64_list": pa.list_(pa.int64()), "flag": pa.bool_()}
FIELDS = {field.name: field for kind in (POP_CHECKPOINT, POP_BATCH_ACK) for field in kind.fields}
"""Every field that a body may have. Of a field that both kinds have the acknowledgement's declaration has all names."""
KINDS = {name: TYPES.get(field.form, pa.int64()) for name, field in FIELDS.items()}
NAMES = {name: tuple(filter(None, (field.stored, field.older_stored))) for name, field in FIELDS.items()}
SCHEMA = pa.schema([*KINDS.items(), ("readable", pa.bool_())])
BODY_SCHEMA = pa.schema([(stored, KINDS[name]) for name, names in NAMES.items() for stored in names])
OPEN, CLOSE, LINE_ENDS = 0x7B, 0x7D, (0x0A, 0x0D)
Longs = npt.NDArray[np.int64]


def revive_bodies(bodies: pa.Array) -> pa.Table:
    """A row for each body, in SCHEMA; what a body does not say is null. `readable` is false of a body that is no map in
    JSON or has a value of another type: the broker's revive service stops before it (JSON.parseObject throws).

    Args:
        bodies: texts, valid UTF-8, none of them null.
    """
    pieces = [_columns(piece) for piece in _pieces(bodies)]
    return pa.concat_tables(pieces) if pieces else SCHEMA.empty_table()


def _pieces(bodies: pa.Array) -> Iterator[pa.Array]:
    """Runs of bodies of at most PIECE_BYTES, one longer body alone."""
    ends = np.cumsum(pc.binary_length(bodies).to_numpy(zero_copy_only=False).astype(np.int64))
    first = 0
    while first < len(bodies):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + PIECE_BYTES, side="right")), first + 1)
        yield bodies.slice(first, last - first)
        first = last


def _columns(bodies: pa.Array) -> pa.Table:
    parsed = _parsed_at_once(bodies)
    if parsed is None:
        rows = [_row(body) for body in bodies.to_pylist()]
        return pa.Table.from_pylist(rows, schema=SCHEMA)
    columns = [pc.coalesce(*(parsed[stored] for stored in names)) for names in NAMES.values()]
    return pa.Table.from_arrays([*columns, pa.array(np.ones(len(bodies), np.bool_))], schema=SCHEMA)


def _parsed_at_once(bodies: pa.Array) -> pa.Table | None:
    """The bodies as lines of JSON; None where one of them is no line with one map of these types."""
    lines = pc.binary_join_element_wise(bodies, "", "\n").buffers()[2]
    data = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(data == LINE_ENDS[0])
    if len(ends) != len(bodies) or (data == LINE_ENDS[1]).any():
        return None
    starts = np.concatenate(([0], ends[:-1] + 1))
    if (ends - starts < len("{}")).any() or (data[starts] != OPEN).any() or (data[ends - 1] != CLOSE).any():
        return None
    reading = pj.ReadOptions(use_threads=False, block_size=len(data) + 1)
    parsing = pj.ParseOptions(explicit_schema=BODY_SCHEMA, unexpected_field_behavior="ignore")
    try:
        parsed: pa.Table = pj.read_json(pa.BufferReader(lines), read_options=reading, parse_options=parsing)
    except pa.ArrowInvalid:
        return None
    return parsed if parsed.num_rows == len(bodies) else None


def _row(body: str) -> dict[str, Any]:
    """One body by itself."""
    unreadable: dict[str, Any] = dict.fromkeys(FIELDS) | {"readable": False}
    try:
        content = parse(body.encode("utf-8"))
    except StoreFormatError:
        return unreadable
    if not isinstance(content, dict):
        return unreadable
    row: dict[str, Any] = {"readable": True}
    for name, field in FIELDS.items():
        value = next((content[stored] for stored in NAMES[name] if content.get(stored) is not None), None)
        try:
            row[name] = json_value(field, value)
        except CorruptRecord:
            return unreadable
    return row
