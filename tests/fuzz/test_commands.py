"""The first inputs of the fuzz over commands, and that it sees what it looks for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pipelines.cli.frame.call import run as cli_run
from tests.fuzz.commands.asked import OFTEN, Fault, asked
from tests.fuzz.commands.bases import small_stores
from tests.fuzz.commands.inputs import Input, make_input, pick_base, write
from tests.fuzz.commands.run import check, fingerprint, run
from tests.support.agreement import contradictions
from tests.support.cli import Called

INPUTS = int(os.environ.get("ROCKETLENS_FUZZ_INPUTS", "350"))


def test_no_input_is_answered_wrongly() -> None:
    assert run(INPUTS, seed=0, memory=False) == INPUTS


def test_an_input_is_always_the_same(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        given = make_input(tmp_path / name, "0-7")
        contents.append((given.base.name, given.done, sorted(p.name for p in (tmp_path / name).rglob("*"))))
    assert contents[0] == contents[1]


def test_a_command_that_writes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def touch(run: cli_run.Run, place: Path) -> None:
        if place.is_dir():
            (place / "touched").touch()

    monkeypatch.setattr(cli_run.Run, "reads", touch)
    stores = (number for number in range(20) if is_store(number))
    with pytest.raises(Fault, match="changed what it read"):
        check(f"0-{next(stores)}")


def is_store(number: int) -> bool:
    return pick_base(Random(f"0-{number}")).is_store


def test_a_fault_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(run: cli_run.Run) -> None:
        raise KeyError("dir")

    monkeypatch.setattr(cli_run.Run, "finish", fail)
    given = small_input(tmp_path)
    with pytest.raises(Fault, match="exit code 70"):
        asked(given, ("queues", "{place}"), tmp_path)


def small_input(folder: Path) -> Input:
    base = small_stores()[0]
    write(base, folder / "input")
    return Input(base, folder / "input", Random(0), ())


def test_answers_that_differ_are_seen(tmp_path: Path) -> None:
    given = small_input(tmp_path)
    before = fingerprint(given.folder)
    (tmp_path / "out").mkdir()
    told = {
        " ".join(word for word in command if word[0] not in "{-"): asked(given, command, tmp_path / "out")
        for command in OFTEN
    }
    assert fingerprint(given.folder) == before
    assert list(contradictions(told)) == []
    for name in ("dump commitlog", "dump consumequeue"):
        short = Called(0, b"".join(told[name].out.splitlines(keepends=True)[:-1]), "")
        assert list(contradictions({**told, name: short})), name
    (line, *rest) = told["dump regions"].out.splitlines(keepends=True)
    damaged = Called(0, line.replace(b'"messages"', b'"damage"') + b"".join(rest), "")
    assert list(contradictions({**told, "dump regions": damaged}))
    (lag, *_) = [row | {"broker_offset": row["max_queue_offset"]} for row in told["queues"].rows]
    told["lag"] = lines([lag | {"consumer_offset": 1, "messages_behind": lag["broker_offset"] - 1, "reason": None}])
    assert list(contradictions(told)) == []
    for name, figure in (
        ("dump consumequeue", "physical_offset"),
        ("queues", "units"),
        ("queues", "max_queue_offset"),
        ("queues", "messages"),
        ("lag", "queue_id"),
        ("lag", "broker_offset"),
        ("lag", "messages_behind"),
    ):
        (row, *rows) = told[name].rows
        wrong = lines([row | {figure: row[figure] + 99}, *rows])
        assert list(contradictions({**told, name: wrong})), (name, figure)


def lines(rows: list[dict[str, Any]]) -> Called:
    return Called(0, b"".join(json.dumps(row).encode() + b"\n" for row in rows), "")
