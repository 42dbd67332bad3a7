"""Brokers ended by SIGKILL, or filled up while they refused messages: nothing of it is damage."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from parsers.store.store import Store
from recovery.forecast.forecast import Forecast, forecast
from recovery.knowledge.inference import StoreKnowledge
from recovery.rules.settings import StoreSettings
from recovery.verify.verify import verify
from tests.fuzz.commands.asked import MOST_SECONDS, at_most
from tests.support.broker_conf import settings_of_conf
from tests.support.cli import rows_of
from tests.support.copies import copy_tree
from tests.support.incidents import Incident, incident, incident_names
from tests.support.opened import opened

KILLED = incident_names("kill9", "kill9-pool")
NAMES = incident_names("kill9", "kill9-pool", "disk-full-reject")
Ends = dict[tuple[str, int], tuple[int, int]]


def opened_as_run(case: Incident, *, killed: bool) -> tuple[Store, StoreKnowledge]:
    root = case.killed_root if killed else case.root
    return opened(
        root,
        case.version,
        settings_of_conf(case.broker_conf).with_config(
            {"storePathRootDir": str(root), "storePathCommitLog": str(root / "commitlog")}
        ),
    )


def queue_ends(told: Forecast) -> Ends:
    queues = told.played.memory.queues.items()
    ends = {key: (queue.min_queue_offset, queue.max_queue_offset) for key, queue in queues}
    return {key: found for key, found in ends.items() if found[1] > 0}


def ends_of(queues: dict[str, dict[str, list[int]]]) -> Ends:
    return {
        (topic, int(queue_id)): (ends[0], ends[1]) for topic, told in queues.items() for queue_id, ends in told.items()
    }


@pytest.mark.parametrize("name", KILLED)
def test_the_start_after_a_kill_is_foretold(name: str) -> None:
    case = incident(name)
    real: dict[str, Any] = case.told()["facts"]["afterRestart"]
    told = forecast(*opened_as_run(case, killed=True))
    assert told.outcome.starts
    assert (told.played.memory.commitlog.min_offset, told.outcome.log_end) == (real["minPhy"], real["maxPhy"])
    assert queue_ends(told) == ends_of(real["queues"])
    assert told.outcome.lost == {"message": 0, "queue_unit": 0, "index_entries": 0}
    assert told.advice == ()


def test_dispatch_passes_the_zeros_of_files_that_a_repair_lengthens() -> None:
    """Told that files have 1 GiB, the broker starts once these have: behind their stored bytes are zeros."""
    with at_most(MOST_SECONDS):
        told = forecast(*opened(incident("4.9.7-kill9").root, "4.9.8", StoreSettings()))
    assert not told.outcome.starts
    assert told.advice


@pytest.mark.parametrize("name", KILLED)
def test_verify_finds_nothing_in_what_a_kill_leaves(name: str) -> None:
    """Each start cuts nothing here: `truncatedBytes` is 0."""
    case = incident(name)
    assert case.told()["answers"]["truncatedBytes"] == 0
    assert verify(*opened_as_run(case, killed=True)).findings == ()


@pytest.mark.parametrize("name", NAMES)
def test_verify_finds_nothing_after_the_orderly_stop(name: str) -> None:
    assert verify(*opened_as_run(incident(name), killed=False)).findings == ()


@pytest.mark.parametrize("name", KILLED)
def test_groups_come_back_at_the_offsets_of_the_last_flush(name: str) -> None:
    case = incident(name)
    real = case.told()["facts"]["afterRestart"]["offsets"]
    config = f"storePathCommitLog={case.killed_root / 'commitlog'}"
    rows = rows_of("lag", case.killed_root, "--broker-conf", case.broker_conf, "--config", config)
    found = {(f"{row['topic']}@{row['group']}", str(row["queue_id"])): row["consumer_offset"] for row in rows}
    for subscription, queues in real.items():
        for queue_id, offset in queues.items():
            assert found[subscription, queue_id] == offset


@pytest.mark.parametrize("name", incident_names("kill9"))
def test_an_offset_within_what_the_log_has_lost_no_message(name: str, tmp_path: Path) -> None:
    """The first file of each queue was cut to nothing; the log has its messages, and a rebuild gives them back."""
    case, root = incident(name), tmp_path / "store"
    copy_tree(case.killed_root, root)
    for folder in (root / "consumequeue").glob("*/*"):
        os.truncate(min(folder.iterdir()), 0)
    kinds = {finding.kind for finding in verify(*opened(root, case.version)).findings}
    assert "file_size_wrong" in kinds
    assert "consumer_offset_below_min" not in kinds
