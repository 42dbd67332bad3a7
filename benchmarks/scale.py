"""What a fleet costs, by arithmetic from measured rates: `python -m benchmarks.scale > docs/scale.md`.

`python -m benchmarks.scale BROKERS GIB` prints the page for so many brokers with so many GiB each. No rate is a guess:
each names what measures it, on two shared Xeon cores.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

BROKERS, GIB_EACH = 10_000, 1024
SLICES_A_GIB = 4
"""Slices of 256 MiB (pipelines.spark.sources.slices.DEFAULT_SPLIT_BYTES)."""
CORE_HOUR, GIB_MONTH = 0.04, 0.023
"""Dollars; list prices of large clouds are about these."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Something measured: how much of a unit for one of what it counts."""

    what: str
    value: float
    unit: str
    measured_by: str


INGEST = Rate("ingest of the CommitLog", 3.0, "core s/GiB", "`benchmarks/bench_spark_commitlog.py`, README")
VERIFY = Rate("`verify`", 0.72, "core s/GiB", "`benchmarks/bench_verify.py`, README")
KEPT = Rate("the lake of a generated log, without bodies", 0.079, "bytes a byte", "24 MB of `tests/support/big_log.py`")
TICK = Rate("a look at a file that has not changed", 79, "core us", "`benchmarks/bench_catalogue.py 250 20`")
PLAN = Rate("planning the slices of a log file", 73, "core us", "`benchmarks/bench_catalogue.py 250 20`")
PUBLISH = Rate("publishing a part of a table", 196, "core us", "`benchmarks/bench_catalogue.py 250 20`")
NOTED = Rate(
    "noting one broker, for each that the lake knows", 4, "core us", "`bench_catalogue.py 1000 2`, 1,000 against 500"
)
COMMITTED = Rate("a commit, for each part of its table", 9, "core us", "`bench_catalogue.py 250 20`, 250 against 125")
RATES = (INGEST, VERIFY, KEPT, TICK, PLAN, PUBLISH, NOTED, COMMITTED)

HEAD = """# Ten thousand brokers

Printed by `python -m benchmarks.scale` from measured rates; a test holds the two in step. It is arithmetic: nobody ran
it at this size. With two numbers after it the command prints the page for another fleet.
"""
TAIL = """
What breaks first:

1. **Commits.** Each broker whose files changed is a version of every table that its files are in, and each version is
   made knowing the parts of all brokers: this grows with the square of the brokers. Nearly all of it is the table of
   messages, which has a part for each log file: a log of Delta is read once by a process, but each version is checked
   against all of it. Use several lakes, one for each cluster.
2. **Publishing.** The catalogue names every part of a table. It grows with the parts, and so does the first question
   after it, for which DuckDB looks at each of them.
3. **The tick of the sensor** looks at every file of every store, and grows with the files. `rocketlens ingest --broker
   NAME` from a timer of each broker ([scheduled.md](scheduled.md)) looks at the files of one.
4. **Decoding** is divided by the cores there are: slices of a log do not know each other, and nothing goes through
   Spark's shuffle.
"""


def rows(brokers: int, gib_each: int) -> Iterator[tuple[str, str]]:
    """What there is to do, and how much of it."""
    gib = brokers * gib_each
    core_h = gib * INGEST.value / 3600
    kept = gib * KEPT.value
    yield "log files of 1 GiB, and parts of the lake", f"{gib:,} of each"
    yield "tasks of a first ingest", f"{gib * SLICES_A_GIB:,}"
    yield "first ingest of the logs", f"{core_h:,.0f} core hours; {core_h / 1000:,.1f} h on 1,000 cores"
    yield f"its price at {CORE_HOUR} dollars a core hour", f"{core_h * CORE_HOUR:,.0f} dollars"
    yield "the same when 1 % has grown", f"{core_h / 100:,.0f} core hours"
    yield "`verify` of all logs", f"{gib * VERIFY.value / 3600:,.0f} core hours"
    yield "bytes through Spark's shuffle", "none"
    yield "bytes of the lake", f"{kept / 1024:,.0f} TiB; {kept * GIB_MONTH:,.0f} dollars a month at {GIB_MONTH} a GiB"
    yield "planning a first ingest, one core", f"{gib * PLAN.value / 6e7:,.0f} min"
    yield "a tick of the sensor, nothing changed, one core", f"{gib * TICK.value / 6e7:,.0f} min"
    yield "publishing, one core", f"{gib * PUBLISH.value / 3.6e9:,.1f} h"
    yield "committing the log of each broker once, one core", f"{brokers * gib * COMMITTED.value / 3.6e9:,.0f} h"
    yield "noting each broker once, one core", f"{brokers * brokers * NOTED.value / 3.6e9:,.1f} h"


def page(brokers: int = BROKERS, gib_each: int = GIB_EACH) -> str:
    """The page for a fleet."""
    lines = [f"| {brokers:,} brokers with {gib_each:,} GiB each | |", "|---|---|"]
    lines += [f"| {name} | {amount} |" for name, amount in rows(brokers, gib_each)]
    lines += ["", "| Rate | | Measured by |", "|---|---|---|"]
    lines += [f"| {rate.what} | {rate.value:g} {rate.unit} | {rate.measured_by} |" for rate in RATES]
    return "\n".join([HEAD, *lines, TAIL])


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:3]]
    print(page(*given), end="")
