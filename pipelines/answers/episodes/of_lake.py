"""Rows of the table `lag_episodes` from the lake's history of lag, its ownership, and the logs of the brokers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipelines.answers.episodes.conditions import Conditions, Told, absences_of, conditions_of, store_times
from pipelines.answers.episodes.curve import curves_of
from pipelines.answers.episodes.episodes import LEAST_MESSAGES, episode_rows
from pipelines.answers.recorded.beside import TOLD_STEMS
from pipelines.answers.recorded.logged import lines_logged, store_logged
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.lake import Lake

PAIRS = f"""
SELECT broker, "group", topic FROM (
    SELECT broker, "group", topic, queue_id, max(messages_behind) AS most FROM lag_history
    GROUP BY broker, "group", topic, queue_id
) WHERE most > 0 GROUP BY broker, "group", topic HAVING sum(most) >= {LEAST_MESSAGES} ORDER BY ALL
"""
"""Groups that may have been so far behind: where a queue is unknown its lag of before holds (`TopicCurve`), so the sum
over an instant's known queues may be less than the group was behind."""
HISTORY = """
SELECT * FROM lag_history WHERE broker = $broker AND "group" = $group AND topic = $topic
"""
OWNED = "SELECT * FROM {table} WHERE broker = $broker"
RECORDED = f"""
SELECT epoch_ms(max("at")) AS until_ms FROM log_events WHERE log IS NULL OR log NOT IN {tuple(sorted(TOLD_STEMS))}
"""
RECORD_SIZE = "SELECT avg(total_size) AS bytes FROM commitlog_messages WHERE broker = $broker"


def lake_episodes(lake: Lake, sources: Sources) -> Iterator[dict[str, Any]]:
    """The episodes of every broker, one group on one topic at a time; without ownership tables or logs their causes are
    unexplained, with the reason."""
    pairs = lake.query(PAIRS).to_pylist()
    for broker in sources.brokers:
        behind = [pair for pair in pairs if pair["broker"] == broker.name]
        conditions = _conditions(lake, broker) if behind else Conditions()
        for pair in behind:
            rows = lake.query(HISTORY, **pair).to_pylist()
            yield from episode_rows(curves_of(rows), conditions)


def _conditions(lake: Lake, broker: BrokerSource) -> Conditions:
    """What held meanwhile, by the lake's ownership tables and the broker's logs."""
    owned, wrong = (
        lake.query(OWNED.format(table=table), broker=broker.name).to_pylist()
        for table in ("ownership_intervals", "ownership_anomalies")
    )
    until_ms = lake.query(RECORDED).to_pylist()[0]["until_ms"]
    record, behind, _ = lines_logged(broker)
    told = Told(
        behind,
        absences_of(record),
        record.covered,
        max([until_ms or 0, *(end for _, end in record.covered)]),
        lake.query_broker(RECORD_SIZE, broker.name).to_pylist()[0]["bytes"],
        store_times(store_logged(broker)),
    )
    return conditions_of(owned, wrong, told)
