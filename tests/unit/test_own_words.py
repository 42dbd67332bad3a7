"""What cannot be read is named in words about the file, not in Python's."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.fuzz.commands.asked import words_of_python
from tests.support.cli import call, small_store

DIGITS = b"9" * 5000
ALLOCATE = b'{"group":"g","current":"b","mq_all":[["T","x",0]],"cid_all":["a","b"],"n":%s}'


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return small_store(tmp_path / "store")


@pytest.mark.parametrize(
    "content",
    [
        b'{"offsetTable":{"T@g":{0:%s}}}' % DIGITS,
        b"\xff\xfe",
        gzip.compress(b'{"offsetTable":{}}', mtime=0)[:-9],
        b"\x1f\x8b" + b"\0" * 40,
        b"[" * 100_000,
        b'{"offsetTable":{"T@g":{0:NaN}}}',
        b"null",
        b"[]",
        b"5",
    ],
)
def test_kept_offsets(content: bytes, store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "consumerOffset.json"
    copy.write_bytes(content)
    (store / "config").mkdir()
    (store / "config" / "consumerOffset.json").write_bytes(content)
    for command in (["lag", store, "--offsets", copy], ["dump", "config", store], ["verify", store], ["lag", store]):
        called = call(*command)
        assert called.code in (0, 1, 3, 4)
        assert words_of_python(called.err) is None


@pytest.mark.parametrize("content", [b"\xff", b"x = %s" % DIGITS, b"x = " + b"[" * 10_000, b"x"])
def test_configuration(content: bytes, tmp_path: Path) -> None:
    config = tmp_path / "rocketlens.toml"
    config.write_bytes(content)
    called = call("tables", "--config-file", config)
    assert called.code == 3
    assert words_of_python(called.err) is None


def test_places(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for place in (tmp_path / "loop", "x" * 5000, tmp_path):
        called = call("verify", place)
        assert called.code == 3
        assert words_of_python(called.err) is None, called.err


def test_questions_and_parameters(store: Path) -> None:
    for line in (ALLOCATE % DIGITS, b"\xff", b"[" * 100_000, b"5"):
        called = call("allocate", stdin=line)
        assert called.code in (0, 4)
        assert words_of_python(called.err + called.out.decode()) is None
    called = call("allocate", "--param", f"virtualNodeCnt={DIGITS.decode()}", stdin=ALLOCATE % b"1")
    assert called.code in (0, 4)
    assert words_of_python(called.err) is None
