"""Bad input: one clear sentence, the right exit code, and whatever is readable is still delivered."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rocketlens as rl
from pipelines.cli.frame.call.opening import process_using
from rocketlens.errors import RocketlensError
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.stores import store_root

HOLD_LOCK = """
import fcntl, sys
lock = open(sys.argv[1], "r+b")
fcntl.lockf(lock, fcntl.LOCK_EX, 1, 0)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    copy_tree(store_root("5.3.3-propcrc"), root)
    return root


def last_log(store: Path) -> Path:
    return sorted((store / "commitlog").iterdir())[-1]


def test_a_truncated_last_file(store: Path) -> None:
    whole = call("dump", "commitlog", store, "--columns", "physical_offset,total_size").rows
    last = whole[-1]["physical_offset"] - int(last_log(store).name)
    with last_log(store).open("r+b") as file:
        file.truncate(last + 50)
    written = len(last_log(store).read_bytes().rstrip(b"\0"))  # a zero at a last file's end may never have been written
    called = call("dump", "commitlog", store, "--columns", "physical_offset,total_size")
    assert called.code == 4
    assert called.rows == whole[:-1]
    assert f"{last_log(store)} bytes {last}..{written}" in called.err


@pytest.mark.parametrize("name", ["9223372036854775808", "99999999999999999999"])
def test_a_log_file_whose_name_is_more_than_a_long_is_placed_by_its_records(name: str, store: Path) -> None:
    told = ("--columns", "physical_offset,total_size")
    whole = call("dump", "commitlog", last_log(store), *told)
    called = call("dump", "commitlog", last_log(store).rename(store / "commitlog" / name), *told)
    assert (called.code, called.rows) == (whole.code, whole.rows)


def test_an_address_is_no_folder_of_this_machine(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    for words in (
        ("init", "gs://bucket/store"),
        ("compare", store, "hdfs://name/store"),
        ("rebuild", store, "--to", "abfs://box@host/out"),
        ("verify", store, "--out", "gs://bucket/findings.jsonl"),
        ("ingest", "--config-file", "s3://bucket/rocketlens.toml"),
    ):
        called = call(*words)
        assert called.code == 2, called.err
        assert "only folders and files of this machine are read and written here, no addresses" in called.err
    with pytest.raises(RocketlensError, match="no addresses"):
        rl.store(store).rebuild("s3://bucket/out")
    assert sorted(tmp_path.iterdir()) == before


def test_a_damaged_record_in_the_middle(store: Path) -> None:
    whole = call("dump", "commitlog", store, "--columns", "physical_offset").rows
    broken = whole[10]["physical_offset"]
    with (store / "commitlog" / f"{0:020d}").open("r+b") as file:
        file.seek(broken)
        file.write(b"\xff" * 8)
    called = call("dump", "commitlog", store, "--columns", "physical_offset")
    assert called.code == 4
    assert called.rows == [row for row in whole if row["physical_offset"] != broken]
    ranges = call("dump", "regions", store)
    assert ranges.code == 0
    assert sum(row["length"] for row in ranges.rows) == sum(f.stat().st_size for f in (store / "commitlog").iterdir())
    assert [row["file_pos"] for row in ranges.rows if row["kind"] == "damage"] == [broken]
    assert call("verify", store).code == 1


@pytest.mark.parametrize("reader", ["index", "consumequeue", "checkpoint", "timer", "epochs"])
def test_a_file_that_lies_where_another_kind_does(reader: str, store: Path) -> None:
    """Every number fits some field: `dump index` of a file of the log gave no row, no word and 0."""
    called = call("dump", reader, store / "commitlog" / f"{0:020d}")
    assert (called.code, called.rows) == (3, [])
    assert "by its place a file of kind commitlog, not " in called.err


@pytest.mark.parametrize("reader", ["commitlog", "index", "timer"])
def test_a_file_that_is_none_of_a_store(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, these are words and no records. " * 20)
    called = call("dump", reader, path)
    assert called.code == 3
    assert called.rows == []
    assert str(path) in called.err


@pytest.mark.parametrize("folders", [[], ["commitlog", "consumequeue", "index"]])
def test_an_empty_folder_is_no_store_but_a_broker_starts_on_it(folders: list[str], tmp_path: Path) -> None:
    for name in folders:
        (tmp_path / name).mkdir()
    assert call("dump", "commitlog", tmp_path).code == 3
    called = call("forecast", tmp_path, "--version", "5.3.3")
    assert called.code == 0
    assert called.rows[0]["load"]["ok"] is True
    assert called.rows[0]["lost"] == []


def test_a_part_of_a_store_points_to_its_root(store: Path) -> None:
    called = call("queues", store / "commitlog")
    assert called.code == 3
    assert f"name the store root: {store}" in called.err


def test_files_that_are_not_understood_are_named(store: Path) -> None:
    (store / "commitlog" / "notes.txt").write_text("x")
    assert "notes.txt" in call("queues", store).err


@pytest.mark.skipif(sys.platform != "linux", reason="the lock is looked up as Linux keeps it")
def test_a_store_in_use_is_read_and_said_to_be_in_use(store: Path) -> None:
    (store / "lock").touch()
    assert process_using(store) is None
    command = [sys.executable, "-c", HOLD_LOCK, str(store / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        called = call("queues", store)
        assert holder.stdin is not None
        holder.stdin.close()
    assert called.code == 0
    assert called.rows
    assert f"in use by process {holder.pid}" in called.err


def test_no_permission(store: Path) -> None:
    last_log(store).chmod(0)
    if os.access(last_log(store), os.R_OK):
        pytest.skip("nothing is forbidden to this user")
    called = call("dump", "commitlog", store)
    assert called.code == 4
    assert "ermission" in called.err
    (store / "commitlog").chmod(0)
    store.chmod(0)
    assert call("queues", store).code == 3
    store.chmod(0o755)
    (store / "commitlog").chmod(0o755)


def test_many_unread_ranges_are_counted_in_the_end(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.cli.frame.call.run.NAMED_RANGES", 2)
    for file in (store / "consumequeue").rglob("0" * 20):
        with file.open("r+b") as queue:
            queue.write(b"\xff" * 20)
    called = call("dump", "consumequeue", store)
    assert called.code == 4
    named = [line for line in called.err.splitlines() if "not read:" in line]
    assert len(named) == 2
    assert "more ranges not read" in called.err


@pytest.mark.parametrize(
    "command",
    [
        ["offset-at", "{store}", "--topic", "Small", "--queue", "0", "--at", "9" * 21],
        ["lag", "{store}", "--at", "9" * 21],
        ["dump", "commitlog", "{store}", "--since", "9" * 21],
        ["dump", "commitlog", "{store}", "--queue", "9" * 21],
        ["dump", "commitlog", "{store}", "--limit", "9" * 21],
        ["rebuild", "{store}", "--to", "{store}x", "--config", "maxIndexNum=1"],
        ["forecast", "{store}", "--config", "mappedFileSizeCommitLog=0"],
        ["verify", "{store}", "--version", "nine"],
    ],
)
def test_numbers_that_mean_nothing_are_wrong_usage(command: list[str], store: Path) -> None:
    called = call(*(word.format(store=store) for word in command))
    assert called.code == 2, called.err


@pytest.mark.parametrize("flag", ["--topic", "--key"])
def test_bytes_of_the_shell_that_are_no_text_are_wrong_usage(flag: str, store: Path) -> None:
    called = call("dump", "commitlog", store, flag, "\udcff")
    assert called.code == 2
    assert "is no UTF-8 text" in called.err


@pytest.mark.parametrize("place", ["", "nowhere/rows.jsonl", "folder"])
def test_a_place_that_cannot_be_written_is_wrong_usage(place: str, store: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    called = call("queues", store, "--out", tmp_path / place if place else "")
    assert called.code == 2
    assert "cannot be written" in called.err


def test_a_folder_that_is_not_there_is_told_before_anything_is_read(tmp_path: Path) -> None:
    """A report read and compared the whole store first."""
    called = call("report", "no store", "--out", tmp_path / "nowhere" / "report.html")
    assert called.code == 2
    assert f"there is no folder {tmp_path / 'nowhere'}" in called.err


@pytest.mark.parametrize("command", [["lag", "STORE", "--offsets", "/"], ["replay", "/"], ["verify", "/dev/.."]])
def test_the_whole_file_system_is_no_place_to_read(command: list[str], store: Path) -> None:
    called = call(*(str(store) if word == "STORE" else word for word in command))
    assert (called.code, called.out) == (2, b"")
    assert "the whole file system; name the folder" in called.err


def test_no_file_takes_the_place_of_a_device(store: Path, tmp_path: Path) -> None:
    device = tmp_path / "device"
    device.symlink_to("/dev/null")
    assert call("queues", store, "--out", device).code == 0
    assert device.readlink() == Path("/dev/null")


def test_a_pipe_in_the_place_of_the_lock_holds_nobody_up(store: Path) -> None:
    (store / "lock").unlink(missing_ok=True)
    os.mkfifo(store / "lock")
    assert call("queues", store).code == 0


@pytest.mark.parametrize("flag", [["verify", "--broker-conf"], ["lag", "--offsets"]])
def test_a_file_without_end_is_no_setting(flag: list[str], store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recovery.rules.settings.MOST_CONF_BYTES", 1 << 20)
    monkeypatch.setattr("pipelines.recordings.kept_copy.MAX_BYTES", 1 << 20)
    called = call(flag[0], store, flag[1], "/dev/zero")
    assert called.code in (3, 4)
    assert "/dev/zero" in called.err


def test_a_folder_with_a_nul_in_its_name_is_no_setting(store: Path, tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_bytes(b"storePathCommitLog=/data/sto\0\0/commitlog\n")
    called = call("queues", store, "--broker-conf", conf)
    assert called.code == 2
    assert "storePathCommitLog has a NUL in it: '/data/sto\\x00\\x00/commitlog'" in called.err


def test_a_small_file_that_grows_without_end_is_no_table_of_offsets(store: Path, tmp_path: Path) -> None:
    bomb = tmp_path / "consumerOffset.json"
    bomb.write_bytes(gzip.compress(bytes(300 << 20), 1))
    called = call("lag", store, "--offsets", bomb)
    assert called.code in (3, 4)
    assert "too long for a config file" in called.err


def test_a_name_that_is_no_text_does_not_stop_the_report(store: Path, tmp_path: Path) -> None:
    (store / "commitlog" / os.fsdecode(b"\xff\xfe")).touch()
    page = tmp_path / "page.html"
    assert call("report", store, "--out", page).code in (0, 1)
    assert "commitlog/??" in page.read_text("utf-8")


def test_a_position_behind_the_end_of_the_file(store: Path) -> None:
    called = call("explain", store / "checkpoint", "--at", "99999")
    assert (called.code, called.out) == (2, b"")
    assert "has 4096 bytes" in called.err


def test_a_rebuild_into_the_folder_that_holds_the_store(store: Path) -> None:
    called = call("rebuild", store, "--to", store.parent)
    assert called.code == 2
    assert "is there already" in called.err


@pytest.mark.parametrize("command", [["queues", "{store}", "--out"], ["rebuild", "{store}", "--to"]])
def test_a_loop_of_links_is_no_place_to_write(command: list[str], store: Path, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    assert call(*(word.format(store=store) for word in command), loop).code == 2
