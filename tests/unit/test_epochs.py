"""Epoch files by hand: which file counts, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.epochs import Epoch, decode_epochs, read_epochs
from parsers.errors import StoreFormatError
from parsers.explain.explain import explain_file
from tests.support.files import Seen, put

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
        (b"2\n", "entry_count"),
        (b"3" + DOCUMENTED[1:], "entry_count"),
        (DOCUMENTED.replace(b"7000", b"7001"), "crc"),
        (b"x" + DOCUMENTED, "entry_count"),
        (b"1\n0\n2147483648-1\n", "epoch"),
        (b"1\n0\n1-\xc3\xa9\n", None),
        (b"1\n0\n1-9223372036854775808\n", "start_physical_offset"),
    ],
)
def test_what_the_broker_refuses(tmp_path: Path, content: bytes, field: str | None) -> None:
    with pytest.raises(StoreFormatError) as refused:
        decode_epochs(content)
    assert refused.value.field == field
    file = put(tmp_path, "epochFileCheckpoint", content)
    assert sum(line.length for line in explain_file(file)) == len(content)


def test_the_backup_counts_where_the_file_does_not(tmp_path: Path) -> None:
    file = put(tmp_path, "epochFileCheckpoint", b"9\n")
    backup = put(tmp_path, "epochFileCheckpoint.bak", DOCUMENTED)
    seen = Seen()
    assert read_epochs([backup, file], on_damage="collect", damage=seen) == (backup, ENTRIES)
    assert [row.path for row in seen.rows] == [file.path]
    assert read_epochs([file], on_damage="collect", damage=seen) is None
    assert read_epochs([]) is None


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
