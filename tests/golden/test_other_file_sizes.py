"""Log files of another size than the configured one: 4.4.0 and older, and 4.9.2, start without them and lose what they
hold; others do not start. MappedFileQueue#load @4.2.0, 4.4.0, 4.5.1, #doLoad @4.9.2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.stores import store_root, truth, truth_lines

OTHER = 1 << 20
NAMES = [f"{version}-clean" for version in ("3.2.6", "4.2.0", "4.4.0")]


def forecast_of(name: str, version: str, *given: object) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(
        call("forecast", store_root(name), "--version", version, *given, "--format", "json").out
    )
    return told


def size_of(name: str) -> int:
    return int(truth(name, "store_state.json")["settings"]["mappedFileSizeCommitLog"])


@pytest.mark.parametrize(
    ("name", "version"), [*((name, name.partition("-")[0]) for name in NAMES), (NAMES[-1], "4.9.2")]
)
def test_messages_of_files_that_are_left_out_are_lost(name: str, version: str, tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text(f"mapedFileSizeCommitLog={OTHER}\n" if version < "4.5.2" else f"mappedFileSizeCommitLog={OTHER}\n")
    assert size_of(name) != OTHER
    messages = sum("topic" in record for record in truth_lines(name, "messages.jsonl.gz"))

    told = forecast_of(name, version, "--broker-conf", conf)

    assert told["load"]["ok"]
    assert told["commitlog"]["max_physical_offset"] == 0
    assert told["lost_counts"]["message"] == messages
    asked = [advice for advice in told["advice"] if advice["config"]]
    assert [advice["config"]["mappedFileSizeCommitLog"] for advice in asked] == [str(size_of(name))]
    name_then = "mapedFileSizeCommitLog" if version < "4.5.2" else "mappedFileSizeCommitLog"
    assert f" {name_then}={size_of(name)}" in asked[0]["do"]
    assert asked[0]["then"]["lost_counts"]["message"] == 0
    table = call("forecast", store_root(name), "--version", version, "--broker-conf", conf, "--format", "table").out
    assert b"then holds nothing" in table


def test_no_file_is_to_be_made_longer_over_the_next_one() -> None:
    """A start takes such files, and no pull reads what the next file holds: it asks the file before it."""
    name = NAMES[-1]

    told = forecast_of(name, "5.3.3", f"--config=mappedFileSizeCommitLog={OTHER}")

    assert told["load"]["ok"] is False
    assert not [advice["do"] for advice in told["advice"] if "extend" in advice["do"]]
    assert [advice for advice in told["advice"] if advice["config"]]


def test_the_former_name_of_a_file_size_is_told_its_name_of_today() -> None:
    told = call("forecast", store_root(NAMES[-1]), "--version", "4.4.0", "--config=mapedFileSizeCommitLog=1048576")
    assert "mapedFileSizeCommitLog: say mappedFileSizeCommitLog, its name since 4.5.2; left out" in told.err


def test_a_queue_without_a_file_that_has_a_number_is_no_fault(tmp_path: Path) -> None:
    """A repair of a start that fails looks at every queue, also at one with strangers alone."""
    root = tmp_path / "store"
    copy_tree(store_root(NAMES[-1]), root)
    queue = next(path for path in sorted((root / "consumequeue").rglob("*")) if path.is_file())
    queue.rename(queue.with_name("stranger"))

    told = call("forecast", root, "--version", "5.3.3", f"--config=mappedFileSizeCommitLog={OTHER}", "--format", "json")

    assert json.loads(told.out)["load"]["ok"] is False
