"""What the lives of topics change of the history of lag: numbers that count messages of another life are none of this.

SQL makes the history from the queues that are there now, those of the living lives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from parsers.values.utc import EPOCH, MILLISECOND
from pipelines.answers.lives.life_rows import lives_of_rows
from pipelines.lake.lake import Lake
from recovery.lives.life import TopicLives
from recovery.lives.offset_lives import DoubtfulOffset, OffsetLife, QueueEnds, doubtful_offsets
from recovery.query.lag import NOT_THEN, TOPIC_DELETED, doubt_reason

Row = dict[str, Any]
LIVES = """
SELECT * REPLACE (epoch_ms(begins_at) AS begins_at) FROM topic_lives
WHERE (broker, topic) IN (
    SELECT (broker, topic) FROM topic_lives GROUP BY broker, topic HAVING max(life) > 1 OR bool_or(state = 'deleted')
)
"""
ENDS = """
SELECT broker, topic, queue_id, coalesce(max_queue_offset - messages, 0) AS first, max_queue_offset AS behind
FROM queues
"""


def with_lives(history: pa.Table, lake: Lake) -> pa.Table:
    """Rows of `lag_history`, those of topics that were deleted, or created again, as `lag` of the store tells them.

    `history`: with a row for each stored offset. The other topics' rows, mostly all, stay as they are.
    """
    of_broker: dict[str, list[Row]] = {}
    for row in lake.query(LIVES).to_pylist():
        of_broker.setdefault(row["broker"], []).append(row)
    if not of_broker:
        return history
    ends: dict[str, dict[tuple[str, int], tuple[int, int]]] = {}
    for row in lake.query(ENDS).to_pylist():
        ends.setdefault(row["broker"], {})[row["topic"], row["queue_id"]] = row["first"], row["behind"]
    parts = [history.filter(pc.invert(_is_of(history, of_broker)))]
    for broker, rows in of_broker.items():
        lives = lives_of_rows(rows)
        told = history.filter(_is_of(history, {broker: rows})).to_pylist()
        told = [row for table in _by_table(told) for row in _told(table, lives, ends.get(broker, {}))]
        parts.append(pa.Table.from_pylist(told, schema=history.schema))
    return pa.concat_tables(parts).sort_by("broker")


def _is_of(history: pa.Table, lives: Mapping[str, list[Row]]) -> pa.ChunkedArray:
    """Which rows are of these topics of these brokers."""
    named = pa.array({f"{broker}\0{row['topic']}" for broker, rows in lives.items() for row in rows}, pa.string())
    return pc.is_in(pc.binary_join_element_wise(history["broker"], history["topic"], "\0"), named)


def _by_table(rows: list[Row]) -> list[list[Row]]:
    """The rows of each instant: of one table of offsets."""
    tables: dict[Any, list[Row]] = {}
    for row in rows:
        tables.setdefault(row["at"], []).append(row)
    return list(tables.values())


def _told(table: list[Row], lives: TopicLives, ends: QueueEnds) -> list[Row]:
    offsets: dict[tuple[str, str], dict[int, int]] = {}
    for row in table:
        offsets.setdefault((row["group"], row["topic"]), {})[row["queue_id"]] = row["consumer_offset"]
    doubts = {(doubt.group, doubt.topic, doubt.queue_id): doubt for doubt in doubtful_offsets(lives, offsets, ends)}
    return [_row(row, lives, doubts.get((row["group"], row["topic"], row["queue_id"]))) for row in table]


def _row(row: Row, lives: TopicLives, doubt: DoubtfulOffset | None) -> Row:
    of_topic = lives.topics[row["topic"]]
    begins_ms = of_topic[-1].begins_ms if len(of_topic) > 1 else None
    if begins_ms is not None and (row["at"] - EPOCH) // MILLISECOND < begins_ms:
        return _unknown(row, NOT_THEN)
    if doubt is None:
        return row
    if doubt.life is OffsetLife.DELETED:
        return _unknown(row, TOPIC_DELETED)
    return {**row, "reason": doubt_reason(doubt)}


def _unknown(row: Row, why: str) -> Row:
    nothing = dict.fromkeys(("broker_offset", "messages_behind", "seconds_behind"))
    return {**row, **nothing, "status": "unknown", "reason": why}
