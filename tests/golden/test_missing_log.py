"""A file of the log that is missing in its middle: a start loses nothing more, and its forecast does not call that
nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

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
    assert document["commitlog"]["missing"] == [{"begin": begin, "end": end, "queue_units": there, "is_tail": False}]
    assert there
    assert told.code == 1
    assert "not mounted" in document["advice"][0]["do"] or not setting
    words = call(*asked, "--format", "table").out.decode()
    assert "nothing more than what is missing already" in words
    assert f"bytes {begin} to {end} back before the start" in " ".join(words.split())


def test_a_tail_that_is_gone_is_to_be_put_back_before_anything_else(tmp_path: Path) -> None:
    """A copy that was cut short: the start fails at the file, and every other repair gives the rest up."""
    root = copy_tree(store_root("5.3.3-clean"), tmp_path / "store")
    *_, cut, last = sorted((root / "commitlog").iterdir())
    last.unlink()
    os.truncate(cut, 500_000)
    begin = int(cut.name) + 500_000
    units = [unit for queue in truth_lines("5.3.3-clean", "queues.jsonl.gz") for unit in queue["units"]]
    gone = [offset + size for offset, size, *_ in units if offset + size > begin]
    words = f"bytes {begin} to {max(gone)} back before the start"
    asked = ["forecast", root, "--version", "5.3.3", "--config=mappedFileSizeCommitLog=1048576"]
    document = json.loads(call(*asked, "--format", "json").out)
    assert document["load"]["ok"] is False
    assert words in document["advice"][0]["do"]
    assert f"({len(gone)})" in document["advice"][0]["evidence"]

    os.truncate(cut, 0)
    begin = int(cut.name)
    gone = [offset + size for offset, size, *_ in units if offset + size > begin]
    document = json.loads(call(*asked, "--format", "json").out)
    assert document["commitlog"]["missing"] == [
        {"begin": begin, "end": max(gone), "queue_units": len(gone), "is_tail": True}
    ]
    assert [advice["then"] for advice in document["advice"]] == [None]

    os.truncate(cut, 1 << 20)
    tail, bytes_of_zeros = json.loads(call(*asked, "--format", "json").out)["advice"]
    assert f"bytes {last.name.lstrip('0')} to {max(gone)} back before the start" in tail["do"]
    assert "replica or a backup" in bytes_of_zeros["do"]
    there = sum(begin <= offset < begin + (1 << 20) for offset, *_ in units)
    assert bytes_of_zeros["evidence"].startswith(f"{there} queue units")


def test_a_log_file_that_was_renamed_gets_its_name_back(tmp_path: Path) -> None:
    root = copy_tree(store_root("5.3.3-clean"), tmp_path / "store")
    name = "00000000000001048576.bak"
    (root / "commitlog/00000000000001048576").rename(root / "commitlog" / name)
    told = advised(root, "5.3.3")
    assert "names back" in told[0]["do"]
    assert (told[0]["files"], told[0]["then"]["lost_counts"]["message"]) == ([f"commitlog/{name}"], 0)
    (root / "commitlog" / name).write_bytes(bytes(1 << 20))
    assert not any("names back" in each["do"] for each in advised(root, "5.3.3"))


def test_folders_that_a_version_passes_over_are_not_to_be_moved(tmp_path: Path) -> None:
    """A log on a file system of its own has lost+found."""
    root = copy_tree(store_root("5.3.3-clean"), tmp_path / "store")
    for folder in ("commitlog", "index"):
        (root / folder / "lost+found").mkdir()
    (root / "commitlog/.DS_Store").touch()
    assert advised(root, "5.3.3")[0]["files"] == ["commitlog/.DS_Store"]
    assert "commitlog/lost+found" in advised(root, "4.9.8")[0]["files"]


def advised(root: Path, version: str) -> list[dict[str, Any]]:
    asked = ["forecast", root, "--version", version, "--config=mappedFileSizeCommitLog=1048576", "--format", "json"]
    return list(json.loads(call(*asked).out)["advice"])
