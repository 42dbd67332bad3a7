"""What a table of the lake is: declared once, and from that its Arrow, Delta and Spark schema and its documentation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import pyarrow as pa

from parsers.layouts.columns import TIMESTAMP, TYPES
from parsers.values.utc import utc
from pipelines.lake.tables.rows import conform


@dataclass(frozen=True, slots=True)
class Column:
    """One column: every column may be null, and null means unknown, never zero. `values`: all others, where few are."""

    name: str
    type: pa.DataType
    comment: str
    values: tuple[str, ...] = ()

    def listing(self, values: tuple[str, ...]) -> Column:
        """The column with its values, which end its meaning."""
        return replace(self, comment=f"{self.comment}; one of {', '.join(values)}", values=values)

    def of(self, parts: Iterable[object]) -> Any:
        """What the first part says that has something of this column; see `Table.row`."""
        in_ms = f"{self.name}_ms" if self.type == TIMESTAMP else self.name
        for part in parts:
            if hasattr(part, self.name):
                return getattr(part, self.name)
            if hasattr(part, in_ms):
                return utc(getattr(part, in_ms))
        raise AttributeError(f"column {self.name}: of {', '.join(type(part).__name__ for part in parts)} none has it")


@dataclass(frozen=True)
class Table:
    """One table of the lake.

    Attributes:
        grain: what one row is.
        partition_by: columns whose values are one Delta partition.
    """

    name: str
    grain: str
    columns: tuple[Column, ...]
    partition_by: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> pa.Schema:
        """Arrow schema, with the comments as field metadata (Delta and Spark keep them as column comments)."""
        return pa.schema([pa.field(c.name, c.type, metadata={"comment": c.comment}) for c in self.columns])

    @cached_property
    def bare_schema(self) -> pa.Schema:
        """The schema without metadata: what batches are compared with."""
        return pa.schema([pa.field(c.name, c.type) for c in self.columns])

    @cached_property
    def columns_hash(self) -> str:
        """A hash over the names and types of the columns: rows that were made before a column was added lack it,
        whatever version of rocketlens made them."""
        declared = [(column.name, str(column.type)) for column in self.columns]
        return hashlib.sha256(repr(declared).encode()).hexdigest()[:16]

    def select(self, names: Sequence[str]) -> pa.Schema:
        """The schema of some columns, in the order asked for."""
        return pa.schema([self.bare_schema.field(name) for name in names])

    def row(self, *parts: object, **given: Any) -> dict[str, Any]:
        """A row of the values that are given; for each other column of the attribute of its name of the first part that
        has one, or for a time of that in epoch milliseconds (`latest_ms` for `latest`).

        Raises AttributeError for a column that no part has.
        """
        return {each.name: given[each.name] if each.name in given else each.of(parts) for each in self.columns}

    def batch(self, made: Mapping[str, pa.Array], *, broker: str | None) -> pa.RecordBatch:
        """Rows of one broker from their other columns, of which those that are not made are null.

        Raises ValueError for one that the table does not have.
        """
        if strays := made.keys() - set(self.bare_schema.names):
            raise ValueError(f"no such columns: {sorted(strays)}")
        (batch,) = conform([pa.RecordBatch.from_pydict(made)], self.bare_schema, {"broker": broker})
        return batch

    def holding(self, **values: Iterable[str]) -> Self:
        """The table with columns that hold one of a few values, as the code declares them that writes them; their
        meaning ends with the list. Raises ValueError for a column that is not there."""
        if strays := values.keys() - {column.name for column in self.columns}:
            raise ValueError(f"no such columns: {sorted(strays)}")
        listed = {name: tuple(dict.fromkeys(each)) for name, each in values.items()}
        return replace(self, columns=tuple(c.listing(listed[c.name]) if c.name in listed else c for c in self.columns))

    def markdown(self) -> str:
        """The table's page in docs/tables.md."""
        parts = f" Partitioned by {', '.join(f'`{name}`' for name in self.partition_by)}." if self.partition_by else ""
        rows = [f"| `{c.name}` | {type_name(c.type)} | {c.comment} |" for c in self.columns]
        head = [
            f"## {self.name}",
            "",
            f"One row: {self.grain}.{parts}",
            "",
            "| column | type | meaning |",
            "|---|---|---|",
        ]
        return "\n".join([*head, *rows])


def columns(text: str) -> tuple[Column, ...]:
    """Columns from lines of `name type meaning`, the form tables are declared in."""
    found = []
    for line in text.strip().splitlines():
        name, kind, comment = line.split(maxsplit=2)
        found.append(Column(name, TYPES[kind], comment))
    return tuple(found)


def described(schema: pa.Schema, comments: str, *, leading: tuple[Column, ...] = ()) -> tuple[Column, ...]:
    """Columns whose names and types a reader's schema declares, with the meaning of each from lines of `name meaning`.

    Raises ValueError for a column without a meaning or a meaning without a column: the two must not drift.
    """
    meanings = dict(line.split(maxsplit=1) for line in comments.strip().splitlines())
    own = [field for field in schema if field.name not in {column.name for column in leading}]
    if strays := {field.name for field in own} ^ set(meanings):
        raise ValueError(f"columns and meanings disagree on {sorted(strays)}")
    return leading + tuple(Column(field.name, plain_type(field.type), meanings[field.name]) for field in own)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type without dictionaries and views, which Spark does not take."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    views = {pa.binary_view(): pa.binary(), pa.string_view(): pa.string()}
    return views.get(kind, kind)


PRINTED = {
    "flag": "boolean",
    "i8": "tinyint",
    "i16": "smallint",
    "i32": "int",
    "i64": "bigint",
    "real": "double",
    "time": "timestamp (UTC, µs)",
}


def type_name(kind: pa.DataType) -> str:
    """An Arrow type in the words of the documentation."""
    if pa.types.is_list(kind):
        return f"list of {type_name(kind.value_type)}"
    if pa.types.is_struct(kind):
        return f"({', '.join(field.name for field in kind)})"
    name = next(name for name, known in TYPES.items() if kind == known)
    return PRINTED.get(name, name)
