"""Lag from a store's files: at an instant in the past it is what the administration tool saw then."""

from __future__ import annotations

import gzip
import json
import tarfile
from pathlib import Path

import pytest

from pipelines.notebook.bundles import extract_all
from tests.support.cli import call
from tests.support.fixtures import GOLDEN
from tests.support.stores import store_root

SESSION = GOLDEN / "rebalance" / "sessions" / "h-533-quiet"


@pytest.fixture(scope="module")
def quiet_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("quiet")
    with tarfile.open(SESSION / "store.tar.gz") as tar:
        extract_all(tar, into)
    return into / "broker-0" / "store"


def test_past_lag_agrees_with_polls_of_that_time(quiet_store: Path) -> None:
    """A poll reads offsets a little after they were asked for, so neighbours within a second of messages agree."""
    checked = 0
    with gzip.open(SESSION / "truth" / "polls.jsonl.gz", "rt", encoding="utf-8") as polls:
        for poll in map(json.loads, polls):
            if poll["kind"] != "consumeStats" or "rows" not in poll:
                continue
            asked = ["--at", poll["ts"], "--offsets", SESSION / "offsets" / "broker-0", "--group", poll["group"]]
            found = {(r["topic"], r["queue_id"]): r for r in call("lag", quiet_store, *asked, "--quiet").rows}
            for row in (dict(zip(poll["columns"], values, strict=True)) for values in poll["rows"]):
                ours = found.get((row["topic"], row["queueId"]))
                if ours is not None and ours["broker_offset"] is not None:
                    assert abs(ours["broker_offset"] - row["brokerOffset"]) <= 3
                    checked += 1
    assert checked > 50


def test_offsets_younger_than_the_instant_are_unknown_not_zero() -> None:
    rows = call("lag", store_root("5.3.3-lmq"), "--at", "1000000000000", "--quiet").rows
    assert rows
    assert {(row["consumer_offset"], row["messages_behind"], row["status"]) for row in rows} == {
        (None, None, "unknown")
    }
    assert all("no offsets written by then" in row["reason"] for row in rows)


def test_kept_copies_are_dated_by_their_names(tmp_path: Path) -> None:
    store = store_root("5.3.3-propcrc")
    rows = [row for row in call("lag", store, "--quiet").rows if row["consumer_offset"]]
    first = rows[0]
    name = f"{first['topic']}@{first['group']}"
    for written_ms, offset in ((1_900_000_000_000, 1), (1_900_000_100_000, 2)):
        copy = {"offsetTable": {name: {str(first["queue_id"]): offset}}}
        (tmp_path / f"{written_ms}.consumerOffset.json").write_text(json.dumps(copy))
    for at, offset in ((1_900_000_050_000, 1), (1_900_000_100_000, 2), (None, 2)):
        given = ["--at", at] if at is not None else []
        found = call("lag", store, "--offsets", tmp_path, *given, "--quiet").rows
        assert {row["consumer_offset"] for row in found if row["queue_id"] == first["queue_id"]} == {offset}


def test_a_place_without_offsets_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    assert call("lag", store_root("5.3.3-propcrc"), "--offsets", tmp_path).code == 3
