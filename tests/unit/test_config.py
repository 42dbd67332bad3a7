"""fastjson's habits, the .bak rule, and what becomes of config files that are damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.config.document import read_document
from parsers.config.groups import read_groups
from parsers.config.offsets import ConsumerOffset, offsets_to_batch, read_delay_offsets, read_offsets
from parsers.config.topics import read_topics, topics_to_batch
from parsers.damage.errors import CorruptRecord, Damage, StoreFormatError
from parsers.layouts.fastjson import Json, parse, whole_number
from parsers.store.store_file import StoreFile, classify

ONE_LINE = '{\n\t"offsetTable":{\n\t\t"A@G":{0:1,1:2\n\t\t},"B@G@broadcast":{3:4\n\t\t}\n\t}\n}'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":{0:123,1:456,10:7\n}}', {"a": {"0": 123, "1": 456, "10": 7}}),
        ('{"a":{\n\t0:8\n},}', {"a": {"0": 8}}),
        ("{'it''s':1}", None),
        (r"{'it\'s':'\"x\"'}", {"it's": '"x"'}),
        ("{name:1, $x_1:[1,,2,], true:false}", {"name": 1, "$x_1": [1, 2], "true": False}),
        ("/* a */ {1:2 // b\n}", {"1": 2}),
        ('{"x":"a{1:2},{3:4}","y":{5:6}}', {"x": "a{1:2},{3:4}", "y": {"5": 6}}),
        ('{"a":1,"a":2}', {"a": 2}),
        ('{"n":-9223372036854775808}', {"n": -(2**63)}),
        ('{"n":NaN}', None),
        ('{"n":"\\ud800"}', None),
        ("", None),
        ("{1:", None),
        ('{"a":"unfinished', None),
        ("[" * 200_000, None),
        ("1" * 10_000, None),
    ],
)
def test_fastjson_habits(text: str, value: Json) -> None:
    if value is None:
        with pytest.raises(CorruptRecord):
            parse(text.encode())
    else:
        assert parse(text.encode()) == value


@pytest.mark.parametrize("unit", ['"\\', "/*", "1", ",  ", "'", "a:", "{1:", "//", "\\", "-.", " "])
def test_any_text_is_read_in_linear_time(unit: str) -> None:
    """A scan that gives back and tries again would take hours here."""
    with pytest.raises(CorruptRecord):
        parse((unit * 200_000 + "?").encode())


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (5, 5),
        ("9007199254740993", 9007199254740993),
        (True, None),
        (1.0, None),
        ("1e3", None),
        (2**63, None),
        ("٣", None),
    ],
)
def test_whole_numbers(value: Json, number: int | None) -> None:
    assert whole_number(value) == number


def write(folder: Path, **texts: str | bytes) -> list[StoreFile]:
    (folder / "config").mkdir()
    for name, text in texts.items():
        path = folder / "config" / name.replace("_", ".")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [classify(folder, path) for path in sorted((folder / "config").iterdir())]


def test_offsets_are_split_at_the_first_at_sign(tmp_path: Path) -> None:
    files = write(tmp_path, consumerOffset_json=ONE_LINE)
    assert [offset for _, offset in read_offsets(files)] == [
        ConsumerOffset("G", "A", 0, 1, "committed"),
        ConsumerOffset("G", "A", 1, 2, "committed"),
        ConsumerOffset("G@broadcast", "B", 3, 4, "committed"),
    ]
    assert offsets_to_batch(read_offsets(files))["file"].to_pylist() == ["consumerOffset.json"] * 3


@pytest.mark.parametrize("main", ["", '{"offsetTable":{"A@G":{0:', "[]", b"\xff\xfe"])
def test_the_backup_stands_in_for_a_file_that_is_no_use(tmp_path: Path, main: str | bytes) -> None:
    files = write(tmp_path, consumerOffset_json=main, consumerOffset_json_bak=ONE_LINE)
    seen: list[Damage] = []
    document = read_document(files, "consumerOffset.json", damage=seen.append)
    assert document is not None
    assert document.file.path.name == "consumerOffset.json.bak"
    assert len(document.table("offsetTable")) == 2
    assert [row.path for row in seen] == ([files[0].path] if main else [])
    if main:
        with pytest.raises(StoreFormatError):
            read_document(files, "consumerOffset.json")


def test_neither_file_is_an_empty_state(tmp_path: Path) -> None:
    assert read_offsets(write(tmp_path)) == []


def test_a_file_of_0_bytes_is_an_empty_state_that_no_broker_wrote(tmp_path: Path) -> None:
    seen: list[Damage] = []
    files = write(tmp_path, consumerOffset_json="")
    assert read_offsets(files, damage=seen.append) == []
    assert [(each.path and each.path.name, each.actual) for each in seen] == [("consumerOffset.json", "0 bytes")]


def test_odd_values_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        consumerOffset_json='{"offsetTable":{"A@G":{0:1,x:2,1:"3",2:null,4:99999999999999999999},"noat":{0:1},"B":7}}',
        topics_json='{"topicConfigTable":{"T":{"perm":6,"attributes":{"queue.type":"BatchCQ"}},"U":3}}',
        subscriptionGroup_json='{"subscriptionGroupTable":{"G":[],"H":{"retryMaxTimes":3}}}',
        delayOffset_json='{"offsetTable":{1:5,"x":6}}',
    )
    seen: list[Damage] = []
    offsets = read_offsets(files, damage=seen.append)
    assert [(offset.queue_id, offset.consumer_offset) for _, offset in offsets] == [(0, 1), (1, 3)]
    topics = read_topics(files, damage=seen.append)
    assert topics_to_batch(topics).to_pylist() == [
        {
            **dict.fromkeys(topics_to_batch(topics).schema.names),
            "file": "topics.json",
            "topic": "T",
            "perm": 6,
            "attributes": '{"queue.type": "BatchCQ"}',
        }
    ]
    ((_, group),) = read_groups(files, damage=seen.append)
    assert (group.group, group.retry_max_times, group.is_ordered) == ("H", 3, None)
    assert read_delay_offsets(files, damage=seen.append) == {1: 5}
    assert [row.field for row in seen] == [
        "A@G.x",
        "A@G.2",
        "A@G.4",
        "noat.0",
        "topicConfigTable.U",
        "subscriptionGroupTable.G",
        "offsetTable.x",
    ]
