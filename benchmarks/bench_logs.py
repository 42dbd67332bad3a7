"""How fast logs are read, on one core: recognition alone, and with the facts.

Run: python benchmarks/bench_logs.py [SESSIONS_FOLDER] [MEGABYTES]
The logs of recorded clusters (the fixture sets' `rebalance/sessions`), one after the other and repeated: consumers',
brokers', and all together. Seconds are CPU seconds of this process; the baseline of the ratio tries every pattern on
every line. The counts are compared.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

from rebalance.logs import TEMPLATES, LogReader, facts_from_log
from rebalance.logs.table import UNREADABLE

SESSIONS = Path(__file__).resolve().parents[2] / "shared" / "fixtures" / "rebalance" / "sessions"


def logs_named(sessions: Path, *patterns: str) -> bytes:
    """All logs of those names, one after the other."""
    paths = sorted(path for pattern in patterns for path in sessions.glob(f"*/logs/{pattern}.gz"))
    return b"".join(gzip.decompress(path.read_bytes()) for path in paths)


def recognised(log: bytes) -> int:
    """Entries that a template matches."""
    return sum(event.template is not UNREADABLE for event in LogReader().events(io.BytesIO(log)))


def recognised_naively(log: bytes) -> int:
    """The same, every pattern tried on every entry in turn."""
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
    for name, log in (("clients", clients), ("brokers", brokers), ("all", clients + brokers)):
        naive_speed, naive_count = megabytes_per_second(recognised_naively, log)
        repeated = log * (size // len(log) + 1)
        speed, count = megabytes_per_second(recognised, repeated)
        facts_speed, fact_count = megabytes_per_second(facts, repeated)
        assert count == naive_count * (len(repeated) // len(log))
        assert fact_count > 0
        ratio = speed / naive_speed
        print(
            f"{name:8} {len(repeated) / 1e6:6.1f} MB   recognise {speed:6.1f} MB/s (x{ratio:,.1f} of naive)   "
            f"facts {facts_speed:6.1f} MB/s   {count:,} entries, {fact_count:,} facts"
        )


if __name__ == "__main__":
    main()
