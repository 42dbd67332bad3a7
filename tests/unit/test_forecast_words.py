"""A forecast in words: the decision first, every loss counted once, lines that fit the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pipelines.cli.commands.broker.forecast_words import in_words
from pipelines.notebook.bundles import bundle
from tests.support.cli import call
from tests.support.fixtures import unpack_store, unpacked


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_store(bundle("5.3.1-crashed") / "store.tar.gz", tmp_path_factory.mktemp("crashed"))


def test_losses_are_told_by_reason_and_queue(crashed: Path) -> None:
    document = json.loads(call("forecast", crashed, "--version", "5.3.1", "--format", "json").out)
    lines = list(in_words(document, 80))
    assert lines[0] == "started by     RocketMQ 5.3.1"
    assert "lost by it     136 messages" in lines
    assert "    TopicB/0: 41, queue offset 113 to 153, physical offset 291902 to 396175" in lines
    assert [line for line in lines if len(line) > 80 and max(map(len, line.split())) < 60] == [], (
        "no word is cut in two"
    )
    by_reason = [re.match(r"  - (\d+) messages?: it ", line) for line in lines]
    assert sum(int(found[1]) for found in by_reason if found) == len(document["lost"]) == 136


def test_a_version_that_is_not_given_is_said_to_be_a_guess(crashed: Path) -> None:
    lines = call("forecast", crashed, "--format", "table").out.decode().splitlines()
    assert lines[0].startswith("started by     RocketMQ 5.3.1, 5.3.3")
    clean = unpacked(bundle("5.3.3-clean") / "store.tar.gz") / "store"
    lines = call("forecast", clean, "--format", "table").out.decode().splitlines()
    assert lines[0].startswith("started by     RocketMQ 5.3.3, if it is that version")
    assert "  - 5.3.1 would lose nothing (--version 5.3.1)" in lines


def test_another_version_that_loads_and_does_not_come_up_is_not_said_to_lose_nothing(crashed: Path) -> None:
    document = json.loads(call("forecast", crashed, "--version", "5.3.1", "--format", "json").out)
    other = {**document, "start": {**document["start"], "returns": False, "error": "it hangs"}, "holds_for": ["5.3.3"]}
    lines = list(in_words({**document, "otherwise": [other]}, 80))
    assert "  - 5.3.3 would not start (--version 5.3.1)" in lines
