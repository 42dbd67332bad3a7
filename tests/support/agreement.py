"""What commands say of the same store, held against each other."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.cli import Called

Row = dict[str, Any]
Place = tuple[str, int]
WHOLE = {0, 1}
"""Endings of a command that could read everything."""
SPOKEN = {*WHOLE, 4}
"""Endings of a command that answered, be it of a part."""


def contradictions(told: Mapping[str, Called]) -> Iterator[str]:
    """A sentence for each disagreement between the answers, by the words that named their command."""
    if told["dump commitlog"].code in WHOLE and told["rebuild"].code in WHOLE:
        yield from _rows_and_rebuilt(told["dump commitlog"].rows, told["rebuild"])
    if told["dump consumequeue"].code in SPOKEN and told["queues"].code in SPOKEN:
        yield from _units_and_queues(told["dump consumequeue"].rows, told["queues"].rows)
        if told["dump consumequeue"].code == told["dump regions"].code == 0:
            yield from _live_units(told["dump consumequeue"].rows, told["queues"].rows, told["dump regions"].rows)
    if told["lag"].code in SPOKEN and told["queues"].code in SPOKEN:
        yield from _queues_and_lag(told["queues"].rows, told["lag"].rows)
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
    shown = _by_queue(units)
    for queue in queues:
        place, end = _place(queue), queue["max_queue_offset"]
        if len({unit["queue_offset"] for unit in shown[place]}) < len(shown[place]):
            continue  # two files claim one place of the queue, and a row does not name its file
        within = [unit for unit in shown[place] if unit["queue_offset"] < end and unit["kind"] != "pre_blank"]
        last = within[-1]["physical_offset"] + within[-1]["msg_size"] if within else None
        if (len(within), last) != (queue["units"], queue["max_physical_offset"]):
            yield f"{place}: dump consumequeue has {len(within)} units to {last}, queues says {queue}"
        if queue["reason"] is None and not 0 <= queue["min_queue_offset"] <= end:
            yield f"{place}: from {queue['min_queue_offset']} to {end}"


def _live_units(units: list[Row], queues: list[Row], regions: list[Row]) -> Iterator[str]:
    """Of undamaged queues: where they end, and how many of their messages the log still has."""
    begin = min((region["physical_offset"] for region in regions), default=0)
    shown = _by_queue(units)
    for queue in queues:
        of_queue, end = shown[_place(queue)], queue["max_queue_offset"]
        if of_queue and of_queue[-1]["queue_offset"] + 1 != end:
            yield f"{_place(queue)}: dump consumequeue ends at {of_queue[-1]['queue_offset'] + 1}, queues at {end}"
        expired = of_queue and of_queue[-1]["physical_offset"] < begin
        live = (unit["queue_offset"] for unit in of_queue if unit["physical_offset"] >= begin)
        first = end if expired else next(live, end)
        if queue["messages"] != end - first:
            yield f"dump consumequeue has {end - first} units that lead into the log, queues says {queue}"


def _by_queue(units: list[Row]) -> dict[Place, list[Row]]:
    found: dict[Place, list[Row]] = defaultdict(list)
    for unit in units:
        found[_place(unit)].append(unit)
    return found


def _queues_and_lag(queues: list[Row], lag: list[Row]) -> Iterator[str]:
    ends = {_place(queue): queue["max_queue_offset"] for queue in queues}
    for row in lag:
        end, behind = row["broker_offset"], row["messages_behind"]
        if end is not None and end != ends.get(_place(row), 0):
            yield f"queues says {ends.get(_place(row))}: lag has {row}"
        if behind != 0 and _place(row) not in ends and row["reason"] is None:
            yield f"queues does not know the queue, and no reason says so: lag has {row}"
        if (row["reason"] is None) if behind is None else behind != end - max(row["consumer_offset"], 0):
            yield f"lag counts {row}"


def _place(row: Row) -> Place:
    return row["topic"], row["queue_id"]


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
        if unit["kind"] == "unit" and at >= begin and there.get(at) != unit["msg_size"]:
            yield f"verify finds nothing; the unit {unit} has no message"
