"""What is told of ext files themselves (enableConsumeQueueExt), of units too whose messages are expired."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from parsers.consumequeue.ext import CQ_EXT_UNIT
from parsers.consumequeue.layout import CQ_UNIT
from recovery.verify.verify import verify
from tests.support.build_store import SETTINGS, VERSION, StoreBuilder, overwrite
from tests.support.opened import opened

EXT_FILE = 200
UNIT = CQ_EXT_UNIT.size
UNITS_OF_A_FILE = (EXT_FILE - 4) // UNIT
EXT = SETTINGS.with_config(
    {"enableConsumeQueueExt": "true", "mappedFileSizeConsumeQueueExt": str(EXT_FILE), "maxIndexNum": "600"}
)
MESSAGES = 60
LAST = (MESSAGES - 1) // UNITS_OF_A_FILE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A queue whose first messages a cleaner took, log files and queue files; its ext files are all there."""
    builder = StoreBuilder(tmp_path / "store", settings=EXT)
    for _ in range(MESSAGES):
        builder.put()
    root = builder.finish()
    *expired, living = sorted((root / "commitlog").iterdir())
    for file in expired:
        file.unlink()
    for file in sorted((root / "consumequeue" / "Orders" / "0").iterdir()):
        if builder.records[int(file.name) // CQ_UNIT.size + 9].physical_offset < int(living.name):
            file.unlink()
    return root


def ext_file(root: Path, number: int) -> Path:
    return root / "consumequeue_ext" / "Orders" / "0" / f"{number * EXT_FILE:020d}"


def told(root: Path) -> list[tuple[str, str, int, int]]:
    """Kind, file, and first and last byte of each finding."""
    findings = verify(*opened(root, VERSION, EXT)).findings
    places = [(found.kind, place) for found in findings for place in found.places]
    return [(kind, Path(p.file).name, p.file_pos, p.file_pos + p.length) for kind, p in places]


def name(number: int) -> str:
    return f"{number * EXT_FILE:020d}"


def test_ext_units_of_expired_messages_are_no_finding(root: Path) -> None:
    assert told(root) == []
    ext_file(root, 0).unlink()
    assert told(root) == []


@pytest.mark.parametrize("size", [0, -1, -0x8000, 1, UNIT + 1, 0x7FFF])
@pytest.mark.parametrize("unit", [0, 3, UNITS_OF_A_FILE - 1])
def test_a_broken_size_of_an_expired_ext_unit_is_told(size: int, unit: int, root: Path) -> None:
    overwrite(ext_file(root, 0), unit * UNIT, struct.pack(">h", size))
    assert told(root) == [("ext_unit_broken", name(0), unit * UNIT, EXT_FILE)]


@pytest.mark.parametrize("unit", [0, 3, UNITS_OF_A_FILE - 1])
def test_a_file_that_lost_its_tail_is_told_where_another_one_follows(unit: int, root: Path) -> None:
    overwrite(ext_file(root, 1), unit * UNIT, bytes(EXT_FILE - unit * UNIT))
    assert told(root) == [("ext_unit_broken", name(1), unit * UNIT, EXT_FILE)]


def test_files_of_expired_ext_units_that_are_gone_between_others_are_told(root: Path) -> None:
    for number in (1, 2):
        ext_file(root, number).unlink()
    assert told(root) == [("queue_file_missing", name(1), 0, EXT_FILE), ("queue_file_missing", name(2), 0, EXT_FILE)]


def test_a_missing_file_of_living_ext_units_is_told_once(root: Path) -> None:
    ext_file(root, LAST - 1).unlink()
    assert {kind for kind, *_ in told(root)} == {"ext_unit_missing"}


@pytest.mark.parametrize(("number", "first_living"), [(LAST - 1, UNIT), (LAST, 0)])
def test_zeroed_living_ext_units_are_told_to_the_end_of_their_file(number: int, first_living: int, root: Path) -> None:
    """The marker of a full file is lost with them."""
    overwrite(ext_file(root, number), first_living, bytes(EXT_FILE - first_living))
    assert ("ext_unit_missing", name(number), first_living, EXT_FILE) in told(root)
    assert {kind for kind, *_ in told(root)} == {"ext_unit_missing"}


def test_a_size_that_hides_later_ext_units_is_in_their_finding(root: Path) -> None:
    overwrite(ext_file(root, LAST - 1), 0, (UNIT - 1).to_bytes(2, "big"))
    assert ("ext_unit_missing", name(LAST - 1), 0, EXT_FILE) in told(root)


def test_bytes_behind_the_last_ext_unit_are_told(root: Path) -> None:
    end = (MESSAGES - LAST * UNITS_OF_A_FILE) * UNIT
    overwrite(ext_file(root, LAST), end + 33, b"\1")
    assert told(root) == [("ext_unit_broken", name(LAST), end, EXT_FILE)]


def test_bytes_behind_the_marker_of_a_full_file_are_read_by_nobody(root: Path) -> None:
    overwrite(ext_file(root, 0), EXT_FILE - 1, b"\1")
    assert told(root) == []


@pytest.mark.parametrize("further", [1, 2])
def test_an_empty_file_behind_one_with_room_is_superfluous(further: int, root: Path) -> None:
    ext_file(root, LAST + further).write_bytes(bytes(EXT_FILE))
    assert told(root) == [("queue_file_superfluous", name(LAST + further), 0, EXT_FILE)]
