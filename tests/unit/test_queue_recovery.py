"""A queue's recovery, truncation and minimum, with the quirks that recorded starts show."""

from __future__ import annotations

import numpy as np
import pytest

from parsers.consumequeue.ext import CQ_EXT_UNIT
from parsers.consumequeue.layout import CQ_UNIT, PRE_BLANK
from recovery.broker.consume_queue import Hang, Queue
from recovery.broker.consume_queue_ext import ExtQueue
from recovery.broker.mapped_file_queue import FileList, LoadFailed, LogFile
from recovery.rules.dispatch import QueueUnit
from recovery.rules.versions import BrokerVersion

PER_FILE = 4
FILE_SIZE = PER_FILE * CQ_UNIT.size
V4, V5, NEWEST = (BrokerVersion.parse(text) for text in ("4.9.8", "5.3.3", "5.5.1"))
ZERO = bytes(CQ_UNIT.size)


def unit(physical_offset: int, msg_size: int = 10) -> bytes:
    return CQ_UNIT.pack({"physical_offset": physical_offset, "msg_size": msg_size, "tags_code": 0})


def queue(*files: list[bytes], version: BrokerVersion = V5, first: int = 0, file_size: int = FILE_SIZE) -> Queue:
    """A queue of files that hold these units, loaded: every file counts as written to its end."""
    mapped = FileList(file_size)
    for number, units in enumerate(files):
        base = first + number * file_size
        file = LogFile(f"{base:020d}", base, file_size, 0)
        file.append(b"".join(units).ljust(file_size, b"\0"))
        mapped.files.append(file)
    return Queue("T", 0, mapped, version)


def full(first: int) -> list[bytes]:
    return [unit(first + 10 * number) for number in range(PER_FILE)]


def test_recovery_ends_at_the_first_unit_that_is_not_valid() -> None:
    recovered = queue(full(0), [unit(40), ZERO, unit(60)])
    recovered.recover()
    assert (recovered.max_queue_offset, recovered.max_physical_offset) == (5, 50)


def test_recovery_reads_the_last_three_files_only() -> None:
    recovered = queue([ZERO] * PER_FILE, full(40), full(80), full(120))
    recovered.recover()
    assert (recovered.max_queue_offset, recovered.max_physical_offset) == (16, 160)


def test_files_after_a_broken_one_are_deleted() -> None:
    recovered = queue(full(0), [unit(40), unit(50, msg_size=-1)], full(80))
    recovered.recover()
    assert [file.name for file in recovered.mapped.deleted] == [f"{2 * FILE_SIZE:020d}"]


def test_truncation_drops_units_by_where_they_start() -> None:
    truncated = queue(full(0), full(40))
    truncated.truncate_to_log(55)
    assert (truncated.max_queue_offset, truncated.max_physical_offset) == (6, 60)
    truncated.truncate_to_log(0)
    assert (truncated.max_queue_offset, truncated.max_physical_offset, truncated.mapped.files) == (0, 0, [])


def test_truncation_takes_the_first_unit_of_a_file_unseen() -> None:
    truncated = queue(full(0), [ZERO] * PER_FILE)
    truncated.truncate_to_log(100)
    assert (truncated.max_queue_offset, truncated.max_physical_offset) == (5, 0)


def test_truncation_takes_pre_blanks_for_units() -> None:
    truncated = queue([CQ_UNIT.pack(PRE_BLANK), unit(90)])
    truncated.truncate_to_log(50)
    assert (truncated.max_queue_offset, truncated.max_physical_offset) == (1, 2**31 - 1)


def test_truncation_of_files_of_one_unit_finds_no_end() -> None:
    with pytest.raises(Hang):
        queue([unit(0)], file_size=CQ_UNIT.size).truncate_to_log(5)


def test_truncation_of_files_of_one_unit_cuts_the_ext_units_behind_the_first_that_it_saw() -> None:
    """5.0.0 goes on deleting once a file was deleted; the loop ends only here, and only then ext units are cut."""
    size, ext_file = CQ_EXT_UNIT.size, LogFile("0" * 20, 0, 4096, 0)
    ext = ExtQueue(FileList(4096, [ext_file]))
    addresses = ext.put(np.zeros(4, np.int64), np.zeros(4, np.int64), np.zeros((4, 0), np.uint8)).tolist()
    units = [
        [CQ_UNIT.pack({"physical_offset": 10 * row, "msg_size": 10, "tags_code": tags_code})]
        for row, tags_code in enumerate([0, *addresses[1:]])
    ]
    truncated = queue(*units, file_size=CQ_UNIT.size)
    truncated.ext = ext
    truncated.truncate_to_log(25)
    assert (truncated.mapped.files, ext_file.wrote_position) == ([], 2 * size)


@pytest.mark.parametrize(("version", "log_min", "expected"), [(V4, 25, 3), (V4, 500, 0), (V5, 25, 3), (V5, 500, 8)])
def test_minimum_is_the_first_unit_whose_message_exists(version: BrokerVersion, log_min: int, expected: int) -> None:
    """4.x leaves the minimum at 0 when every message is gone; since 5.0.0 it is the queue's end."""
    corrected = queue(full(0), full(40), version=version)
    corrected.recover()
    corrected.correct_min(log_min)
    assert corrected.min_queue_offset == expected


def test_an_empty_newest_file_fails_the_minimum_until_5_5_0() -> None:
    def emptied(version: BrokerVersion) -> Queue:
        made = queue(full(0), [ZERO] * PER_FILE, version=version)
        made.recover()
        return made

    with pytest.raises(LoadFailed, match="no unit"):
        emptied(V5).correct_min(0)
    for version in (V4, NEWEST):
        emptied(version).correct_min(0)


def test_a_queue_without_files_is_forgotten_since_5_5_1() -> None:
    for version, expected in ((V5, 77), (NEWEST, -1)):
        forgotten = queue(version=version)
        forgotten.max_physical_offset = 77
        forgotten.correct_min(0)
        assert forgotten.max_physical_offset == expected


def below_zero(version: BrokerVersion) -> Queue:
    """A queue whose only file is called -20 and holds no unit, recovered: written to 20 bytes before its start."""
    recovered = queue([], version=version, first=-CQ_UNIT.size)
    recovered.recover()
    assert recovered.mapped.files[0].wrote_position == -CQ_UNIT.size
    return recovered


@pytest.mark.parametrize(("version", "written"), [(V5, unit(10)), (NEWEST, b"")])
def test_a_unit_before_its_files_first_byte_is_lost(version: BrokerVersion, written: bytes) -> None:
    recovered = below_zero(version)
    for number in range(2):
        recovered.put(QueueUnit("T", 0, number, 10 * number, 10, 0))
    file = recovered.mapped.files[-1]
    assert file.content(file.wrote_position) == written
    assert recovered.max_physical_offset == 20


def test_a_unit_that_does_not_fit_its_file_is_lost() -> None:
    odd = queue([unit(0), unit(10), unit(20)], first=7)
    odd.recover()
    assert odd.mapped.files[0].wrote_position == 67
    assert odd.put(QueueUnit("T", 0, 4, 30, 10, 0)) == "behind"
    assert (odd.mapped.files[0].wrote_position, odd.max_physical_offset) == (67, 40)


def test_a_file_is_found_by_javas_division() -> None:
    below, first = (LogFile(str(base), base, FILE_SIZE, FILE_SIZE) for base in (-5, 0))
    assert FileList(FILE_SIZE, [below, first]).find(10) is below
