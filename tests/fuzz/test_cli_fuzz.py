"""Any bytes in a store: every command ends with rows, findings or one sentence; never with a traceback."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.stores import store_root

ENDINGS = {0, 1, 3, 4}
COMMANDS = [
    ["queues", "{store}"],
    ["topics", "{store}"],
    ["dump", "commitlog", "{store}", "--bodies"],
    ["dump", "commitlog", "{store}", "--decode"],
    ["dump", "regions", "{store}"],
    ["dump", "consumequeue", "{store}"],
    ["dump", "index", "{store}"],
    ["dump", "index", "{store}", "--headers"],
    ["dump", "checkpoint", "{store}"],
    ["dump", "timer", "{store}"],
    ["dump", "timer", "{store}", "--slots"],
    ["dump", "config", "{store}"],
    ["find", "{store}", "--topic", "Small", "--key", "k1"],
    ["lag", "{store}", "--at", "1795274030000"],
    ["verify", "{store}", "--deep"],
    ["forecast", "{store}", "--version", "5.3.3", "--no-advice"],
    ["retention", "{store}", "--version", "5.3.3"],
    ["traces", "{store}", "--trace-topic", "Small"],
    ["who", "{store}", "--message-id", "7F00000100002A9F0000000000000000"],
]
FILES = ("commitlog", "consumequeue", "index", "checkpoint", "config", "timerwheel")


def damage(path: Path, how: str, place: int, noise: bytes) -> None:
    """Overwrite, cut, or replace a file; `place` picks where."""
    size = path.stat().st_size
    if how == "replaced":
        path.write_bytes(noise)
    elif how == "cut":
        with path.open("r+b") as file:
            file.truncate(place % (size + 1))
    else:
        with path.open("r+b") as file:
            file.seek(place % max(1, size))
            file.write(noise[: max(0, size - file.tell())])


@settings(max_examples=8, deadline=None)
@given(
    part=st.sampled_from(FILES),
    which=st.integers(0, 50),
    how=st.sampled_from(["overwritten", "cut", "replaced"]),
    place=st.integers(0, 1 << 20),
    noise=st.binary(min_size=1, max_size=64),
)
def test_commands_on_a_damaged_store(part: str, which: int, how: str, place: int, noise: bytes) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder) / "store"
        copy_tree(store_root("5.3.3-propcrc"), root)
        files = [path for path in sorted(root.rglob("*")) if path.is_file() and path.relative_to(root).parts[0] == part]
        if files:
            damage(files[which % len(files)], how, place, noise)
        for command in COMMANDS:
            called = call(*(word.format(store=root) for word in command))
            assert called.code in ENDINGS, (command, called.err)
            assert "Traceback" not in called.err


@settings(max_examples=20, deadline=None)
@given(
    noise=st.binary(max_size=400), name=st.sampled_from(["00000000000000000000", "x.bin", "checkpoint", "wire.jsonl"])
)
@pytest.mark.parametrize("reader", ["commitlog", "regions", "dledger", "consumequeue", "index", "checkpoint", "timer"])
def test_any_file_dumped_as_anything(reader: str, noise: bytes, name: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(noise)
        called = call("dump", reader, path)
        assert called.code in ENDINGS, called.err


@settings(max_examples=30, deadline=None)
@given(
    noise=st.binary(max_size=300), name=st.sampled_from(["broker.log", "rocketmq_client.log", "wire.jsonl", "x.pcap"])
)
def test_any_recording_replayed(noise: bytes, name: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(noise)
        called = call("replay", path)
        assert called.code in ENDINGS, called.err


@settings(max_examples=30, deadline=None)
@given(line=st.binary(max_size=80) | st.text(max_size=40).map(str.encode))
def test_any_question(line: bytes) -> None:
    called = call("allocate", stdin=line)
    assert called.code in (0, 4), called.err
