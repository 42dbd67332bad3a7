"""A file of the log that is missing in its middle: a start loses nothing more, and its forecast does not call that
nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.stores import log_setting, store_names, store_root, truth, truth_lines

LOGS = ["5.3.3-clean", *store_names("multipath")]


@pytest.mark.parametrize("name", LOGS)
def test_bytes_that_no_file_has_are_told_with_the_units_that_lead_there(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store_root(name), root)
    setting = {key: value.replace(str(store_root(name)), str(root)) for key, value in log_setting(name).items()}
    size = int(truth(name, "store_state.json")["settings"]["mappedFileSizeCommitLog"])
    arguments = [f"--config={key}={value}" for key, value in {**setting, "mappedFileSizeCommitLog": size}.items()]
    files = sorted(root.rglob("commitlog/*"), key=lambda path: path.name)
    asked = ["forecast", root, "--version", name.partition("-")[0], *arguments]
    assert json.loads(call(*asked, "--format", "json").out)["commitlog"]["missing"] == []

    files[1].unlink()
    begin, end = int(files[1].name), int(files[1].name) + size
    units = [unit[0] for queue in truth_lines(name, "queues.jsonl.gz") for unit in queue["units"]]
    told = call(*asked, "--format", "json")
    document = json.loads(told.out)
    there = sum(begin <= unit < end for unit in units)
    assert document["commitlog"]["missing"] == [{"begin": begin, "end": end, "queue_units": there}]
    assert there
    assert told.code == 1
    assert "not mounted" in document["advice"][0]["do"] or not setting
    words = call(*asked, "--format", "table").out.decode()
    assert "nothing more than what is missing already" in words
    assert f"bytes {begin} to {end} back before the start" in " ".join(words.split())
