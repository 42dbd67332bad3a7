"""Columns of Arrow by name and type: the form in which tables and rows are declared."""

from __future__ import annotations

import pyarrow as pa

from parsers.layouts.constants import NAME

TIMESTAMP = pa.timestamp("us", tz="UTC")
TYPES: dict[str, pa.DataType] = {
    "text": pa.string(),
    "bytes": pa.binary(),
    "flag": pa.bool_(),
    "i8": pa.int8(),
    "i16": pa.int16(),
    "i32": pa.int32(),
    "i64": pa.int64(),
    "real": pa.float64(),
    "time": TIMESTAMP,
    "texts": pa.list_(pa.string()),
}
PAIR = pa.struct([("name", pa.string()), ("value", pa.string())])
READERS_TYPES = {
    **TYPES,
    "time_ms": pa.timestamp("ms", "UTC"),
    "word": NAME,
    "pairs": pa.list_(pa.field("element", PAIR)),
}
"""`word`: one of a few, or the same in every row."""


def schema_from(text: str) -> pa.Schema:
    """A schema from `name type, name type`, types by the names of READERS_TYPES."""
    return pa.schema([(name, READERS_TYPES[kind]) for name, kind in map(str.split, text.split(","))])
