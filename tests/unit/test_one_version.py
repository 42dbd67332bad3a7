"""Commands that depend on a version which nobody said take the same one, say so alike, and prove nothing by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.store.store import open_store
from recovery.knowledge.inference import infer
from tests.support.cli import call
from tests.support.fixtures import CHECKOUT, unpacked
from tests.support.recovery_cases import golden_cases

STORE = unpacked(CHECKOUT / "demo" / "5.3.3-clean" / "store.tar.gz") / "store"


def said_of_version(*arguments: object) -> str:
    called = call(*arguments)
    assert called.code == 0, called.err
    (sentence,) = [line for line in called.err.splitlines() if "no --version" in line]
    return sentence


def test_every_command_takes_one_version_and_says_it_in_one_sentence(tmp_path: Path) -> None:
    said = {
        said_of_version("offset-at", STORE, "--topic", "OrderTopic0", "--queue", 0, "--at", "2026-11-21T15:14:00Z"),
        said_of_version("retention", STORE),
        said_of_version("rebuild", STORE, "--to", tmp_path / "rebuilt"),
        said_of_version("forecast", STORE),
    }
    (sentence,) = said
    assert str(infer(open_store(STORE)).version) in sentence


def test_a_said_version_is_not_guessed() -> None:
    assert "no --version" not in call("forecast", STORE, "--version", "5.5.1").err


def test_a_loss_of_some_versions_only_is_no_finding_until_one_is_said() -> None:
    """The demo's store has been left by 5.3.3; a 5.5.1 started on it would not index one message."""
    assert call("forecast", STORE).code == 0
    assert call("forecast", STORE, "--version", "5.5.1").code == 1


@pytest.mark.parametrize("name", ["s533-clean-059"])
def test_a_loss_by_every_version_that_it_may_be_is_a_finding(name: str) -> None:
    cases = golden_cases()
    with cases.built(cases.case(name)) as root:
        told = call("forecast", root)
        codes = {call("forecast", root, "--version", str(each)).code for each in infer(open_store(root)).may_be}
    assert (told.code == 1) == (codes == {1})


def test_versions_that_the_files_rule_out_are_none_that_it_may_be() -> None:
    known = infer(open_store(STORE))
    assert known.version in known.may_be
    assert "4.9.8" not in map(str, known.may_be), "the log has V2 records"
