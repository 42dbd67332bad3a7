"""Stores that were copied with and without their files' times."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from parsers.store.store import open_store
from recovery.knowledge.copied_times import LATE_WRITE_MS, copied_without_times
from tests.support.cli import call, rows_of
from tests.support.copies import copy_tree
from tests.support.incidents import incident, incident_names
from tests.support.stores import CLASSIC_KINDS, store_names, store_root

COPIED_AT = 4_000_000_000
"""Epoch seconds; later than any message."""


@pytest.fixture(params=incident_names("offsets-reset"))
def copies(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """A store with its times, and a copy without."""
    case = incident(request.param)
    copy = tmp_path / "store"
    copy_tree(case.root, copy)
    for number, path in enumerate(sorted(copy.rglob("*"))):
        os.utime(path, (COPIED_AT + number * 0.01, COPIED_AT + number * 0.01))
    return case.root, copy


def behind(root: Path, *arguments: object) -> dict[tuple[str, str, int], dict[str, Any]]:
    rows = rows_of("lag", root, *arguments)
    return {(row["group"], row["topic"], row["queue_id"]): row for row in rows if row["messages_behind"]}


def test_a_copy_without_times_tells_messages_and_no_seconds(copies: tuple[Path, Path]) -> None:
    kept, copied = (behind(root) for root in copies)
    assert {key: row["messages_behind"] for key, row in copied.items()} == {
        key: row["messages_behind"] for key, row in kept.items()
    }
    for key in (key for key, row in kept.items() if row["seconds_behind"]):
        assert copied[key]["seconds_behind"] is None
        assert "times are those of a copy" in copied[key]["reason"]
    assert all(row["at"] < "2027" for row in copied.values())


def test_an_instant_that_is_given_leads_to_seconds_all_the_same(copies: tuple[Path, Path]) -> None:
    at = 1_800_000_000_000
    kept, copied = (behind(root, "--at", at) for root in copies)
    assert [row["seconds_behind"] for row in copied.values()] == [row["seconds_behind"] for row in kept.values()]


def test_when_files_of_a_copy_are_due_is_unknown(copies: tuple[Path, Path]) -> None:
    documents = [rows_of("retention", root, "--now", 1_800_000_000_000)[0] for root in copies]
    assert [bool(document["why_not"]) for document in documents] == [False, True]
    assert documents[1]["delete_now"] == documents[1]["later"] == []
    unread = [[row["unread_messages"] for row in document["unread_at_risk"]] for document in documents]
    assert unread[0] == unread[1]
    assert all(row["due_at"] is None for row in documents[1]["unread_at_risk"])


def test_a_search_that_goes_by_the_times_of_files_is_doubted(copies: tuple[Path, Path]) -> None:
    asked = ["--topic", "TOld", "--queue", "0", "--at", "1795337000000", "--version", "4.9.7"]
    searches_by_times = any(len(files) > 1 for files in open_store(copies[0]).queues.values())
    codes = [call("offset-at", root, *asked).code for root in copies]
    assert codes == [0, 4 if searches_by_times else 0]


@pytest.mark.parametrize("name", store_names(*CLASSIC_KINDS, "batchcq", "dledger", "rocksdb"))
def test_times_that_a_broker_left_are_believed(name: str) -> None:
    assert copied_without_times(open_store(store_root(name))) is None


def test_a_minute_is_what_pages_may_take_to_the_disk(tmp_path: Path) -> None:
    copy = tmp_path / "store"
    copy_tree(store_root("5.3.3-clean"), copy)
    os.utime(copy, (COPIED_AT, COPIED_AT))
    for path in copy.rglob("*"):
        os.utime(path, (COPIED_AT, COPIED_AT))
    lost = copied_without_times(open_store(copy))
    assert lost is not None
    for path in copy.rglob("*"):
        os.utime(path, ((lost.newest_message_ms + LATE_WRITE_MS) / 1000,) * 2)
    assert copied_without_times(open_store(copy)) is None
