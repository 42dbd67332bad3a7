"""How fast logs are read, on one core: recognition alone, and with the facts.

Run: python benchmarks/bench_logs.py [SESSIONS_FOLDER] [MEGABYTES]
The logs of recorded clusters (`tests/golden/rebalance/sessions`), one after the other and repeated, each some days
after the one before: consumers', brokers', and all together. Seconds are CPU seconds of this process; the baseline of
the ratio tries every pattern on every line. The counts are compared.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from time import process_time

from rebalance.readers.logs import TEMPLATES, LogReader, facts_from_log
from rebalance.readers.logs.templates.table import UNREADABLE
from tests.support.fixtures import GOLDEN

SESSIONS = GOLDEN / "rebalance" / "sessions"
FIRST_DAY = date(2025, 1, 1)
DAY = re.compile(rb"^\d{4}-\d\d-\d\d(?= )", re.MULTILINE)


def logs_named(sessions: Path, *patterns: str) -> list[bytes]:
    """All dated logs of those names."""
    paths = sorted(path for pattern in patterns for path in sessions.glob(f"*/logs/{pattern}.gz"))
    return [log for path in paths if DAY.search(log := gzip.decompress(path.read_bytes()))]


def one_log(logs: list[bytes], times: int) -> bytes:
    """The logs one after the other, so many times over, each moved by whole days to begin after the one before."""
    moved = []
    next_day = FIRST_DAY
    for log in logs * times:
        days = sorted({date.fromisoformat(day.decode()) for day in DAY.findall(log)})
        later = next_day - days[0]
        new_days = {str(day).encode(): str(day + later).encode() for day in days}
        moved.append(DAY.sub(partial(_new_day, new_days), log))
        next_day = days[-1] + later + timedelta(days=1)
    return b"".join(moved)


def _new_day(new_days: Mapping[bytes, bytes], found: re.Match[bytes]) -> bytes:
    return new_days[found[0]]


def recognised(log: bytes) -> int:
    """Entries that a template matches."""
    return sum(event.template is not UNREADABLE for event in LogReader().events(io.BytesIO(log)))


def recognised_naively(log: bytes) -> int:
    """How many lines of a log a template recognises, every pattern tried on every line in turn."""
    count = 0
    for line in io.BytesIO(log):
        if line[4:5] == b"-" and line[7:8] == b"-":
            message = line[line.find(b" - ", 19) + 3 :].decode("utf-8", "replace").rstrip()
            count += any(template.pattern.fullmatch(message) for template in TEMPLATES)
    return count


def facts(log: bytes) -> int:
    """Facts of the log."""
    return sum(1 for _ in facts_from_log(io.BytesIO(log), source="s"))


def megabytes_per_second(read: Callable[[bytes], int], log: bytes) -> tuple[float, int]:
    """Speed and count of one reading."""
    started = process_time()
    count = read(log)
    return len(log) / 1e6 / (process_time() - started), count


def main() -> None:
    """Print one line per kind of log."""
    sessions = Path(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS
    size = 1_000_000 * (int(sys.argv[2]) if len(sys.argv) > 2 else 32)
    clients = logs_named(sessions, "c?/rocketmq_client.log")
    brokers = logs_named(sessions, "broker-?/broker.log", "broker-?/lock.log", "broker-?/filter.log")
    for name, logs in (("clients", clients), ("brokers", brokers), ("all", clients + brokers)):
        naive_speed, naive_count = megabytes_per_second(recognised_naively, one_log(logs, 1))
        times = size // sum(map(len, logs)) + 1
        repeated = one_log(logs, times)
        speed, count = megabytes_per_second(recognised, repeated)
        facts_speed, fact_count = megabytes_per_second(facts, repeated)
        assert count == naive_count * times
        assert fact_count > 0
        ratio = speed / naive_speed
        print(
            f"{name:8} {len(repeated) / 1e6:6.1f} MB   recognise {speed:6.1f} MB/s (x{ratio:,.1f} of naive)   "
            f"facts {facts_speed:6.1f} MB/s   {count:,} entries, {fact_count:,} facts"
        )


if __name__ == "__main__":
    main()
