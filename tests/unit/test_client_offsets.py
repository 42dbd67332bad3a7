"""offsets.json of broadcasting clients, as clients of each release wrote it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from parsers.config.client_offsets import client_offsets, is_client_offsets
from parsers.damage.errors import CorruptRecord
from tests.support.cli import call
from tests.support.stores import STORES, store_root, truth_lines

FILES = sorted(STORES.glob("*/truth/client_offsets/*/*/offsets.json"))
TWO = b'{"offsetTable":{{"brokerName":"a","queueId":0,"topic":"T"}:5,{"topic":"T","brokerName":"b","queueId":1}:7}}'


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parts[-6])
def test_a_broadcasting_client_has_consumed_all_that_its_queues_have(file: Path) -> None:
    """Each recorded client was stopped in order after it had consumed everything."""
    name = file.parts[-6]
    ends = {(row["topic"], row["queueId"]): row["maxOffset"] for row in truth_lines(name, "queues.jsonl.gz")}
    found = client_offsets(file.read_bytes())
    assert found
    assert all(each.consumer_offset == ends[each.topic, each.queue_id] for each in found)
    rows = call("lag", store_root(name), "--offsets", file.parents[2]).rows
    assert {(row["group"], row["messages_behind"]) for row in rows} == {(f"{file.parts[-2]}@{file.parts[-3]}", 0)}


def test_any_cut_is_named() -> None:
    assert [(each.broker, each.queue_id, each.consumer_offset) for each in client_offsets(TWO)] == [
        ("a", 0, 5),
        ("b", 1, 7),
    ]
    for size in range(len(TWO)):
        with pytest.raises(CorruptRecord):
            client_offsets(TWO[:size])
    for broken in (TWO.replace(b":5", b":-5"), TWO.replace(b"queueId", b"queue"), TWO.replace(b'"T"', b"[1]")):
        with pytest.raises(CorruptRecord):
            client_offsets(broken)
    assert not any(map(is_client_offsets, (b'{"offsetTable":{"T@g":{0:1}}}', b'{"offsetTable":{}}')))


def test_queues_of_several_brokers_and_copies_of_a_brokers_table_are_left_out(tmp_path: Path) -> None:
    mine = tmp_path / "c@1" / "G" / "offsets.json"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(TWO)
    several = call("lag", store_root("5.3.3-clean"), "--offsets", tmp_path)
    assert several.code == 3
    assert "queues of several brokers (a, b)" in several.err
    shutil.copyfile(FILES[0], mine)
    shutil.copyfile(store_root("5.3.3-clean") / "config" / "consumerOffset.json", tmp_path / "1795273774880.json")
    mixed = call("lag", store_root("5.3.3-clean"), "--offsets", tmp_path)
    assert "1 offsets.json of clients beside copies of a broker's table were left out" in mixed.err
    assert "G@c@1" not in {row["group"] for row in mixed.rows}
