"""What store.log and storeerror.log of recorded brokers say, against a plain look at their lines and the incidents."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pipelines.recordings.store_log import logs_of_broker, store_logs
from tests.support.cli import call
from tests.support.fixtures import GOLDEN
from tests.support.incidents import incident, incident_names

STARTS = {
    "delete file[REF:": "file_deleted",
    "begin to delete before ": "cleaning",
    "disk space will be full soon, but": "nothing_to_delete",
    "found a illegal magic code 0x": "log_ends",
    "last shutdown normally": "clean_exit",
    "last shutdown abnormally": "unclean_exit",
    "Maybe try to build consume queue repeatedly": "dispatched_again",
    "maxPhyOffsetOfConsumeQueue(": "queues_compared_with_log",
    "[BUG]": "a bug",
}
"""How a line begins that a plain look finds; no recorded broker met another magic code than 0."""
FOLDERS = sorted({path.parent for path in GOLDEN.rglob("store*.log.gz")})


def told(folder: Path) -> list[dict[str, Any]]:
    called = call("replay", folder, "--show", "store", "--format", "jsonl")
    assert (called.code, called.err) == (0, "")
    return called.rows


def plain(folder: Path) -> Counter[str]:
    """How many lines begin like each text."""
    found: Counter[str] = Counter()
    for path in folder.glob("store*.log.gz"):
        for line in gzip.decompress(path.read_bytes()).decode("utf-8", "replace").splitlines():
            message = line.partition(" - ")[2]
            found.update(name for start, name in STARTS.items() if message.startswith(start))
    return found


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: "-".join(folder.parts[-4:]))
def test_every_line_that_a_plain_look_finds_is_counted(folder: Path) -> None:
    counts: Counter[str] = Counter()
    for row in told(folder):
        counts["a bug" if "[BUG]" in row["example"] else row["says"]] += row["lines"]
        assert row["first_at"] <= row["last_at"]
        assert row["means"]
    assert {name: counts[name] for name in STARTS.values()} == {name: plain(folder)[name] for name in STARTS.values()}


@pytest.mark.parametrize("name", [*incident_names("disk-full-clean"), *incident_names("disk-full-reject")])
def test_a_full_disk_is_told(name: str) -> None:
    says = {row["says"] for row in told(incident(name).logs)}
    assert {"disk_full", "cleaning", "nothing_to_delete"} <= says


def test_a_line_names_its_queue(tmp_path: Path) -> None:
    log = tmp_path / "storeerror.log"
    line = (
        "2026-11-22 16:57:32 WARN ReputMessageService - [BUG]logic queue order maybe wrong, expectLogicOffset: 200 "
        "currentLogicOffset: 100 Topic: Orders QID: 3 Diff: 100\n"
    )
    other = "2026-11-22 16:57:33 WARN t - [BUG]put commit log position info to Orders:4 9 failed, retry 2 times\n"
    log.write_text(line + line.replace(":32", ":40") + other)
    rows = told(tmp_path)
    assert [(row["says"], row["topic"], row["queue_id"], row["lines"]) for row in rows] == [
        ("queue_order_wrong", "Orders", 3, 2),
        ("queue_unit_not_written", "Orders", 4, 1),
    ]
    assert rows[0]["last_at"] == "2026-11-22T08:57:40.000Z"
    assert rows[0]["evidence"] == "storeerror.log:1"
    assert "`replay --show store` reads the logs of a broker that are" in call("replay", tmp_path).err
    assert call("replay", tmp_path, "--show", "store", "--at", "now").code == 2
    assert call("replay", tmp_path / ".." / "none", "--show", "store").code == 3


def test_brokers_are_counted_apart_and_each_file_once(tmp_path: Path) -> None:
    line = "2026-11-22 16:57:33 WARN t - [BUG]consume queue can not write, T 3\n"
    for name in ("a", "b"):
        (tmp_path / name / "otherdays").mkdir(parents=True)
        (tmp_path / name / "store.log").write_text(line)
        (tmp_path / name / "otherdays" / "store.1.log").write_text(line)
    called = call("replay", tmp_path, tmp_path / "a" / "store.log", "--show", "store", "--format", "jsonl")
    assert [(row["lines"], row["evidence"]) for row in called.rows] == [
        (2, "a/otherdays/store.1.log:1"),
        (2, "b/otherdays/store.1.log:1"),
    ]


def test_the_batch_put_and_rocksdb_have_texts_of_their_own(tmp_path: Path) -> None:
    texts = {
        "Create mapped file1 error, topic: T clientAddr: /10.0.0.1:1": "no_new_log_file",
        "[BUG]The mappedFile queue's data is damaged, the adjacent mappedFile's offset don't match. pre file /d/0, "
        "cur file /d/2": "files_do_not_join",
        "dledger maxPhyOffsetOfConsumeQueue(9) >= processOffset(7), truncate dirty logic files": (
            "queues_compared_with_log"
        ),
        "found illegal commitlog offset 9 in /d/0, current pos=7, it will be truncated.": "wrong_log_offset",
        "logics disk maybe full soon, so reclaim space, 0.8": "disk_nearly_full",
    }
    (tmp_path / "store.log").write_text("".join(f"2026-11-22 16:57:33 WARN t - {text}\n" for text in texts))
    assert {row["example"]: row["says"] for row in told(tmp_path)} == texts


def test_a_number_that_is_no_queue_is_none(tmp_path: Path) -> None:
    head = "2026-11-22 16:57:33 WARN t - "
    (tmp_path / "store.log").write_text(f"{head}[BUG]consume queue can not write, T {'9' * 18}\n")
    (row,) = told(tmp_path)
    assert (row["says"], row["topic"], row["queue_id"]) == ("queue_not_writable", "T", None)


@pytest.mark.parametrize("name", [name for name in incident_names() if incident(name).logs.is_dir()])
def test_no_line_that_a_broker_wrote_is_called_damaged(name: str) -> None:
    told = call("replay", incident(name).logs, "--show", "notes")
    assert "cut or damaged" not in told.err


def test_of_several_brokers_the_logs_of_the_one_that_is_asked_for_are_taken(tmp_path: Path) -> None:
    """Its folder has its name, or a broker.log that names it."""
    booted = "2026-11-21 03:12:01 INFO main - The broker[{}, 10.0.0.1:10911] boot success.\n"
    for folder, name in (("broker-a", None), ("x", "broker-b")):
        (tmp_path / folder / "otherdays").mkdir(parents=True)
        (tmp_path / folder / "store.log").write_text("")
        (tmp_path / folder / "otherdays" / "store.1.log").write_text("")
        if name is not None:
            (tmp_path / folder / "broker.log").write_text(booted.format(name))
    logs = store_logs([tmp_path])
    assert len(logs) == 4
    for own, folder in (("broker-a", "broker-a"), ("broker-b", "x")):
        assert {path.relative_to(tmp_path).parts[0] for path in logs_of_broker(logs, own)} == {folder}
    assert logs_of_broker(logs, None) == logs_of_broker(logs, "broker-c") == []
    assert logs_of_broker(logs[:2], None) == logs[:2]
