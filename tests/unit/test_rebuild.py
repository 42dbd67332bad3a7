"""The door of the rebuild: where it may write, what it says about what it assumed and could not do."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from parsers.consumequeue.layout import CQ_UNIT, PRE_BLANK
from parsers.evidence.guard import WouldTouchEvidence
from recovery.rebuild.new_files import write_piece
from recovery.rebuild.rebuild import rebuild
from recovery.rules.settings import StoreSettings
from recovery.scan.log_runs import runs_between
from recovery.verify.verify import verify
from tests.support.build_store import SETTINGS, VERSION, StoreBuilder, overwrite, shop
from tests.support.opened import opened


def test_a_store_is_never_written_into(tmp_path: Path) -> None:
    root = shop(tmp_path / "store").finish()
    for inside in (root, root / "new", root / "consumequeue" / "new", tmp_path):
        with pytest.raises((WouldTouchEvidence, ValueError), match=r"never written to|there already"):
            rebuild(*opened(root), inside)


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    root = shop(tmp_path / "store").finish()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    with pytest.raises(ValueError, match="there already"):
        rebuild(*opened(root), tmp_path / "taken")


def test_an_empty_folder_is_taken_and_nothing_partial_is_left(tmp_path: Path) -> None:
    root = shop(tmp_path / "store").finish()
    (tmp_path / "new").mkdir()
    report = rebuild(*opened(root, VERSION, SETTINGS), tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "store"]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["consumequeue", "index"]
    assert report.document()["records"] == report.records == 60
    assert report.inferred == ()


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = shop(tmp_path / "store").finish()
    monkeypatch.setattr("recovery.rebuild.report.differences", lambda *given: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        rebuild(*opened(root), tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_queue_file_is_opened_once_for_the_units_of_many_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opens: list[Path] = []

    def counted(path: Path, *given: Any) -> None:
        opens.append(path)
        write_piece(path, *given)

    monkeypatch.setattr("recovery.rebuild.queue_files.write_piece", counted)
    monkeypatch.setattr("recovery.scan.log_runs.runs_between", partial(runs_between, most=1))
    builder = StoreBuilder(tmp_path / "store")
    for _ in range(5):
        builder.put()
    rebuild(*opened(builder.root, VERSION, SETTINGS), tmp_path / "new")
    files = [path for path in (tmp_path / "new" / "consumequeue").rglob("*") if path.is_file()]
    assert len(opens) == len(files)


def test_what_is_inferred_is_said_and_what_is_assumed_is_not_certain(tmp_path: Path) -> None:
    report = rebuild(*opened(shop(tmp_path / "store").finish()), tmp_path / "new")
    facts = {fact.what: fact for fact in report.inferred}
    assert (facts["mappedFileSizeConsumeQueue"].value, facts["mappedFileSizeConsumeQueue"].certain) == ("200", True)
    assert (facts["maxHashSlotNum"].value, facts["maxIndexNum"].value) == ("16", "60")
    assert not facts["version"].certain
    assert report.settings.mapped_file_size_commit_log == 4096


def test_a_log_that_starts_later_is_pre_blanked_and_the_report_says_so(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "store", base_offset=8192)
    for offset in (13, 14):
        builder.put(queue_offset=offset)
    report = rebuild(*opened(builder.root, VERSION, SETTINGS), tmp_path / "new")
    (path,) = (tmp_path / "new" / "consumequeue" / "Orders" / "0").iterdir()
    assert path.name == f"{10 * CQ_UNIT.size:020d}"
    assert path.read_bytes().startswith(CQ_UNIT.pack(PRE_BLANK) * 3)
    assert report.queues[0].first_queue_offset == 13
    assert any("starts at 8192" in line for line in report.differences)


def test_damage_is_passed_over_and_reported(tmp_path: Path) -> None:
    builder = shop(tmp_path / "store")
    hurt = builder.records[4]
    overwrite(builder.root / "commitlog" / f"{0:020d}", hurt.physical_offset + 4, b"\0\0\0\1")
    report = rebuild(*opened(builder.root, VERSION, SETTINGS), tmp_path / "new")
    assert [(gap.physical_offset, gap.length) for gap in report.gaps] == [(hurt.physical_offset, hurt.total_size)]
    assert report.records == 59
    assert any(queue.out_of_order for queue in report.queues)


def test_a_topic_that_is_no_folder_name_is_counted_and_not_written(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "store")
    for topic in ("../outside", "Orders"):
        builder.put(topic)
    report = rebuild(*opened(builder.root, VERSION, SETTINGS), tmp_path / "new")
    assert {queue.topic: queue.written for queue in report.queues} == {"../outside": False, "Orders": True}
    assert not (tmp_path / "outside").exists()


def test_index_off_writes_no_index(tmp_path: Path) -> None:
    builder = shop(tmp_path / "store")
    settings = SETTINGS.with_config({"messageIndexEnable": "false"})
    assert rebuild(*opened(builder.root, VERSION, settings), tmp_path / "new").index_files == ()
    assert not (tmp_path / "new" / "index").exists()


def test_a_store_without_a_log_gives_empty_folders(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "checkpoint").write_bytes(bytes(4096))
    report = rebuild(*opened(tmp_path / "store", VERSION, StoreSettings()), tmp_path / "new")
    assert (report.records, list((tmp_path / "new").iterdir())) == (0, [])


SAME_NAME = "\ufffd\ufffd"
"""What Java makes of either of two bytes that are not UTF-8."""


@pytest.mark.parametrize("listed", [False, True], ids=["topic", "multi-dispatch"])
def test_topics_that_java_reads_alike_share_a_queue(tmp_path: Path, listed: bool) -> None:
    builder = StoreBuilder(tmp_path / "store", settings=SETTINGS.with_config({"enableMultiDispatch": "true"}))
    names = (b"xy", b"\xff\xfe"), (b"xz", b"\xfe\xff")
    for number, (plain, _) in enumerate(names):
        pairs = (("INNER_MULTI_DISPATCH", plain.decode()), ("INNER_MULTI_QUEUE_OFFSET", str(number)))
        builder.put("Orders" if listed else plain.decode(), queue_offset=number, properties=pairs if listed else ())
    path = builder.root / "commitlog" / f"{0:020d}"
    content = path.read_bytes()
    for plain, stored in names:
        assert content.count(plain) == 1
        content = content.replace(plain, stored)
    path.write_bytes(content)
    report = rebuild(*opened(builder.root, VERSION, builder.settings), tmp_path / "new")
    assert [(queue.topic, queue.queue_id, queue.units) for queue in report.queues if queue.topic != "Orders"] == [
        (SAME_NAME, 0, 2)
    ]
    assert verify_kinds(builder.root, tmp_path / "new", builder.settings) == {"checkpoint_missing"}


def verify_kinds(log: Path, made: Path, settings: StoreSettings) -> set[str]:
    """What verification finds in a store of this log and these queues and indexes."""
    for folder in made.iterdir():
        folder.rename(log / folder.name)
    return {finding.kind for finding in verify(*opened(log, VERSION, settings)).findings}
