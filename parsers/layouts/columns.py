"""Columns of Arrow by name and type: the form in which tables and rows are declared."""

from __future__ import annotations

import pyarrow as pa

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


def schema_from(text: str) -> pa.Schema:
    """A schema from `name type, name type`: by the names of TYPES, and `time_ms`, an instant in milliseconds."""
    types = {**TYPES, "time_ms": pa.timestamp("ms", "UTC")}
    return pa.schema([(name, types[kind]) for name, kind in map(str.split, text.split(","))])
