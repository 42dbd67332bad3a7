"""What files and logs hold is shown, never obeyed: by no terminal, and by no spreadsheet."""

from __future__ import annotations

import csv
import io
import os
import socket
from decimal import Decimal
from pathlib import Path
from time import process_time

import pyarrow as pa
import pytest

from parsers.store.store import open_store
from pipelines.cli.frame.visible import visible
from pipelines.cli.frame.written.output import Csv
from tests.support.cli import call, small_store
from tests.support.copies import copy_tree

NASTY = "\x1b[31m\x07\r\x9b\u202e\x7f"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return small_store(tmp_path / "store")


def is_tame(text: str) -> bool:
    return all(line.isprintable() for line in text.replace("\t", "").split("\n"))


@pytest.mark.parametrize("form", ["table", "csv"])
def test_names_of_files_do_not_reach_the_terminal_as_they_are(form: str, store: Path) -> None:
    (store / f"strange{NASTY}").touch()
    copy_tree(store / "consumequeue/Orders", store / f"consumequeue/T{NASTY}")
    for command in (["queues"], ["verify"], ["dump", "consumequeue"], *([["forecast"]] if form == "table" else [])):
        called = call(*command, store, "--format", form)
        assert is_tame(called.err), command
        assert is_tame(called.out.decode()), command
    assert "\\x1b[31m" in call("queues", store).err
    missing = call("queues", store / f"none{NASTY}")
    assert is_tame(missing.err)
    assert is_tame(call("queues", store, "--at\x1b", "1").err)


def test_what_prints_stays() -> None:
    assert visible("Ärger 标签 🎁") == "Ärger 标签 🎁"
    assert visible("a\x1bb\nä") == "a\\x1bb\\nä"


def text_of(column: pa.Array) -> str:
    """A CSV of one column, after its heading."""
    out, schema = io.BytesIO(), pa.schema([("x", column.type)])
    sink = Csv(schema, out)
    sink.write(pa.RecordBatch.from_arrays([column], schema=schema))
    sink.close()
    return out.getvalue().decode().partition("\n")[2]


def csv_of(column: pa.Array) -> list[str]:
    return [row[0] for row in csv.reader(io.StringIO(text_of(column), newline=""))]


def test_no_cell_is_a_formula() -> None:
    texts = ["=1+1", "+x", "-x", "@SUM(A1)", "\tx", "-5", "+1.5e-3", "a=b", "", "two\nlines", "\x1b[2J", "\u202ex"]
    told = ["'=1+1", "'+x", "'-x", "'@SUM(A1)", "'\tx", *texts[5:10], "\\x1b[2J", "\\u202ex"]
    assert csv_of(pa.array(texts)) == told
    assert csv_of(pa.array(["=1"]).dictionary_encode()) == ["'=1"]


def test_numbers_stay_numbers() -> None:
    assert csv_of(pa.array([-1, 2])) == ["-1", "2"]
    assert csv_of(pa.array([-1.5])) == ["-1.5"]
    assert text_of(pa.array([21.5, None, 1e-7])) == "21.5\n\n1e-7\n", "a decimal needs no quotes"
    assert text_of(pa.array([Decimal("7.25")])) == "7.25\n"
    assert csv_of(pa.array([b"\xf8"])) == ["+A=="]


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "socket"])
def test_settings_come_from_a_file(kind: str, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "broker.conf"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place = Path("/dev/null")
    elif kind == "folder":
        place.mkdir()
    else:
        monkeypatch.chdir(tmp_path)
        socket.socket(socket.AF_UNIX).bind("broker.conf")
    called = call("verify", store, "--broker-conf", place)
    assert called.code == 3, called.err
    assert str(place) in called.err
    assert "fault of rocketlens" not in called.err


def test_logs_of_many_nodes_are_listed_in_time_that_grows_with_them(tmp_path: Path) -> None:
    def seconds(files: int) -> float:
        root = tmp_path / str(files)
        for node in ("dledger-n0", "dledger-n1"):
            (root / node / "data").mkdir(parents=True)
            for number in range(files):
                (root / node / "data" / f"{number << 12:020d}").touch()
        return min(listed(root, files) for _ in range(3)) / files

    def listed(root: Path, files: int) -> float:
        began = process_time()
        store = open_store(root)
        assert (len(store.commitlog), len(store.not_understood)) == (files, files)
        return process_time() - began

    assert seconds(2000) < 3 * seconds(250)
