"""What is told of a store whose first log files are gone: a cleaner took them, or they are lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from parsers.consumequeue.layout import CQ_UNIT
from recovery.verify.findings.finding import Place
from recovery.verify.verify import verify
from tests.support.build_store import SETTINGS, VERSION, StoreBuilder, overwrite, shop
from tests.support.kind_damages import LONG, findings_of, unit_write
from tests.support.opened import opened


def test_units_and_offsets_below_the_minimum_are_told_from_an_expired_head(tmp_path: Path) -> None:
    root = shop(tmp_path / "store", base_offset=8192).finish()
    unit_write(root, 3, "physical_offset", 100, LONG)
    (found,) = findings_of(root)
    assert found.kind == "unit_into_deleted_log"


@pytest.mark.parametrize(("topics", "kind"), [(1, "log_head_missing"), (80, "log_begins_late")])
def test_a_log_without_its_first_file_is_lost_where_a_cleaner_would_have_left_less(
    topics: int, kind: str, tmp_path: Path
) -> None:
    """With few messages a queue there is no queue file that a cleaner would have deleted together with the log's."""
    builder = StoreBuilder(tmp_path / "store", settings=SETTINGS.with_config({"maxIndexNum": "600"}))
    for number in range(80):
        builder.put(f"T{number % topics}")
    root = builder.finish()
    sorted((root / "commitlog").iterdir())[0].unlink()
    assert [found.kind for found in verify(*opened(root, VERSION, builder.settings)).findings] == [kind]


def cleaned(folder: Path) -> tuple[Path, StoreBuilder]:
    """A store as a cleaner leaves it that deleted the log's first file."""
    builder = StoreBuilder(folder / "store", settings=SETTINGS.with_config({"maxIndexNum": "600"}))
    for _ in range(80):
        builder.put()
    root = builder.finish()
    first, second, *_ = sorted((root / "commitlog").iterdir())
    first.unlink()
    for file in sorted((root / "consumequeue" / "Orders" / "0").iterdir()):
        if builder.records[int(file.name) // CQ_UNIT.size + 9].physical_offset < int(second.name):
            file.unlink()
    return root, builder


def test_what_a_cleaner_leaves_is_no_finding(tmp_path: Path) -> None:
    root, builder = cleaned(tmp_path)
    verified = verify(*opened(root, VERSION, builder.settings))
    assert verified.findings == ()
    assert "expired head" in {state.what for state in verified.explained}


def test_a_last_unit_that_leads_to_an_expired_message_shows_no_lost_head(tmp_path: Path) -> None:
    """The units before it lead to messages that are left: the cleaner came to that file when it was whole."""
    root, builder = cleaned(tmp_path)
    file = min((root / "consumequeue" / "Orders" / "0").iterdir())
    last = file.stat().st_size - CQ_UNIT.size
    overwrite(file, last, CQ_UNIT.pack({"physical_offset": 0, "msg_size": 100, "tags_code": 0}))
    (found,) = verify(*opened(root, VERSION, builder.settings)).findings
    assert (found.kind, found.places[0].file_pos) == ("unit_into_deleted_log", last)


@pytest.mark.parametrize("folder", ["commitlog", "disk2/commitlog"])
def test_a_log_that_is_gone_is_missing_in_the_folder_that_a_setting_names(folder: str, tmp_path: Path) -> None:
    root = shop(tmp_path / "store").finish()
    shutil.rmtree(root / "commitlog")
    findings = verify(*opened(root, VERSION, SETTINGS, config={"storePathCommitLog": folder})).findings
    (tail,) = (found for found in findings if found.kind == "log_tail_missing")
    assert tail.places[0] == Place(folder, 0, 0)


def test_units_of_expired_messages_in_the_places_of_messages_that_are_left_are_wrong(tmp_path: Path) -> None:
    """The file of another queue, which has more messages before the log's start."""
    builder = StoreBuilder(tmp_path / "store", settings=SETTINGS.with_config({"mappedFileSizeConsumeQueue": "2000"}))
    for number in range(60):
        builder.put("Payments" if number % 10 == 9 else "Orders")
    root = builder.finish()
    second = sorted((root / "commitlog").iterdir())[1]
    sorted((root / "commitlog").iterdir())[0].unlink()
    expired = [record for record in builder.records if record.physical_offset < int(second.name)]
    first, end = (sum(record.topic == topic for record in expired) for topic in ("Payments", "Orders"))
    files = [root / "consumequeue" / topic / "0" / f"{0:020d}" for topic in ("Payments", "Orders")]
    payments, orders = (file.read_bytes() for file in files)
    files[0].write_bytes(orders)
    files[1].write_bytes(payments)
    found = verify(*opened(root, VERSION, builder.settings)).findings
    (late,) = (one for one in found if one.kind == "unit_into_deleted_log")
    place = Place(f"consumequeue/Payments/0/{0:020d}", first * CQ_UNIT.size, (end - first) * CQ_UNIT.size)
    assert (late.places, late.count) == ((place,), end - first)
