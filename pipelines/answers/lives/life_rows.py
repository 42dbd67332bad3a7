"""The lives of a store's topics as rows of the table `topic_lives`, and back from its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from parsers.values.utc import utc
from recovery.lives.life import Ground, QueueLife, TopicLife, TopicLives

Row = Mapping[str, Any]


def life_rows(lives: TopicLives, *, broker: str) -> Iterator[dict[str, Any]]:
    """One row for each queue of each life; one without a queue for a life that got no message yet."""
    for topic in sorted(lives.topics):
        for life in lives.topics[topic]:
            of_life = {
                "broker": broker,
                "topic": topic,
                "life": life.life,
                "state": life.state,
                "first_physical_offset": life.first_physical_offset,
                "end_physical_offset": life.end_physical_offset,
                "begins_at": utc(life.begins_ms),
                "is_certain": life.certain,
                "ground": life.ground.name.lower(),
                "evidence": life.evidence,
            }
            for queue in life.queues or (None,):
                yield of_life | _queue_row(queue)


def _queue_row(queue: QueueLife | None) -> dict[str, int | None]:
    return {
        "queue_id": None if queue is None else queue.queue_id,
        "first_queue_offset": None if queue is None else queue.first_queue_offset,
        "last_queue_offset": None if queue is None else queue.last_queue_offset,
        "messages": 0 if queue is None else queue.messages,
        "queue_begins_at": None if queue is None else queue.first_physical_offset,
    }


def lives_of_rows(rows: Iterable[Row]) -> TopicLives:
    """The lives of topics of one broker, from their rows; `begins_at` is epoch milliseconds here."""
    ordered = sorted(rows, key=lambda row: (row["topic"], row["life"]))
    return TopicLives(
        {
            topic: tuple(_life(list(of_life)) for _, of_life in groupby(of_topic, key=lambda row: row["life"]))
            for topic, of_topic in groupby(ordered, key=lambda row: row["topic"])
        }
    )


def _life(rows: list[Row]) -> TopicLife:
    first = rows[0]
    queues = tuple(
        QueueLife(
            row["queue_id"],
            row["first_queue_offset"],
            row["last_queue_offset"],
            row["messages"],
            row["queue_begins_at"],
        )
        for row in rows
        if row["queue_id"] is not None
    )
    return TopicLife(
        topic=first["topic"],
        life=first["life"],
        state=first["state"],
        first_physical_offset=first["first_physical_offset"],
        end_physical_offset=first["end_physical_offset"],
        queues=queues,
        messages=sum(row["messages"] for row in rows),
        earliest_ms=first["begins_at"],
        latest_ms=None,
        certain=first["is_certain"],
        ground=Ground[first["ground"].upper()],
    )
