"""Whatever path an output is given, what is read stays as it was: links, second names, loops, and races."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from parsers.evidence.guard import EvidenceGuard, NewFile, WouldTouchEvidence
from pipelines.lake.configuration.sources import read_sources
from pipelines.lake.lake import lake_to_write
from tests.support.cli import call, small_store
from tests.support.copies import copy_tree
from tests.support.evidence import state
from tests.support.stores import store_root

FIRST = "00000000000000000000"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with `store`, whose commitlog/ is a link to `disk/log`, and beside it what a run may read."""
    small_store(tmp_path / "store")
    (tmp_path / "disk/log").mkdir(parents=True)
    (tmp_path / "disk/log" / FIRST).write_bytes(bytes(4096))
    (tmp_path / "store/commitlog").rmdir()
    (tmp_path / "store/commitlog").symlink_to(tmp_path / "disk/log")
    (tmp_path / "broker.conf").write_text("fileReservedTime=48\n")
    (tmp_path / "consumerOffset.json").write_text('{"offsetTable":{}}')
    (tmp_path / "elsewhere").mkdir()
    return tmp_path


def direct(place: Path) -> Path:
    return place / "store/x.jsonl"


def parent_that_is_not_there(place: Path) -> Path:
    return place / "store/new/deeper/x.jsonl"


def by_dots(place: Path) -> Path:
    return place / "elsewhere/../store/consumequeue/../x.jsonl"


def behind_a_linked_folder(place: Path) -> Path:
    return place / "disk/log" / FIRST


def new_file_behind_a_linked_folder(place: Path) -> Path:
    return place / "disk/log/new"


def link_to_a_folder(place: Path) -> Path:
    (place / "elsewhere/folder").symlink_to(place / "store/consumequeue")
    return place / "elsewhere/folder/x.jsonl"


def link_to_a_file(place: Path) -> Path:
    (place / "elsewhere/file").symlink_to(place / "disk/log" / FIRST)
    return place / "elsewhere/file"


def link_that_leads_nowhere_yet(place: Path) -> Path:
    (place / "elsewhere/dangling").symlink_to(place / "store/x.jsonl")
    return place / "elsewhere/dangling"


def second_name_of_a_file(place: Path) -> Path:
    os.link(place / "disk/log" / FIRST, place / "elsewhere/second")
    return place / "elsewhere/second"


def by_an_open_folder(place: Path) -> Path:
    folder = os.open(place / "store", os.O_RDONLY)  # closed with the process
    return Path(f"/proc/self/fd/{folder}/x.jsonl")


PLACES: list[Callable[[Path], Path]] = [
    direct,
    parent_that_is_not_there,
    by_dots,
    behind_a_linked_folder,
    new_file_behind_a_linked_folder,
    link_to_a_folder,
    link_to_a_file,
    link_that_leads_nowhere_yet,
    second_name_of_a_file,
    by_an_open_folder,
]


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize(
    "command",
    [
        ["queues", "{store}", "--out"],
        ["dump", "consumequeue", "{store}", "--out"],
        ["dump", "commitlog", "{store}/commitlog/" + FIRST, "--out"],
        ["rebuild", "{store}", "--to"],
        ["report", "{store}", "--out"],
    ],
)
def test_no_path_leads_into_a_store(where: Callable[[Path], Path], command: list[str], place: Path) -> None:
    target = where(place)
    before = state(place / "store"), state(place / "disk")
    called = call(*(word.format(store=place / "store") for word in command), target)
    assert called.code == 2
    assert "never written to" in called.err or "cannot be written" in called.err
    assert (state(place / "store"), state(place / "disk")) == before


@pytest.mark.parametrize(
    ("command", "read"),
    [
        (["verify", "{store}", "--broker-conf", "{read}"], "broker.conf"),
        (["forecast", "{store}", "--broker-conf", "{read}"], "broker.conf"),
        (["lag", "{store}", "--offsets", "{read}"], "consumerOffset.json"),
        (["who", "{store}", "--message-id", "00", "--offsets", "{read}"], "consumerOffset.json"),
        (["who", "{lake}", "--message-id", "00"], "lake/tables/commitlog_messages/x"),
    ],
)
def test_what_an_option_names_is_not_replaced(command: list[str], read: str, place: Path) -> None:
    (place / "lake/tables/commitlog_messages").mkdir(parents=True)
    given = [word.format(store=place / "store", read=place / read, lake=place / "lake") for word in command]
    before = state(place)
    called = call(*given, "--out", place / read)
    assert called.code == 2
    assert "never written to" in called.err
    assert state(place) == before


@pytest.mark.parametrize("command", [["queues"], ["verify"], ["forecast"], ["dump", "commitlog"], ["lag"], ["find"]])
def test_a_log_that_a_setting_names_is_not_replaced(command: list[str], place: Path) -> None:
    (place / "store/commitlog").unlink()
    said = place / "broker.conf"
    said.write_text(f"storePathCommitLog={place / 'disk/log'}\n")
    options = {"find": ["--topic", "T", "--key", "k"]}.get(command[0], [])
    before = state(place)
    for target in (place / "disk/log" / FIRST, place / "disk/log/new"):
        called = call(*command, place / "store", *options, "--broker-conf", said, "--out", target)
        assert called.code == 2, called.err
        assert "never written to" in called.err
    assert state(place) == before


def test_a_recording_is_not_replaced(tmp_path: Path) -> None:
    log = tmp_path / "broker.log"
    log.write_text("2026-11-21 20:00:00 INFO main - The broker[b, 127.0.0.1:1] boot success.\n")
    assert call("replay", log, "--out", log).code == 2
    assert call("replay", tmp_path, "--out", tmp_path / "intervals.csv").code == 2
    assert log.read_text().startswith("2026")


def test_questions_are_not_replaced_by_their_answers(tmp_path: Path) -> None:
    config = tmp_path / "rocketlens.toml"
    config.write_text('[lake]\npath = "lake"\n')
    assert call("tables", "--config-file", config, "--out", config).code == 2
    assert call("tables", "--config-file", config, "--out", tmp_path / "lake/tables/x.csv").code == 2
    assert config.read_text().startswith("[lake]")


@pytest.mark.parametrize(
    "lake", ["store", "store/lake", "disk/log", "disk/log/lake", "elsewhere/link", "logs/lake", "around"]
)
def test_a_lake_lies_beside_the_evidence(lake: str, place: Path) -> None:
    (place / "elsewhere/link").symlink_to(place / "store")
    (place / "logs").mkdir()
    (place / "around/tables").mkdir(parents=True)
    copy_tree(place / "store/consumequeue", place / "around/tables/inner/consumequeue")
    config = place / "rocketlens.toml"
    stores = [place / "store", place / "around/tables/inner"]
    brokers = "".join(f"[[broker]]\nname = 'b{n}'\nstore = {json.dumps(str(s))}\n" for n, s in enumerate(stores))
    config.write_text(f"[lake]\npath = '{lake}'\n{brokers}logs = 'logs'\n")
    before = state(place)
    with pytest.raises(WouldTouchEvidence):
        lake_to_write(read_sources(config))
    assert state(place) == before
    config.write_text(config.read_text().replace(f"path = '{lake}'", "path = 'fresh'"))
    assert lake_to_write(read_sources(config)).root == place / "fresh"


def test_an_output_behind_a_link_goes_where_the_link_leads(place: Path) -> None:
    (place / "latest.jsonl").symlink_to("elsewhere/queues.jsonl")
    assert call("queues", place / "store", "--out", place / "latest.jsonl").code == 0
    assert (place / "latest.jsonl").is_symlink()
    assert json.loads((place / "elsewhere/queues.jsonl").read_text())["topic"] == "Orders"
    assert sorted(path.name for path in (place / "elsewhere").iterdir()) == ["queues.jsonl"]


def test_a_target_that_became_evidence_meanwhile_is_left(place: Path) -> None:
    guard = EvidenceGuard(place / "store")
    new = NewFile(place / "elsewhere/x", guard, "--out")
    new.file.write(b"rows")
    os.link(place / "disk/log" / FIRST, place / "elsewhere/x")
    with pytest.raises(WouldTouchEvidence):
        new.commit()
    assert (place / "elsewhere/x").read_bytes() == bytes(4096)
    assert [path.name for path in (place / "elsewhere").iterdir()] == ["x"]


def test_a_folder_put_in_the_place_of_another_is_not_written_to(place: Path) -> None:
    new = NewFile(place / "elsewhere/x", EvidenceGuard(place / "store"), "--out")
    new.file.write(b"rows")
    (place / "elsewhere").rename(place / "moved")
    (place / "elsewhere").symlink_to(place / "store")
    new.commit()
    assert (place / "moved/x").read_bytes() == b"rows"
    assert not (place / "store/x").exists()


def test_what_is_read_later_counts_too(place: Path) -> None:
    guard = EvidenceGuard()
    new = NewFile(place / "disk/log/x", guard, "--out")
    guard.reads(place / "store")
    with pytest.raises(WouldTouchEvidence):
        new.commit()
    assert [path.name for path in (place / "disk/log").iterdir()] == [FIRST]


def test_a_pipe_is_waited_for_until_somebody_reads(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(place / "pipe")
    monkeypatch.setattr("parsers.evidence.guard.READER_WAIT_S", 0.01)
    with pytest.raises(TimeoutError, match="nobody has read from it"):
        NewFile(place / "pipe", EvidenceGuard(), "--out")
    reader = os.open(place / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    new = NewFile(place / "pipe", EvidenceGuard(), "--out")
    assert os.get_blocking(new.file.fileno())
    new.file.write(b"rows")
    new.commit()
    assert os.read(reader, 9) == b"rows"
    os.close(reader)


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    return lambda folder: monkeypatch.setattr(tempfile, "tempdir", str(folder))


def test_temporary_files_are_not_made_in_a_store(temporary: Callable[[Path], None], tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store_root("5.5.0-rocksdb"), root)
    before = state(root)
    for folder in (root, root / "consumequeue"):
        temporary(folder)
        called = call("verify", root)
        assert called.code == 2, called.err
        assert "TMPDIR" in called.err
    assert state(root) == before


def test_standard_output_is_no_file_of_the_store(place: Path) -> None:
    import subprocess
    import sys

    with (place / "disk/log" / FIRST).open("ab") as end:
        done = subprocess.run(
            [sys.executable, "-m", "pipelines.cli", "queues", place / "store"], stdout=end, stderr=subprocess.PIPE
        )
    assert done.returncode == 2
    assert b"standard output" in done.stderr
    assert (place / "disk/log" / FIRST).stat().st_size == 4096
