"""A check of a table: a question that has no rows where all is well, and what to do where it has some."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.metadata import cell, record

SHOWN = 20


def check(
    asset: str,
    name: str,
    description: str,
    sql: str,
    *,
    severity: dg.AssetCheckSeverity,
    command: str,
    repair: str | None = None,
) -> dg.AssetChecksDefinition:
    """A check that passes when its question has no rows; the first ones are shown when it has some.

    It asks the whole table through DuckDB, never partition by partition.

    Args:
        command: what to ask in a terminal then; `{store}` is the store of the first row's broker.
        repair: what would put it right, where the rows have no column of that name.
    """

    @dg.asset_check(asset=asset, name=name, description=description)
    def asked(lakehouse: Lakehouse) -> dg.AssetCheckResult:
        lake = lakehouse.lake()
        rows = lake.query(sql).to_pylist()
        counted: dict[str, dg.RawMetadataValue] = {"violations": len(rows), "rows_in_table": lake.rows(asset)}
        if not rows:
            return dg.AssetCheckResult(passed=True, severity=severity, metadata=counted, description=description)
        count = f"{len(rows):,} row{' breaks' if len(rows) == 1 else 's break'} it"
        return dg.AssetCheckResult(
            passed=False,
            severity=severity,
            description=f"{count}. First: {in_words(rows[0])}",
            metadata={**counted, **_what_to_do(rows, lakehouse, command, repair)},
        )

    return asked


def _what_to_do(
    rows: Sequence[Mapping[str, Any]], lakehouse: Lakehouse, command: str, repair: str | None
) -> dict[str, dg.RawMetadataValue]:
    first = rows[0]
    told: dict[str, dg.RawMetadataValue] = {
        "first": dg.MetadataValue.table([record(_shown(row)) for row in rows[:SHOWN]])
    }
    if place := bytes_of(first):
        told["bytes"] = place
    if mends := first.get("repair") or repair:
        told["repair"] = mends
    stores = {broker.name: broker.place for broker in lakehouse.sources().brokers}
    if "{store}" not in command or first["broker"] in stores:
        store = shlex.quote(stores.get(first.get("broker", ""), ""))
        told["next_command"] = command.format(store=store)
    return told


def in_words(row: Mapping[str, Any]) -> str:
    """What a row holds, column by column, without what is not known."""
    return ", ".join(f"{name} {cell(value)}" for name, value in _shown(row).items() if value is not None)


def _shown(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row without what has an entry of its own."""
    return {name: value for name, value in row.items() if name != "repair"}


def bytes_of(row: Mapping[str, Any]) -> str | None:
    """The byte range that a row is about; None where it is about none."""
    file, begin, end = row.get("file") or row.get("place"), row.get("begin"), row.get("end")
    if file is not None and begin is not None and end is not None:
        return f"{file}: bytes {begin} to {end}"
    start, size = row.get("physical_offset"), row.get("total_size") or row.get("msg_size")
    return None if start is None or size is None else f"bytes {start} to {start + size} of the whole log"
