"""Logs that tell nothing about ownership: found by their names, and their recognised lines as rows of `log_events`."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from pipelines.answers.recorded.beside import events_beside, logs_beside
from pipelines.answers.recorded.ownership_rows import logged
from pipelines.recordings.recordings import find_recordings
from rebalance.readers.logs.lines.reader import LogReader
from tests.support.fixtures import GOLDEN

PROXIED = GOLDEN / "rebalance" / "proxied"


def test_what_a_replay_passes_over_has_rows_of_its_own(tmp_path: Path) -> None:
    for log in PROXIED.glob("*.log.gz"):
        shutil.copy(log, tmp_path)
    (tmp_path / "broker.log").write_text(
        "2026-11-26 00:43:00 INFO main - The broker[b1, 127.0.0.1:10911] boot success. serializeType=JSON\n"
    )
    beside = logs_beside([tmp_path])
    assert {(log.stem, log.source) for log in beside} == {
        (stem, "b1") for stem in ("proxy", "stats", "transaction", "watermark")
    }
    assert [found.stem for found in find_recordings([tmp_path])] == ["broker"]
    for log in beside:
        rows = [logged(event, log.stem) for event in events_beside(log, pytest.fail)]
        lines = gzip.decompress((PROXIED / f"{log.stem}.log.gz").read_bytes()).splitlines(keepends=True)
        assert len(rows) == sum(1 for _ in LogReader().events(lines)) > 10
        assert all(row.raw == lines[row.line - 1].decode().rstrip("\r\n") for row in rows)
        assert {row.log for row in rows} == {log.stem}


def test_rotated_parts_are_one_log_in_order_of_time(tmp_path: Path) -> None:
    start = "2026-11-26 00:4{}:00 INFO main - recover physic queue last time, and last check point time is 1\n"
    others = tmp_path / "otherdays"
    others.mkdir()
    (tmp_path / "store.log").write_text(start.format(5))
    (others / "store.1.log").write_text(start.format(1))
    (log,) = logs_beside([tmp_path])
    assert [path.name for path in log.paths] == ["store.1.log", "store.log"]
