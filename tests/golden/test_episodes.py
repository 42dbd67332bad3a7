"""Episodes of lag that a real broker recorded, each with one cause: the code finds it from the recordings alone."""

from __future__ import annotations

import json
import shutil
import tarfile
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pipelines.notebook.bundles import extract_all
from recovery.query.lag_cause import LagCause
from tests.support.cli import call
from tests.support.fixtures import GOLDEN, move_once, run_folder

EPISODES = GOLDEN / "episodes"
NAMES = sorted(folder.name for folder in EPISODES.iterdir())
CAUSE_OF = {
    "burst": "burst",
    "dispatch": "dispatch_delay",
    "gap": "ownership_gap",
    "hand": "offset_moved",
    "hot": "hot_queue",
    "lock": "lock_wait",
    "moved": "offset_moved",
    "slow": "slow_client",
    "slowone": "slow_client",
}
"""What `L.java` did -> what that is called."""
NEAR_MS = 4_000
"""Offsets were kept every two seconds."""


@cache
def recorded(name: str) -> Path:
    """The incident, unpacked once per test run: `store`, `kept`, `logs`."""
    folder = run_folder() / f"episode-{name}"
    if not folder.is_dir():
        with TemporaryDirectory(dir=run_folder()) as scratch:
            whole = Path(scratch) / "whole"
            whole.mkdir()
            with tarfile.open(EPISODES / name / "recorded.tar.gz") as archive:
                extract_all(archive, whole)
            move_once(whole, folder)
    return folder


def told(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((EPISODES / name / "told.json").read_text("utf-8"))
    return read


def episodes(name: str, *options: str) -> list[dict[str, Any]]:
    place = recorded(name)
    logs = [] if "--no-logs" in options else ["--logs", place / "logs"]
    further = [option for option in options if option != "--no-logs"]
    return call("episodes", place / "store", "--offsets", place / "kept", *logs, *further).rows


@pytest.mark.parametrize("name", NAMES)
def test_the_cause_has_the_largest_share(name: str) -> None:
    facts, rows = told(name)["facts"], episodes(name)
    (row,) = [row for row in rows if row["group"] == facts["group"] and row["topic"] == facts["topic"]]
    assert row["cause"] == CAUSE_OF[facts["cause"]]
    assert row[row["cause"]] > 0.8
    assert sum(row[cause.value] for cause in LagCause) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_nobody_else_is_blamed(name: str) -> None:
    """The other group consumes all the time; only where dispatch stood still it was behind as well."""
    facts = told(name)["facts"]
    others = [row for row in episodes(name) if row["group"] != facts["group"]]
    assert {row["cause"] for row in others} <= ({"dispatch_delay"} if facts["cause"] == "dispatch" else set())


@pytest.mark.parametrize("name", NAMES)
def test_it_begins_with_the_incident(name: str) -> None:
    facts = told(name)
    (row,) = [row for row in episodes(name) if row["group"] == facts["facts"]["group"]]
    begin = datetime.fromisoformat(row["begin"]).timestamp() * 1000
    assert facts["begins"] - NEAR_MS <= begin <= facts["over"]


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(("gap", "slow", "lock", "dispatch"))])
def test_without_logs_it_is_unexplained_and_says_so(name: str) -> None:
    (row,) = [row for row in episodes(name, "--no-logs") if row["group"] == told(name)["facts"]["group"]]
    assert row["cause"] == "unexplained"
    assert "no log" in row["reason"]


def test_the_words_of_a_group_that_is_away(tmp_path: Path) -> None:
    """Tables kept until the consumers had been away for more than half of the window."""
    place, facts = recorded("gap-1"), told("gap-1")
    for path in (place / "kept").iterdir():
        if int(path.name.partition(".")[0]) < facts["over"] - NEAR_MS / 2:
            shutil.copy2(path, tmp_path)
    asked = ("episodes", place / "store", "--offsets", tmp_path, "--status", "--topic", facts["facts"]["topic"])
    with_logs, without = call(*asked, "--logs", place / "logs").rows, call(*asked).rows
    assert {(row["status"], row["reason"]) for row in with_logs} == {("STOP", None)}
    assert {row["status"] for row in without} <= {"WARN", "STALL"}
