"""What commands say of the same store, held against each other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.cli import Called

Row = dict[str, Any]
WHOLE = {0, 1}
"""Endings of a command that could read everything."""


def contradictions(told: Mapping[str, Called]) -> Iterator[str]:
    """A sentence for each disagreement between the answers, by the words that named their command."""
    if told["dump commitlog"].code in WHOLE and told["rebuild"].code in WHOLE:
        yield from _rows_and_rebuilt(told["dump commitlog"].rows, told["rebuild"])
    if told["dump consumequeue"].code in WHOLE and told["queues"].code in WHOLE:
        yield from _units_and_queues(told["dump consumequeue"].rows, told["queues"].rows)
    if told["dump regions"].code in WHOLE:
        yield from _end_to_end(told["dump regions"].rows)
        if told["verify"].code == 0:
            yield from _damage_nobody_named(told["dump regions"].rows)
        if told["dump commitlog"].code in WHOLE:
            yield from _rows_and_regions(told["dump commitlog"].rows, told["dump regions"].rows)
    if told["verify"].code == 0 and told["dump commitlog"].code == told["dump consumequeue"].code == 0:
        yield from _units_without_message(told["dump consumequeue"].rows, told["dump commitlog"].rows)


def _rows_and_rebuilt(rows: list[Row], rebuilt: Called) -> Iterator[str]:
    for report in map(json.loads, rebuilt.out.splitlines()):
        if report["records"] != len(rows):
            yield f"dump commitlog has {len(rows)} rows, rebuild {report['records']} records"


def _units_and_queues(units: list[Row], queues: list[Row]) -> Iterator[str]:
    counted = Counter((unit["topic"], unit["queue_id"]) for unit in units if unit["kind"] != "pre_blank")
    for queue in queues:
        place = queue["topic"], queue["queue_id"]
        if counted[place] != queue["units"]:
            yield f"{place}: dump consumequeue has {counted[place]} units, queues says {queue['units']}"


def _end_to_end(regions: list[Row]) -> Iterator[str]:
    ends: dict[str, int] = {}
    for region in regions:
        if ends.get(region["file"], 0) != region["file_pos"]:
            yield f"{region['file']}: a region at {region['file_pos']}, the one before ends at {ends[region['file']]}"
        ends[region["file"]] = region["file_pos"] + region["length"]


def _damage_nobody_named(regions: list[Row]) -> Iterator[str]:
    for region in regions:
        if region["kind"] in ("damage", "stale"):
            yield f"verify finds nothing; dump regions has {region['kind']} in {region['file']}: {region['reason']}"


def _rows_and_regions(rows: list[Row], regions: list[Row]) -> Iterator[str]:
    messages = sum(region["length"] for region in regions if region["kind"] == "messages")
    shown = sum(row["total_size"] for row in rows if row["crc_ok"] is not False)
    if not any(region["kind"] == "damage" for region in regions) and shown and messages % shown and messages < shown:
        yield f"regions of messages have {messages} bytes, the rows {shown}"


def _units_without_message(units: list[Row], rows: list[Row]) -> Iterator[str]:
    if not rows:
        return
    there = {row["physical_offset"]: row["total_size"] for row in rows}
    begin = min(there)
    for unit in units:
        at = unit["physical_offset"]
        if unit["kind"] == "message" and at >= begin and there.get(at) != unit["msg_size"]:
            yield f"verify finds nothing; the unit {unit} has no message"
