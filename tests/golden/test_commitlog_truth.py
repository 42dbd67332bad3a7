"""Every field of every message of real brokers' stores, by both decoders, against what MessageDecoder said."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.batches.schema import ALL_COLUMNS, schema_of
from parsers.commitlog.batches.segment import read_segment, regions_of
from parsers.commitlog.dledger_headers.layout import HEADER_SIZE
from parsers.commitlog.record.body import decompress
from parsers.commitlog.record.message import Message, decode_message, encode_message
from parsers.commitlog.record.tags import tags_hash
from parsers.damage.errors import Damage
from parsers.evidence.mapped import map_file
from parsers.store.store import Store
from tests.support.java_message import FIELDS, columns_of
from tests.support.opened import opened_golden
from tests.support.stores import store_names, truth_lines

stores = pytest.mark.parametrize("name", store_names(subject="every message"))


def expected_row(truth: dict[str, Any]) -> dict[str, Any]:
    """The row of ALL_COLUMNS that a line of messages.jsonl.gz asks for; bodies by their hash, times in microseconds."""
    properties = truth["properties"]
    kind = truth["sysFlag"] >> 8 & 7 if truth["sysFlag"] & 1 else None
    return columns_of(truth) | {
        "properties": truth["propertiesStored"],
        "keys": properties.get("KEYS"),
        "tags": properties.get("TAGS"),
        "unique_id": truth["uniqKey"],
        "crc_ok": True,
        "record_crc_ok": True if "__CRC32#" in properties else None,
        "transaction_type": ("none", "prepared", "commit", "rollback")[truth["sysFlag"] >> 2 & 3],
        "compression": None if kind is None else ("zlib", "lz4", "zstd", "zlib")[kind],
        "tags_code": tags_hash(properties.get("TAGS")),
        "body": truth["rawBodySha256"],
        "body_decompressed": truth["bodySha256"],
    }


def scalar_row(message: Message) -> dict[str, Any]:
    properties = message.properties()
    return {
        **{column: getattr(message, column) for column in FIELDS},
        "born_timestamp": message.born_timestamp_ms * 1000,
        "store_timestamp": message.store_timestamp_ms * 1000,
        "born_host": message.born_host.text,
        "store_host": message.store_host.text,
        "properties": [list(pair) for pair in properties],
        "keys": message.property_value("KEYS"),
        "tags": message.property_value("TAGS"),
        "unique_id": message.property_value("UNIQ_KEY"),
        "crc_ok": message.body_crc_ok,
        "record_crc_ok": message.record_crc_ok,
        "transaction_type": message.transaction_type,
        "compression": message.compression,
        "tags_code": tags_hash(message.property_value("TAGS")),
        "body": sha256(message.body),
        "body_decompressed": sha256(decompress(message.body, message.sys_flag)),
    }


def vector_rows(store: Store, name: str) -> Iterator[dict[str, Any]]:
    findings: list[Damage] = []
    for batch in read_commitlog(store, columns=ALL_COLUMNS.names, damage=findings.append):
        batch.validate(full=True)
        assert set(batch["broker"].to_pylist()) == {None}
        for column in ("born_timestamp", "store_timestamp"):
            batch = batch.set_column(batch.schema.get_field_index(column), column, batch[column].cast(pa.int64()))
        for row in batch.drop_columns(["broker", "file"]).to_pylist():
            row["properties"] = [[pair["name"], pair["value"]] for pair in row["properties"]]
            yield row | {column: sha256(row[column]) for column in ("body", "body_decompressed")}
    assert findings == []


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def messages_of(name: str) -> list[dict[str, Any]]:
    return [line for line in truth_lines(name, "messages.jsonl.gz") if line["type"] == "message"]


@stores
def test_the_compiled_decoder_reads_what_the_broker_reads(name: str) -> None:
    expected = [expected_row(line) for line in messages_of(name)]
    assert list(vector_rows(opened_golden(name)[0], name)) == expected


@stores
def test_the_scalar_decoder_reads_what_the_broker_reads_and_writes_it_back(name: str) -> None:
    store = opened_golden(name)[0]
    views = {file.base_offset: map_file(file.path) for file in store.commitlog}
    file_size = store.commitlog[0].size
    for line in messages_of(name):
        place = line["physicalOffset"] % file_size
        view = views[line["physicalOffset"] - place]
        message = decode_message(view, place)
        assert scalar_row(message) == expected_row(line)
        assert message.properties_size == line["propertiesLength"]
        assert encode_message(message) == view[place : place + message.total_size]


@stores
def test_every_byte_is_a_message_a_blank_or_unwritten(name: str) -> None:
    store = opened_golden(name)[0]
    lines = list(truth_lines(name, "messages.jsonl.gz"))
    blanks = [(line["physicalOffset"], line["size"]) for line in lines if line["type"] == "blank"]
    if store.log_is_dledgers:  # whose truth has messages alone
        ends = [line["physicalOffset"] + line["size"] for line in lines]
        starts = [line["physicalOffset"] - HEADER_SIZE for line in lines]
        blanks = [(end, start - end) for end, start in zip(ends, starts[1:], strict=False) if start > end]
    regions = [(file.base_offset, region) for file in store.commitlog for region in regions_of(file)]
    found = [(base + region.file_pos, region.length) for base, region in regions if region.kind == "blank"]
    assert found == blanks
    assert {region.kind for _, region in regions} <= {"messages", "blank", "unwritten"}
    assert sum(region.records for _, region in regions) == len(messages_of(name))
    assert sum(region.length for _, region in regions) == sum(file.size for file in store.commitlog)


@stores
@pytest.mark.parametrize("slices", [2, 7, 31])
def test_slices_give_each_message_once(name: str, slices: int) -> None:
    for file in opened_golden(name)[0].commitlog:
        cuts = [file.size * number // slices for number in range(slices + 1)]
        sliced = [
            offset
            for start, end in itertools.pairwise(cuts)
            for batch in read_segment(file, columns=["physical_offset"], between=(start, end), damage=None)
            for offset in batch["physical_offset"].to_pylist()
        ]
        whole = pa.Table.from_batches(read_segment(file, columns=["physical_offset"]), schema_of(["physical_offset"]))
        assert sliced == whole["physical_offset"].to_pylist()
