"""A damaged unit and its queue: every place that is at fault is in a finding, and none is blamed on something else."""

from __future__ import annotations

from pathlib import Path

from parsers.commitlog.record.layout import HEAD
from parsers.consumequeue.layout import CQ_UNIT
from recovery.verify.findings.finding import Finding, Place
from recovery.verify.verify import verify
from tests.support.build_store import SETTINGS, VERSION, StoreBuilder, overwrite
from tests.support.kind_damages import INT, LONG, findings_of, log_write
from tests.support.opened import opened

QUEUE = "consumequeue/Orders/0"
PREPARED = 4
UNIT = CQ_UNIT.size


def test_a_flipped_sign_of_a_tags_code_is_a_finding(tmp_path: Path) -> None:
    """The difference of the two is the number whose absolute value is below 0."""
    builder = StoreBuilder(tmp_path / "store")
    for _ in range(6):
        builder.put()
    root = builder.finish()
    file = root / QUEUE / f"{0:020d}"
    stored = int(CQ_UNIT.array(file.read_bytes())["tags_code"][3])
    overwrite(file, 3 * UNIT + CQ_UNIT.offsets["tags_code"], (stored + (1 << 63)).to_bytes(LONG, "big"))
    assert [found.kind for found in findings_of(root)] == ["unit_wrong_tags_code"]


def test_a_unit_in_another_place_names_the_one_it_left(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "store")
    for _ in range(9):
        builder.put()
    root = builder.finish()
    file = root / QUEUE / f"{0:020d}"
    stored = file.read_bytes()
    file.write_bytes((stored[: 4 * UNIT] + stored[8 * UNIT : 9 * UNIT]).ljust(len(stored), b"\0"))
    (moved,) = (found for found in findings_of(root) if found.kind == "queue_order")
    name = file.relative_to(root).as_posix()
    assert {Place(name, 4 * UNIT, UNIT), Place(name, 8 * UNIT, UNIT)} <= set(moved.places)


def cleaned(root: Path, *, units: int, prepared: int | None = None) -> StoreBuilder:
    """A store whose cleaner took the log's first file, and every queue file, of so many units, that leads below its
    start."""
    sizes = {"maxIndexNum": "600", "mappedFileSizeConsumeQueue": str(units * UNIT)}
    builder = StoreBuilder(root, settings=SETTINGS.with_config(sizes))
    for number in range(85):
        builder.put(sys_flag=PREPARED if number == prepared else 0)
    builder.finish()
    first, second, *_ = sorted((root / "commitlog").iterdir())
    first.unlink()
    for file in sorted((root / QUEUE).iterdir())[:-1]:
        if int(CQ_UNIT.array(file.read_bytes())["physical_offset"][-1]) < int(second.name):
            file.unlink()
    return builder


def findings(builder: StoreBuilder) -> list[Finding]:
    return list(verify(*opened(builder.root, VERSION, builder.settings)).findings)


def test_a_prepared_record_that_became_another_does_not_lack_a_unit(tmp_path: Path) -> None:
    """Its number 0 is one of a message that has expired."""
    builder = cleaned(tmp_path / "store", units=100, prepared=60)
    assert {found.kind for found in findings(builder)} == {"log_begins_late"}
    file = log_write(builder.root, builder.records[60], HEAD.offsets["sys_flag"], bytes(INT))
    (taken,) = (found for found in findings(builder) if found.span.topic == "Orders")
    assert (taken.kind, taken.places[-1].file) == ("queue_offset_taken", file)


def test_a_damaged_last_unit_of_a_file_is_no_sign_of_log_files_that_were_taken_away(tmp_path: Path) -> None:
    builder = cleaned(tmp_path / "store", units=10)
    assert findings(builder) == []
    oldest = min((builder.root / QUEUE).iterdir())
    overwrite(oldest, 9 * UNIT, b"\xff" * LONG)
    assert [found.kind for found in findings(builder)] == ["unit_invalid"]
