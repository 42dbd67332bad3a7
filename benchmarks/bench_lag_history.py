"""The history of lag at 1 000 instants over 1, 4 and 16 M messages: is it linear, and how is it planned?

Run: python -m benchmarks.bench_lag_history [millions …] [--plan]
The lake's own question (lag_history.sql) on tables of DuckDB with the columns that it asks for: a message every 10 ms
in one of 1 000 queues, offsets of 100 of them kept at 1 000 instants. Processor seconds of this process, the best of
two runs, and the share of the rate at the first size: 1.00 is linear. `--plan` prints how DuckDB joins.
"""

from __future__ import annotations

import sys
from time import process_time

import duckdb

from pipelines.lake.questions import question

QUEUES, KEPT, INSTANTS, STEP_MS = 1_000, 100, 1_000, 10
TABLES = f"""
CREATE OR REPLACE TABLE numbers AS SELECT i, (i // {QUEUES})::BIGINT AS o, (i % {QUEUES})::INT AS q FROM range($n) t(i);
CREATE OR REPLACE TABLE commitlog_messages AS SELECT 'b' AS broker, i * 600 AS physical_offset,
  make_timestamptz(1795000000000000 + i * {STEP_MS} * 1000) AS store_timestamp FROM numbers;
CREATE OR REPLACE TABLE consumequeue_units AS SELECT 'b' AS broker, 'T' AS topic, q AS queue_id, o AS queue_offset,
  i * 600 AS physical_offset FROM numbers;
CREATE OR REPLACE TABLE queues AS SELECT 'b' AS broker, 'T' AS topic, q AS queue_id, 0::BIGINT AS min_queue_offset,
  max(o) + 1 AS max_queue_offset, max(o) + 1 AS messages FROM numbers GROUP BY q;
CREATE OR REPLACE TABLE topic_configs AS SELECT 'b' AS broker, 'T' AS topic;
CREATE OR REPLACE TABLE offset_snapshots AS SELECT 'b' AS broker, 'G' AS "group", 'T' AS topic, q::INT AS queue_id,
  'committed' AS kind, 'config/consumerOffset.json' AS file,
  make_timestamptz(1795000000000000 + (step + 1) * ($n // {INSTANTS}) * {STEP_MS} * 1000) AS written_at,
  (step * ($n // {QUEUES}) // {INSTANTS})::BIGINT AS consumer_offset
  FROM range({INSTANTS}) a(step), range({KEPT}) b(q);
"""


def seconds(lake: duckdb.DuckDBPyConnection) -> float:
    """Processor seconds of one answer, whose rows are as many as offsets were kept, each of them known."""
    before = process_time()
    rows = lake.sql(question("lag_history")).to_arrow_table()
    spent = process_time() - before
    assert rows.num_rows == KEPT * INSTANTS
    assert set(rows["status"].to_pylist()) <= {"number", "zero"}
    return spent


def main(millions: list[int], *, plan: bool) -> None:
    lake, first = duckdb.connect(), 0.0
    for million in millions:
        for statement in TABLES.replace("$n", str(million * 1_000_000)).split(";"):
            if statement.strip():
                lake.execute(statement)
        spent = min(seconds(lake) for _ in range(2))
        rate = million / spent
        first = first or rate
        print(f"{million:4d} M messages  {spent:7.2f} s  {rate:6.2f} M messages/s  {rate / first:5.2f}", flush=True)
    if plan:
        print(lake.execute("EXPLAIN " + question("lag_history")).fetchall()[0][1])


if __name__ == "__main__":
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(sizes or [1, 4, 16], plan="--plan" in sys.argv)
