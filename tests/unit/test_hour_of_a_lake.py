"""Within one hour a lake's tables tell the same of the cleaners, also while it is the hour in which they delete."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from pipelines.answers.derived import store_rows
from pipelines.answers.derived.store_rows import delay_batches
from pipelines.lake.configuration.sources import BrokerSource
from tests.lake_faults.world import World


def pending_at(now: datetime, broker: BrokerSource, monkeypatch: pytest.MonkeyPatch) -> pa.Table:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return now

    monkeypatch.setattr(store_rows, "datetime", Clock)
    rows = pa.Table.from_batches(list(delay_batches(broker)))
    return rows.filter(pa.compute.is_valid(rows["expires_at"]))


def test_two_ingests_of_a_delete_hour_tell_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    early, late = datetime(2026, 11, 23, 4, 10, 7, tzinfo=UTC), datetime(2026, 11, 23, 4, 50, tzinfo=UTC)
    settings = {"deleteWhen": f"{early.astimezone().hour:02}"}
    broker = BrokerSource("a", World.make(tmp_path).store("a"), version="5.3.3", settings=settings)
    told = pending_at(early, broker, monkeypatch)
    assert told.num_rows > 0
    assert told.equals(pending_at(late, broker, monkeypatch))
    assert not told.equals(pending_at(late.replace(hour=6), broker, monkeypatch))
