"""Epoch files by hand: which file counts, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.checkpoints.epochs import Epoch, decode_epochs, load_epochs, read_epochs
from parsers.damage.errors import StoreFormatError
from parsers.explain.explain import explain_file
from recovery.forecast.forecast import forecast
from tests.support.copies import copy_tree
from tests.support.files import Seen, put
from tests.support.opened import opened
from tests.support.stores import group_root

DOCUMENTED = b"2\n773307083\n7-7000\n8-8000\n"
"""The example in CheckpointFile's Javadoc."""
ENTRIES = (Epoch(7, 7000, 8000), Epoch(8, 8000))


@pytest.mark.parametrize(
    "content",
    [
        DOCUMENTED,
        DOCUMENTED[:-1],
        b"2\n0\n7-7000\n8-8000\n",
        b"2\n0\n7-7000\nno entry\n8-8000\n",
    ],
)
def test_what_the_broker_reads(content: bytes) -> None:
    assert decode_epochs(content) == ENTRIES


def test_of_two_entries_of_one_epoch_the_later_counts() -> None:
    assert decode_epochs(b"3\n0\n7-7000\n7-7500\n8-8000\n") == (Epoch(7, 7500, 8000), Epoch(8, 8000))


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b"", "entry_count"),
        (b"2\n", "crc"),
        (b"3" + DOCUMENTED[1:], "entry_count"),
        (DOCUMENTED.replace(b"7000", b"7001"), "crc"),
        (b"x" + DOCUMENTED, "entry_count"),
        (b"1\n0\n2147483648-1\n", "epoch"),
        (b"1\n0\n1-\xc3\xa9\n", "start_physical_offset"),
        (b"1\n0\n1-\xc3\n", None),
        (b"1\n0\n1-9223372036854775808\n", "start_physical_offset"),
    ],
)
def test_what_the_broker_refuses(tmp_path: Path, content: bytes, field: str | None) -> None:
    with pytest.raises(StoreFormatError) as refused:
        decode_epochs(content)
    assert refused.value.field == field
    file = put(tmp_path, "epochFileCheckpoint", content)
    assert sum(line.length for line in explain_file(file)) == len(content)


@pytest.mark.parametrize(
    "content",
    [b"3" + DOCUMENTED[1:], DOCUMENTED.replace(b"7000", b"7001"), b"0\n0\n", b"x\xff\n", None],
    ids=["count", "crc", "no entry", "no text", "missing"],
)
def test_the_backup_counts_where_java_meets_an_io_exception(tmp_path: Path, content: bytes | None) -> None:
    files = [put(tmp_path, "epochFileCheckpoint.bak", DOCUMENTED)]
    if content is not None:
        files.append(put(tmp_path, "epochFileCheckpoint", content))
    read = load_epochs(files)
    assert (read.file, read.epochs, read.stops_broker) == (files[0], ENTRIES, False)
    assert [error.path for error in read.refused] == [file.path for file in files[1:] if content != b"0\n0\n"]


@pytest.mark.parametrize("content", [b"", b"2\n", b"x" + DOCUMENTED, b"9\n0\n7-x\n"])
def test_the_backup_does_not_count_where_java_meets_a_number_that_is_none(tmp_path: Path, content: bytes) -> None:
    file = put(tmp_path, "epochFileCheckpoint", content)
    backup = put(tmp_path, "epochFileCheckpoint.bak", DOCUMENTED)
    seen = Seen()
    assert read_epochs([backup, file], damage=seen) is None
    assert [row.path for row in seen.rows] == [file.path]
    assert load_epochs([backup, file]).stops_broker
    assert read_epochs([]) is None


@pytest.mark.parametrize(("mode", "starts"), [("true", False), ("false", True)])
def test_a_broker_in_controller_mode_does_not_start_where_a_number_is_none(
    tmp_path: Path, mode: str, starts: bool
) -> None:
    root = copy_tree(group_root("5.3.3-autoswitch", "1"), tmp_path / "store")
    said = {"enableControllerMode": mode}
    assert forecast(*opened(root, "5.3.3", config=said)).outcome.starts
    (root / "epochFileCheckpoint").write_bytes(b"")
    (root / "epochFileCheckpoint.bak").write_bytes(DOCUMENTED)
    told = forecast(*opened(root, "5.3.3", config=said))
    assert told.outcome.starts is starts
    assert ("epochFileCheckpoint" in (told.played.start_error or "")) is not starts
    assert ("whether the broker starts" in {unknown.what for unknown in told.unknown}) is starts
    (root / "epochFileCheckpoint").write_bytes(b"3" + DOCUMENTED[1:])
    assert forecast(*opened(root, "5.3.3", config=said)).outcome.starts, "the backup is read"


def test_explained_line_by_line(tmp_path: Path) -> None:
    lines = list(explain_file(put(tmp_path, "epochFileCheckpoint", DOCUMENTED)))
    assert [(line.field, line.value) for line in lines] == [
        ("entry_count", "2"),
        ("crc", "773307083"),
        ("epoch-start_physical_offset", "7-7000"),
        ("epoch-start_physical_offset", "8-8000"),
    ]
    from_third = list(explain_file(put(tmp_path, "epochFileCheckpoint", DOCUMENTED), 12))
    assert from_third == lines[2:]
