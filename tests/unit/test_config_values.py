"""Texts that the decode() of real ConfigManagers takes, and those on which it fails, as recorded version by version."""

from __future__ import annotations

import pytest

from recovery.config.files import LOAD_ORDER
from recovery.config.load import CopyState, decode_copy
from recovery.rules.versions import BrokerVersion

FILES = {file.name: file for file, _ in LOAD_ORDER}
VERSIONS = ("4.9.7", "5.3.3", "5.5.0")
Row = tuple[str, str, tuple[bool, bool, bool]]
RECORDED: list[Row] = [
    ("topics.json", "{}", (True, True, True)),
    ("topics.json", "null", (True, True, True)),
    ("topics.json", "[]", (True, True, False)),
    ("topics.json", "\n", (True, True, False)),
    ("topics.json", '""', (True, True, True)),
    ("topics.json", "\0\0", (False, False, False)),
    ("topics.json", "[1]", (False, False, False)),
    ("topics.json", "{} {}", (False, False, False)),
    ("topics.json", "\ufeff{}", (True, True, True)),
    ("topics.json", "{}\0", (True, True, True)),
    ("topics.json", '{"topicConfigTable":null}', (False, False, False)),
    ("topics.json", '{"topicConfigTable":[]}', (False, False, False)),
    ("topics.json", '{"topicConfigTable":{"a":null}}', (False, False, False)),
    ("topics.json", '{"topicConfigTable":{"a\tb":{}}}', (True, True, True)),
    ("topics.json", '{"dataVersion":null,"topicConfigTable":{}}', (False, False, False)),
    ("topics.json", '{"dataVersion":{"counter":"x"},"topicConfigTable":{}}', (False, False, False)),
    ("subscriptionGroup.json", "\n", (False, True, False)),
    ("subscriptionGroup.json", "[]", (True, True, False)),
    ("subscriptionGroup.json", '{"dataVersion":null,"subscriptionGroupTable":{}}', (True, False, False)),
    ("consumerOffset.json", "\n", (True, False, False)),
    ("consumerOffset.json", "[]", (True, True, False)),
    ("consumerOffset.json", "[ ]", (True, False, False)),
    ("consumerOffset.json", '{"offsetTable":null}', (True, True, True)),
    ("consumerOffset.json", '{"offsetTable":{"T@G":{0:1}}}', (True, True, True)),
    ("consumerOffset.json", '{"offsetTable":{"T@G":{"0":"1"}}}', (True, True, True)),
    ("consumerOffset.json", '{"offsetTable":{"T@G":{"x":1}}}', (False, False, False)),
    ("consumerOffset.json", '{"offsetTable":{"T@G":1}}', (False, False, False)),
    ("consumerOffset.json", '{"dataVersion":1,"offsetTable":{}}', (True, False, False)),
    ("delayOffset.json", '{"offsetTable":{1:2}}', (True, True, True)),
    ("delayOffset.json", '{"offsetTable":{1:null}}', (False, False, False)),
    ("delayOffset.json", '{"offsetTable":{99999999999:1}}', (False, False, False)),
    ("delayOffset.json", '{"dataVersion":null,"offsetTable":{}}', (True, True, True)),
    ("consumerFilter.json", '{"dataVersion":1,"filterDataByTopic":{}}', (True, True, True)),
    ("consumerFilter.json", '{"filterDataByTopic":null}', (True, True, True)),
]


@pytest.mark.parametrize(("name", "text", "taken"), RECORDED)
def test_what_decode_takes(name: str, text: str, taken: tuple[bool, bool, bool]) -> None:
    told = tuple(
        decode_copy(text, FILES[name], name, BrokerVersion.parse(version)).state is CopyState.READABLE
        for version in VERSIONS
    )
    assert told == taken


def test_a_mapping_without_its_table_stops_a_broker() -> None:
    name = "topicQueueMapping.json"
    assert decode_copy("{}", FILES[name], name, BrokerVersion(5, 3, 3)).state is CopyState.UNREADABLE


def test_rows_before_a_break_are_kept() -> None:
    name = "consumerOffset.json"
    copy = decode_copy('{"offsetTable":{"A@G":{0:5},"B@G":{0:6,', FILES[name], name, BrokerVersion(5, 3, 3))
    assert (copy.rows, copy.beginning) == ({}, {"A@G": {"0": 5}})
