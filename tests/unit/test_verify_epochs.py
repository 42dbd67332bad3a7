"""Epoch files beside the log: what a broker refuses, what is out of order, what lies after the log's end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from parsers.checkpoints.epochs import decode_epochs, encode_epochs
from recovery.verify.findings.epoch_kinds import EPOCH_KINDS
from recovery.verify.findings.finding import Finding
from recovery.verify.verify import verify
from tests.support.copies import copy_tree
from tests.support.opened import opened
from tests.support.stores import group_root

FILE, BACKUP = "epochFileCheckpoint", "epochFileCheckpoint.bak"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return copy_tree(group_root("5.3.3-autoswitch", "1"), tmp_path / "store")


def found(root: Path) -> list[Finding]:
    return [each for each in verify(*opened(root, "5.3.3")).findings if each.kind in EPOCH_KINDS]


@pytest.mark.parametrize("member", ["1", "2"])
def test_epochs_as_brokers_leave_them_are_no_finding(member: str) -> None:
    assert not found(group_root("5.3.3-autoswitch", member))


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "does not start"), (b"x\n", "does not start"), (b"1\n5\n1-0\n", BACKUP)],
    ids=["empty", "no number", "crc"],
)
def test_what_the_broker_refuses_is_a_finding(root: Path, content: bytes, told: str) -> None:
    shutil.copy(root / FILE, root / BACKUP)
    (root / FILE).write_bytes(content)
    (one,) = found(root)
    assert (one.kind, one.places[0].file) == ("epochs_unreadable", FILE)
    assert told in one.evidence[1]


def test_a_backup_that_would_not_stand_in_is_told(root: Path) -> None:
    (root / BACKUP).write_bytes(b"1\n5\n1-0\n")
    (one,) = found(root)
    assert (one.kind, one.places[0].file) == ("epochs_backup_unreadable", BACKUP)


def test_a_file_that_only_its_backup_is_left_of_is_told(root: Path) -> None:
    (root / FILE).rename(root / BACKUP)
    (one,) = found(root)
    assert (one.kind, one.places[0].file) == ("epochs_unreadable", FILE)
    assert BACKUP in one.evidence[1]


def test_without_a_backup_no_epoch_is_known(root: Path) -> None:
    (root / FILE).write_bytes(b"1\n5\n1-0\n")
    (root / BACKUP).unlink(missing_ok=True)
    (one,) = found(root)
    assert (one.kind, one.evidence[1]) == ("epochs_unreadable", "the broker knows no epoch")


def test_an_epoch_that_does_not_begin_behind_the_one_before_it_is_a_finding(root: Path) -> None:
    (root / FILE).write_bytes(b"2\n0\n1-700\n2-0\n")
    (one,) = found(root)
    assert (one.kind, one.evidence) == ("epochs_wrong", ("epoch 2 begins at 0", "epoch 1 began at 700"))


@pytest.mark.parametrize("was_killed", [False, True])
def test_an_epoch_behind_the_logs_end(root: Path, was_killed: bool) -> None:
    """A power loss takes the messages of an epoch and leaves its entry; an orderly stop does not."""
    epochs = decode_epochs((root / FILE).read_bytes())
    behind = type(epochs[-1])(epochs[-1].epoch + 1, 1 << 40)
    (root / FILE).write_bytes(encode_epochs([*epochs, behind]))
    (root / "abort").unlink(missing_ok=True)
    if was_killed:
        (root / "abort").touch()
    kinds = [each.kind for each in found(root)]
    assert kinds == ([] if was_killed else ["epochs_wrong"])
    explained = {each.what for each in verify(*opened(root, "5.3.3")).explained}
    assert ("epoch without its messages" in explained) is was_killed


def test_a_file_without_an_epoch_of_the_log_may_be_one_that_was_never_written_anew(root: Path) -> None:
    """A broker whose epochs were all cut off does not write the file: its entries are not known to be wrong."""
    epochs = decode_epochs((root / FILE).read_bytes())
    behind = type(epochs[-1])(1, 1 << 40)
    for entries, is_open in (([behind], True), ([*epochs, type(behind)(epochs[-1].epoch + 1, 1 << 40)], False)):
        (root / FILE).write_bytes(encode_epochs(entries))
        (root / "abort").unlink(missing_ok=True)
        (one,) = (each for each in found(root) if each.kind == "epochs_wrong")
        assert ("cut off all epochs" in one.evidence[1]) is is_open
