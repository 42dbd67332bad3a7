"""Steps of a message that the broker held back: what became of its waits for a level or a timer, and of its pops.

They are rows of `delayed_messages` and `popped_messages`, whose rules are those of recovery/fates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from parsers.damage.errors import DamageSink
from parsers.store.store import Store
from parsers.values.topics import SCHEDULE_TOPIC, TIMER_TOPIC
from parsers.values.utc import epoch_ms
from pipelines.answers.fates.delays import DelayAnswer
from pipelines.answers.fates.pops import PopAnswer
from pipelines.answers.instants import iso_instant
from pipelines.answers.journey.step import Step, StoredRecord
from pipelines.lake.lake import Lake
from recovery.knowledge.inference import StoreKnowledge

Row = Mapping[str, Any]
LAKE_ROWS = """
SELECT * FROM {table} WHERE broker = $broker AND (unique_id = $id OR list_contains($places, physical_offset))
ORDER BY physical_offset, "{second}"
"""
WAITING = {"level": SCHEDULE_TOPIC, "timer": TIMER_TOPIC}
STATED_IN = {"order_info": "config/consumerOrderInfo.json", "kv_store": "kvStore", "revive_log": "revive topic"}
SETTLED = ("acked", "revived")
"""States of a popped message with an instant of their own, as far as the revive topic tells it."""


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Rows of `delayed_messages` and of `popped_messages` that are of one message."""

    delays: Sequence[Row] = ()
    pops: Sequence[Row] = ()

    def groups(self) -> set[str]:
        """Groups that popped it."""
        return {row["group"] for row in self.pops}

    def steps(self) -> Iterator[Step]:
        """What became of its waits and its pops."""
        for row in self.delays:
            yield _due(row)
        for row in self.pops:
            yield from _popped(row)


def held_back_in_store(
    store: Store,
    known: StoreKnowledge,
    popped: PopAnswer,
    records: Sequence[StoredRecord],
    damage: DamageSink,
    now_ms: int,
) -> HeldBack:
    """The rows of a message with these records, from its store.

    Args:
        popped: all messages of the store that were popped.
        now_ms: the instant as of which the cleaners are played.
    """
    waits = any(record.topic in WAITING.values() for record in records)
    delays = DelayAnswer.of(store, known, damage, now_ms).batches() if waits else ()
    return HeldBack(_of_message(delays, records), _of_message(popped.batches(), records))


def held_back_in_lake(lake: Lake, broker: str, records: Sequence[StoredRecord]) -> HeldBack:
    """The rows of a message with these records, from the tables of a lake."""
    id_, places = _names(records)
    found: dict[str, list[Row]] = {}
    for table, second in (("delayed_messages", "topic"), ("popped_messages", "group")):
        if lake.rows(table):
            asked = LAKE_ROWS.format(table=table, second=second)
            found[table] = lake.query(asked, broker=broker, id=id_, places=places).to_pylist()
    return HeldBack(found.get("delayed_messages", ()), found.get("popped_messages", ()))


def _names(records: Sequence[StoredRecord]) -> tuple[str | None, list[int]]:
    return records[0].unique_id, [record.physical_offset for record in records]


def _of_message(batches: Iterable[pa.RecordBatch], records: Sequence[StoredRecord]) -> list[Row]:
    id_, places = _names(records)
    found: list[Row] = []
    for batch in batches:
        is_it = pc.fill_null(pc.is_in(batch.column("physical_offset"), pa.array(places, pa.int64())), False)
        if id_ is not None:
            is_it = pc.or_(is_it, pc.fill_null(pc.equal(batch.column("unique_id"), id_), False))
        found += batch.filter(is_it).to_pylist()
    return found


def _due(row: Row) -> Step:
    kind = "its timer" if row["level"] is None else f"delay level {row['level']}"
    place = f"{row['topic']}/{row['delivered_queue_id']} at queue offset {row['delivered_queue_offset']}"
    late = row["late_ms"]
    if row["state"] == "delivered":
        when = "" if late is None else f", {abs(late)} ms {'early' if late < 0 else 'late'}"
        copies = f", one of {row['deliveries']} copies" if row["deliveries"] > 1 else ""
        words = f"by {kind}: delivered as {place}{copies}{when}"
    else:
        words = f"by {kind}: {row['state']}"
    if row["expires_first"]:
        words += f"; its log file is due to be deleted before that, at {iso_instant(epoch_ms(row['expires_at']))}"
    waits_in = WAITING[row["kind"]]
    return _step(row["due_at"], "due", None, _because(row, words), row["state"] != "unknown", row, waits_in)


def _popped(row: Row) -> Iterator[Step]:
    place, group, state = STATED_IN[row["source"]], row["group"], row["state"]
    where = f"{row['topic']}/{row['queue_id']} at queue offset {row['queue_offset']}"
    until = iso_instant(epoch_ms(row["invisible_until"]))
    if row["popped_at"] is not None:
        times = f", checkpoint {row['checkpoints']} of it" if (row["checkpoints"] or 1) > 1 else ""
        words = f"from {where}: invisible until {until or 'a time that is not told'}{times}"
        yield _step(row["popped_at"], "popped", group, words, True, row, place)
    if row["acked_at"] is not None:
        yield _step(row["acked_at"], "acked", group, f"as popped from {where}", True, row, place)
    if row["revived_at"] is not None:
        words = f"into {row['retry_topic']}/0 at queue offset {row['retry_queue_offset']}: delivered again"
        yield _step(row["revived_at"], "revived", group, _because(row, words), True, row, place)
    if state == "in_flight":
        words = f"as popped from {where}: neither acknowledged nor delivered again; from then on it is to be"
        yield _step(row["invisible_until"], "in_flight", group, _because(row, words), True, row, place)
    elif state not in SETTLED:
        words = f"what became of it as popped from {where}: {state}"
        yield _step(row["invisible_until"], "in_flight", group, _because(row, words), False, row, place)
    elif state == "acked" and row["acked_at"] is None:
        words = f"by the time that the file was saved, as popped from {where}"
        yield _step(None, "acked", group, _because(row, words), True, row, place)


def _because(row: Row, words: str) -> str:
    return f"{words}; {row['reason']}" if row["reason"] else words


def _step(at: datetime | None, name: Any, group: str | None, words: str, certain: bool, row: Row, place: str) -> Step:
    evidence = place if row["physical_offset"] is None else f"{place}; CommitLog at {row['physical_offset']}"
    return Step(epoch_ms(at), name, group, None, words, certain, evidence)
