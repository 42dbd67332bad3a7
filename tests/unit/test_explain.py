"""explain: every byte of every file of a real store has its line, from anywhere in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import NotThisFormat, UnreadableFile
from parsers.explain.explain import Line, explain, render
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER
from recovery.knowledge.knowledge import Said, open_known
from tests.support.files import packed, put
from tests.support.stores import log_setting, store_names, store_root


def check_end_to_end(lines: list[Line], begin: int, end: int) -> None:
    pos = begin
    for line in lines:
        assert line.file_pos == pos
        assert line.length > 0
        pos = line.end
    assert pos == end


@pytest.mark.parametrize("name", store_names(subject="explain"))
def test_every_byte_of_every_file_has_its_line(name: str) -> None:
    store = open_known(store_root(name), Said(config=log_setting(name)))
    explained = 0
    for file in store.files():
        if file.kind in ("not_understood", "rocksdb"):
            with pytest.raises(NotThisFormat):
                explain(file.path)
        else:
            check_end_to_end(list(explain(file.path)), 0, file.size)
            explained += 1
    assert explained > 10


@pytest.mark.parametrize("place", ["commitlog/00000000000000000000", "config/topics.json", "checkpoint", "index"])
def test_it_starts_with_the_structure_that_holds_the_byte(place: str) -> None:
    path = store_root("5.3.3-lmq") / place
    if path.is_dir():
        (path,) = path.iterdir()
    size = path.stat().st_size
    everything = list(explain(path))
    for at in (0, 1, 45, size // 3, size // 2, size - 1):
        lines = list(explain(path, at))
        assert lines[1:] == everything[len(everything) - len(lines) + 1 :], "but a stretch of zeros may start later"
        check_end_to_end(lines, lines[0].file_pos, size)
        assert lines[0].file_pos <= at < max(line.end for line in lines if line.group == lines[0].group)
        assert len({line.group for line in explain(path, at, 2)}) <= 2
    assert list(explain(path, size)) == []
    assert list(explain(path, 0, 0)) == []


def test_the_fields_of_a_message() -> None:
    lines = list(explain(store_root("5.3.3-ipv6") / "commitlog" / "00000000000000000000", 0, 200))
    assert {"total_size", "magic_code", "born_host", "body", "topic", "property UNIQ_KEY"} <= {
        line.field for line in lines
    }
    assert any(line.field == "store_host" and line.value.startswith("[") and line.length == 20 for line in lines)
    assert all(line.value.startswith("CRC right") for line in lines if line.field == "body")


def test_a_damaged_message_is_shown_field_by_field(tmp_path: Path) -> None:
    content = bytearray((store_root("5.3.3-lmq") / "commitlog" / "00000000000000000000").read_bytes())
    content[5] ^= 0xFF
    lines = list(explain(put(tmp_path, "commitlog/00000000000000000000", bytes(content)).path))
    check_end_to_end(lines, 0, len(content))
    assert lines[0].group.startswith("damage at 0")
    assert [line.field for line in lines[:2]] == ["total_size", "magic_code"]


@pytest.mark.parametrize(
    ("place", "content", "fields"),
    [
        ("checkpoint", b"short", ["torn"]),
        ("checkpoint", bytes(48) + b"\1", [*["field"] * 6, "not known"]),
        ("consumequeue/T/0/0", bytes(40) + b"\1" * 20 + b"\2\2", ["zeros", *["field"] * 3, "torn"]),
        ("index/1", b"short", ["torn"]),
        ("index/1", bytes(INDEX_HEADER.size + 100), [*["field"] * 6, "unknown"]),
        ("timerwheel", bytes(64) + b"\1", ["zeros", "torn"]),
        ("timerlog/0", bytes(60), ["zeros", "torn"]),
        ("abort", b"1234", ["text"]),
        ("abort", b"", []),
    ],
)
def test_files_of_another_form(tmp_path: Path, place: str, content: bytes, fields: list[str]) -> None:
    lines = list(explain(put(tmp_path, place, content).path))
    check_end_to_end(lines, 0, len(content))
    special = {"torn", "zeros", "not known", "unknown", "text"}
    assert [line.field if line.field in special else "field" for line in lines] == fields


def test_the_plain_form(tmp_path: Path) -> None:
    unit = packed(CQ_UNIT, [(9, 90, 0)])
    heading, *lines = render(explain(put(tmp_path, "consumequeue/T/0/00000000000000000040", unit).path))
    assert heading == "unit 0: queue offset 2, tags_code is a tag hash"
    assert lines[1].split()[:4] == ["8", "0000005a", "msg_size", "="]
    assert len(lines) == 3


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    (line,) = explain(put(tmp_path, "config/x.json", b"\x1b[31m\x07\xff").path)
    assert line.value == "\\x1b[31m\\x07\ufffd"


def test_what_cannot_be_explained(tmp_path: Path) -> None:
    with pytest.raises(NotThisFormat, match="not a place"):
        explain(put(tmp_path, "notes/x", b"").path)
    with pytest.raises(UnreadableFile):
        explain(tmp_path / "checkpoint")
    with pytest.raises(ValueError, match="negative"):
        explain(put(tmp_path, "checkpoint", b"").path, -1)


def test_entries_are_numbered_from_the_geometry() -> None:
    (path,) = (store_root("5.3.3-lmq") / "index").iterdir()
    lines = [line for line in explain(path) if line.group.startswith("entry 1:")]
    assert [line.field for line in lines] == list(INDEX_ENTRY.offsets)
    assert lines[0].file_pos == 40 + 4 * 500 + 20
