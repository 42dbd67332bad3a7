"""The checkpoint beside a log: what a broker that crashed early leaves, and what none does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parsers.checkpoints.checkpoint import CHECKPOINT, FILE_SIZE
from parsers.store.store_file import StoreFile, classify
from recovery.verify.checks.checkpoint import FLUSH_INTERVAL_MS, LostEnds, check_checkpoint
from recovery.verify.findings.finding import Judgement
from recovery.verify.settle.log_columns import ExpectedKeys, ExpectedUnits, LogColumns, MessageColumns

FIRST_MS = 1_790_000_000_000
FILE = 65_536
NOTHING = np.empty(0, np.int64)


def log(lasted_ms: int, start: int = 0) -> LogColumns:
    """The totals of a log of a hundred messages from FIRST_MS on."""
    return LogColumns(
        files=(StoreFile(Path("log"), "commitlog", 0, 0, base_offset=start),),
        messages=MessageColumns._make([NOTHING] * len(MessageColumns._fields)),
        units=ExpectedUnits._make([NOTHING] * len(ExpectedUnits._fields)),
        keys=ExpectedKeys._make([NOTHING] * len(ExpectedKeys._fields)),
        topics=(),
        gaps=(),
        records=100,
        first_ms=FIRST_MS,
        latest_ms=FIRST_MS + lasted_ms,
        end=50_000,
    )


def written(folder: Path, physic: int, logics: int, index: int, logics_offset: int = 0) -> StoreFile:
    fields = dict.fromkeys((field.name for field in CHECKPOINT.fields), 0)
    fields |= {"physic_msg_timestamp": physic, "logics_msg_timestamp": logics, "index_msg_timestamp": index}
    path = folder / "checkpoint"
    path.write_bytes(CHECKPOINT.pack(fields | {"logics_physical_offset": logics_offset}).ljust(FILE_SIZE, b"\0"))
    return classify(folder, path)


WHOLE = LostEnds(head=False, tail=False)
BEHEADED, CUT = LostEnds(head=True, tail=False), LostEnds(head=False, tail=True)


def judged(file: StoreFile, lasted_ms: int, *, clean_exit: bool, lost: LostEnds = WHOLE, start: int = 0) -> Judgement:
    return check_checkpoint(
        file,
        log(lasted_ms, start),
        clean_exit=clean_exit,
        lost=lost,
        reached=50_000 + FILE if lost.tail else 0,
        file_size=FILE,
        sets_queue_time=True,
    )


@pytest.mark.parametrize(
    ("physic", "logics", "lasted_ms", "clean_exit"),
    [
        (0, 0, 40_000, False),  # the checkpoint is written with the queues' thorough flush, every 60 s
        (0, FIRST_MS + 900, 40_000, False),  # its first one came before that of the log
        (FIRST_MS + 400, 0, 40_000, False),
        (0, FIRST_MS + 3_000, 3_000, True),  # stopped in order before the log's second thorough flush
        (FIRST_MS, 0, 20_000, True),  # since 5.5.0 a shutdown does not set the time of the queues
    ],
)
def test_times_that_were_not_set_yet_are_no_finding(
    physic: int, logics: int, lasted_ms: int, clean_exit: bool, tmp_path: Path
) -> None:
    found = judged(written(tmp_path, physic, logics, 0), lasted_ms, clean_exit=clean_exit)
    assert found.findings == ()
    assert [state.what for state in found.explained] == ["checkpoint not set yet"]


@pytest.mark.parametrize(
    ("physic", "logics", "lasted_ms", "clean_exit"),
    [
        (0, 0, 70_000, False),
        (0, FIRST_MS + 70_000, 70_000, True),
        (-1, FIRST_MS + 900, 3_000, False),
        (FIRST_MS - 60_000, FIRST_MS + 900, 3_000, False),
    ],
)
def test_times_before_the_log_that_no_broker_leaves_are_found(
    physic: int, logics: int, lasted_ms: int, clean_exit: bool, tmp_path: Path
) -> None:
    found = judged(written(tmp_path, physic, logics, 0), lasted_ms, clean_exit=clean_exit)
    assert [finding.kind for finding in found.findings] == ["checkpoint_earlier_than_data"]


def test_an_index_time_before_the_whole_log_is_found(tmp_path: Path) -> None:
    found = judged(written(tmp_path, FIRST_MS, FIRST_MS, 1), 3_000, clean_exit=True)
    assert [place.file_pos for finding in found.findings for place in finding.places] == [16]


@pytest.mark.parametrize(("clean_exit", "kinds"), [(False, []), (True, ["checkpoint_later_than_data"])])
def test_a_power_loss_takes_messages_that_were_dispatched(clean_exit: bool, kinds: list[str], tmp_path: Path) -> None:
    beyond = FIRST_MS + 30_000 + FLUSH_INTERVAL_MS - 1_000
    found = judged(written(tmp_path, FIRST_MS, beyond, beyond), 30_000, clean_exit=clean_exit)
    assert [finding.kind for finding in found.findings] == kinds


def test_bytes_behind_the_fields_are_told(tmp_path: Path) -> None:
    file = written(tmp_path, FIRST_MS, FIRST_MS, 0)
    content = bytearray(file.path.read_bytes())
    content[3883:3886] = b"\1\0\2"
    file.path.write_bytes(content)
    (found,) = judged(file, 3_000, clean_exit=True).findings
    assert (found.kind, found.severity) == ("checkpoint_rest_written", "info")
    assert [(place.file_pos, place.length) for place in found.places] == [(3883, 3)]


def test_what_was_never_in_the_log_is_found_after_a_crash_too(tmp_path: Path) -> None:
    far = judged(written(tmp_path, FIRST_MS, FIRST_MS + 90_000, 0, 3 * FILE), 30_000, clean_exit=False)
    assert [finding.kind for finding in far.findings] == ["checkpoint_later_than_data"] * 2
    forced = judged(written(tmp_path, FIRST_MS + 31_000, FIRST_MS, 0, 50_000 + FILE), 30_000, clean_exit=False)
    assert [place.file_pos for finding in forced.findings for place in finding.places] == [0]


def test_an_index_time_that_no_broker_set_is_found_where_the_log_was_cleaned_too(tmp_path: Path) -> None:
    old = judged(written(tmp_path, FIRST_MS, FIRST_MS, FIRST_MS - 10**9), 3_000, clean_exit=True, start=FILE)
    assert old.findings == ()  # of an index file that is gone since
    found = judged(written(tmp_path, FIRST_MS, FIRST_MS, 1), 3_000, clean_exit=True, start=FILE)
    assert [place.file_pos for finding in found.findings for place in finding.places] == [16]


def test_an_offset_beyond_what_a_cut_log_may_have_had_is_found(tmp_path: Path) -> None:
    reached = 50_000 + FILE
    lost = judged(written(tmp_path, FIRST_MS, FIRST_MS, 0, reached + FILE), 3_000, clean_exit=True, lost=CUT)
    assert lost.findings == ()
    never = judged(written(tmp_path, FIRST_MS, FIRST_MS, 0, 1 << 41), 3_000, clean_exit=True, lost=CUT)
    assert [finding.kind for finding in never.findings] == ["checkpoint_later_than_data"]


@pytest.mark.parametrize(
    ("lost", "early", "late"),
    [(BEHEADED, [], ["checkpoint_later_than_data"]), (CUT, ["checkpoint_earlier_than_data"], [])],
)
def test_only_what_is_lost_can_have_had_a_time_of_the_checkpoint(
    lost: LostEnds, early: list[str], late: list[str], tmp_path: Path
) -> None:
    minute = 60_000
    before = judged(written(tmp_path, FIRST_MS - minute, FIRST_MS, 0), 3_000, clean_exit=True, lost=lost)
    assert [finding.kind for finding in before.findings] == early
    after = judged(written(tmp_path, FIRST_MS + minute, FIRST_MS, 0), 3_000, clean_exit=True, lost=lost)
    assert [finding.kind for finding in after.findings] == late
