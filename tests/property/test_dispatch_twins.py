"""The compiled scan and writers against the scalar rules: the same units, keys and bytes for any records."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsers.commitlog.record.message import decode_message, encode_message
from parsers.commitlog.record.tags import DelayLevels
from parsers.index.geometry import Geometry
from parsers.values.java import index_key_hash
from recovery.rebuild.index_files import IndexFilesWriter
from recovery.rebuild.index_writer import IndexWriter
from recovery.rebuild.queue_files import QueueFilesWriter
from recovery.rebuild.queue_writer import QueueWriter
from recovery.rules.dispatch import (
    DispatchRequest,
    DispatchRules,
    InvalidForDispatch,
    QueueUnit,
    index_keys,
    queue_units,
)
from recovery.rules.versions import BrokerVersion
from recovery.scan.kernel import ScanBatch
from recovery.scan.record_walk import walk
from recovery.scan.scanner import LogScanner
from tests.support.batch_queue_writer import BatchQueueWriter
from tests.support.commitlog_strategies import messages
from tests.support.new_message import new_message

FILE_SIZE, BATCH_FILE_SIZE = 100, 138
GEOMETRY = Geometry(7, 9)
TOPICS = ("T", "Batch", "SCHEDULE_TOPIC_XXXX", "%RETRY%g", "%LMQ%a", "rmq_sys_wheel_timer", "主题", "a/b")
VALUES = (
    "",
    "1",
    "2",
    "99",
    "-1",
    "x",
    "k1 k2",
    "a  b ",
    "%LMQ%a,%LMQ%b",
    "%LMQ%a,T",
    "0,1",
    "3,",
    "键",
    "a/b,T",
    "7" * 19,
)
NAMES = (
    "KEYS",
    "TAGS",
    "UNIQ_KEY",
    "DELAY",
    "INNER_NUM",
    "INNER_BASE",
    "INNER_MULTI_DISPATCH",
    "INNER_MULTI_QUEUE_OFFSET",
)


@st.composite
def rule_sets(draw: Any) -> DispatchRules:
    return DispatchRules(
        version=draw(
            st.sampled_from(
                [BrokerVersion(*v) for v in ((3, 2, 6), (4, 4, 0), (4, 9, 8), (5, 1, 0), (5, 3, 3), (5, 5, 1))]
            )
        ),
        delay_levels=DelayLevels((1000, 5000, 60_000)),
        batch_topics=frozenset(draw(st.sampled_from([(), ("Batch",)]))),
        enable_lmq=draw(st.booleans()),
        enable_multi_dispatch=draw(st.booleans()),
    )


@st.composite
def properties(draw: Any) -> bytes:
    """Entries of the names that dispatch reads, whole and broken."""
    entry = st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)).map(lambda pair: "\x01".join(pair).encode())
    broken = st.sampled_from(
        [b"", b"KEYS", b"TAGS\x01", b"\x01x", b"TAGS\x01a\x01b", b"UNIQ_KEY\x01\xff\xfe", b"KEYSX\x01y"]
    )
    return b"\x02".join(draw(st.lists(st.one_of(entry, entry, entry, broken), max_size=7)))


@st.composite
def logs(draw: Any) -> bytes:
    """Records one after another: mostly of the shop's kind, some with anything in them."""
    content = b""
    for _ in range(draw(st.integers(1, 12))):
        if draw(st.integers(0, 5)) == 0:
            odd = draw(messages(physical_offset=len(content)))
            content += encode_message(replace(odd, queue_offset=odd.queue_offset >> 8))  # times 20 it stays a long
            continue
        content += encode_message(
            new_message(
                draw(st.sampled_from(TOPICS)),
                b"",
                queue_id=draw(st.sampled_from([0, 1, -1])),
                queue_offset=draw(st.one_of(st.integers(0, 12), st.just(-3))),
                physical_offset=len(content),
                store_timestamp_ms=draw(st.integers(0, 10**7)),
                sys_flag=draw(st.sampled_from([0, 0, 0, 4, 8, 12])),
                properties_stored=draw(properties()),
            )
        )
    return content


def scanned(content: bytes, rules: DispatchRules) -> tuple[LogScanner, ScanBatch]:
    data, positions = np.frombuffer(content, np.uint8), np.empty(len(content), np.int64)
    count, _ = walk(data, 0, 0, 0, positions)
    scanner = LogScanner(rules)
    return scanner, scanner.scan(data, positions[:count])


def asked(
    content: bytes, batch: ScanBatch, rules: DispatchRules
) -> list[tuple[DispatchRequest, list[QueueUnit], list[str]]]:
    """What the scalar rules make of the same records; one that is invalid for dispatch gives nothing."""
    answers = []
    for at in batch.records.file_pos.tolist():
        request = DispatchRequest.of(decode_message(content, at), rules)
        try:
            answers.append((request, queue_units(request, rules), index_keys(request, rules)))
        except InvalidForDispatch:
            answers.append((request, [], []))
    return answers


@given(logs(), rule_sets())
def test_scan_gives_the_units_and_keys_of_the_rules(content: bytes, rules: DispatchRules) -> None:
    scanner, batch = scanned(content, rules)
    names, records, units = scanner.topics.names, batch.records, batch.units
    answers = asked(content, batch, rules)
    rows = 0
    for row, (_, expected, keys) in enumerate(answers):
        mine = batch.keys[records.first_key[row] : records.first_key[row + 1]].tolist()
        assert mine == [index_key_hash(key) for key in keys]
        for unit in expected:
            assert units.record[rows] == row
            assert names[units.topic[rows]] == unit.topic
            assert (units.queue_id[rows], units.queue_offset[rows]) == (unit.queue_id, unit.queue_offset)
            assert units.message_count[rows] == (unit.message_count if unit.in_batch_queue else 0)
            assert records.tags_code[row] == unit.tags_code
            rows += 1
    assert rows == len(units.record)


@given(logs(), rule_sets())
def test_queue_files_are_what_the_scalar_writer_writes(content: bytes, rules: DispatchRules) -> None:
    scanner, batch = scanned(content, rules)
    expected: dict[tuple[str, int, bool], tuple[QueueWriter | BatchQueueWriter, bytearray]] = {}
    for _, units, _ in asked(content, batch, rules):
        for unit in units:
            key = unit.topic, unit.queue_id, unit.in_batch_queue
            if key not in expected:
                expected[key] = _writer(unit.in_batch_queue)
            expected[key][0].put(unit)
    with tempfile.TemporaryDirectory() as folder:
        writer = QueueFilesWriter(Path(folder), scanner.topics, file_size=FILE_SIZE, batch_file_size=BATCH_FILE_SIZE)
        writer.write(batch)
        writer.close()
        for total in writer.totals():
            scalar, written = expected.pop((total.topic, total.queue_id, total.is_batch))
            kind = "batchconsumequeue" if total.is_batch else "consumequeue"
            assert total.written is (total.topic != "a/b" and _is_name(total.topic))
            if total.written and scalar.last_file is not None:
                files = sorted((Path(folder) / kind / total.topic / str(total.queue_id)).iterdir())
                assert b"".join(path.read_bytes() for path in files).rstrip(b"\0") == bytes(written).rstrip(b"\0")
                assert int(files[-1].name) == scalar.last_file
    assert not expected


def _is_name(topic: str) -> bool:
    return topic not in ("", ".", "..") and "\0" not in topic and "/" not in topic and len(topic.encode()) <= 255


def _writer(in_batch_queue: bool) -> tuple[QueueWriter | BatchQueueWriter, bytearray]:
    written = bytearray()
    first: list[int] = []

    def sink(position: int, data: bytes) -> None:
        size = BATCH_FILE_SIZE if in_batch_queue else FILE_SIZE
        first.append(position - position % size)
        at = position - first[0]
        written.extend(bytes(max(0, at + len(data) - len(written))))
        written[at : at + len(data)] = data

    return (BatchQueueWriter(BATCH_FILE_SIZE, sink) if in_batch_queue else QueueWriter(FILE_SIZE, sink)), written


@given(logs(), rule_sets())
def test_index_files_are_what_the_scalar_writer_writes(content: bytes, rules: DispatchRules) -> None:
    _, batch = scanned(content, rules)
    scalar = IndexWriter(GEOMETRY, count_puts=rules.version.counts_index_puts_as_slots)
    for row, (request, _, keys) in enumerate(asked(content, batch, rules)):
        if batch.records.state[row] == 0:
            scalar.put(request, keys)
    with tempfile.TemporaryDirectory() as folder:
        writer = IndexFilesWriter(Path(folder), GEOMETRY, rules.version)
        writer.write(batch)
        writer.close()
        files = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    empty_count = rules.version.writes_count_of_empty_index
    assert files == [bytes(file.with_counts(write_empty_count=empty_count)) for file in scalar.files]
