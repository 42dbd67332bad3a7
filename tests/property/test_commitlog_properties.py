"""What holds for any message and any bytes: round trips, the two decoders agreeing, every byte accounted for."""

from __future__ import annotations

import itertools
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from parsers.commitlog.batches.schema import MESSAGE_SCHEMA, schema_of
from parsers.commitlog.batches.segment import Decoding, read_segment, regions_of
from parsers.commitlog.compiled.shape import shape_of
from parsers.commitlog.files.region import Region
from parsers.commitlog.record.host import Host, decode_message_id, encode_message_id
from parsers.commitlog.record.message import Message, decode_message, encode_message
from parsers.commitlog.record.properties import (
    PropertyRule,
    decode_properties,
    decode_record_crc,
    encode_properties,
    encode_record_crc,
    last_value,
)
from parsers.commitlog.record.tags import tags_hash
from parsers.damage.errors import StoreFormatError
from parsers.kernels.crc32 import crc32_by_folding, crc32_by_tables
from parsers.kernels.utf8 import copy_repaired, is_valid
from parsers.store.store_file import StoreFile, classify
from parsers.values.java import decode_utf8
from parsers.values.utc import FIRST_MS, LAST_MS
from tests.support.commitlog_strategies import HOST, LONG, damaged_files, log_files, messages


def saved(content: bytes, folder: str) -> StoreFile:
    path = Path(folder) / "commitlog" / f"{0:020d}"
    path.parent.mkdir()
    path.write_bytes(content)
    return classify(Path(folder), path)


@given(messages())
def test_a_message_decodes_to_what_was_encoded(message: Message) -> None:
    assert decode_message(encode_message(message)) == message


@given(damaged_files(), st.integers(0, 50))
def test_bytes_that_decode_encode_back_and_both_decoders_agree_which_do(content: bytes, at: int) -> None:
    data = np.frombuffer(memoryview(content), np.uint8)
    for place in (0, min(at, len(content))):
        shape = shape_of(data, place)
        try:
            message = decode_message(content, place)
        except StoreFormatError:
            assert shape[0] == 0
        else:
            assert encode_message(message) == content[place : place + message.total_size]
            body_at = place + message.total_size - len(message.body) - shape[4] - shape[6]
            assert (shape[0], shape[2]) == (message.total_size, len(message.body))
            assert body_at > place


@given(log_files(), st.sampled_from(["first_separator", "split"]))
def test_the_compiled_decoder_gives_what_the_scalar_one_gives(content: bytes, rule: PropertyRule) -> None:
    with tempfile.TemporaryDirectory() as folder:
        columns = [*MESSAGE_SCHEMA.names, "tags_code", "body", "body_view"]
        table = pa.Table.from_batches(
            read_segment(saved(content, folder), columns=columns, decoding=Decoding(rule=rule)), schema_of(columns)
        )
    table.validate(full=True)
    for row in _with_plain_times(table).to_pylist():
        message = decode_message(content, row["physical_offset"])
        assert row.pop("body_view") == row["body"]
        assert row == _scalar_row(message, rule)


def _with_plain_times(table: pa.Table) -> pa.Table:
    for name in ("born_timestamp", "store_timestamp"):
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(pa.int64()))
    return table.drop_columns(["broker", "file"])


def _scalar_row(message: Message, rule: PropertyRule) -> dict[str, object]:
    names = ("physical_offset", "total_size", "magic_code", "body_crc", "queue_id", "flag", "queue_offset", "sys_flag")
    more = ("reconsume_times", "prepared_transaction_offset", "body_size", "body", "topic", "message_id")
    words = ("transaction_type", "compression", "record_crc_ok")
    properties = message.properties(rule)
    return {
        **{name: getattr(message, name) for name in (*names, *more, *words)},
        "born_timestamp": _micros(message.born_timestamp_ms),
        "store_timestamp": _micros(message.store_timestamp_ms),
        "born_host": message.born_host.text,
        "store_host": message.store_host.text,
        "properties": [{"name": name, "value": value} for name, value in properties],
        "keys": last_value(properties, "KEYS"),
        "tags": last_value(properties, "TAGS"),
        "unique_id": last_value(properties, "UNIQ_KEY"),
        "tags_code": tags_hash(last_value(properties, "TAGS")),
        "crc_ok": message.body_crc_ok,
    }


def _micros(epoch_ms: int) -> int | None:
    return epoch_ms * 1000 if FIRST_MS <= epoch_ms <= LAST_MS else None


@given(damaged_files() | st.binary(max_size=600), st.lists(st.integers(0, 2000), max_size=6), st.booleans())
@example(b"", [], False)
def test_every_byte_is_accounted_for_however_a_file_is_cut(content: bytes, cuts: list[int], followed: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = saved(content, folder)
        if followed and content:
            file.path.with_name(f"{len(content):020d}").write_bytes(b"\0\0\0\x5bnext")
        regions = regions_of(file)
        assert sum(region.length for region in regions) == len(content)
        whole = pa.Table.from_batches(read_segment(file), MESSAGE_SCHEMA)
        edges = [0, *sorted(cuts), len(content)]
        parts: list[Region] = []
        sliced = [
            batch
            for start, end in itertools.pairwise(edges)
            if start < len(content)
            for batch in read_segment(file, between=(start, min(end, len(content))), regions=parts.append)
        ]
        assert pa.Table.from_batches(sliced, MESSAGE_SCHEMA).equals(whole)
        assert outline(parts) == outline(regions)
        bad = sum(region.records for region in regions if region.kind == "damage" and region.error.field in CRC_FIELDS)
        good = sum(region.records for region in regions if region.kind == "messages")
        assert whole.num_rows == good + bad


def outline(regions: list[Region]) -> list[tuple[str, int]]:
    """What the bytes are, end to end: the kinds and where each ends. Every byte is in one of them."""
    assert [region.file_pos for region in regions] == [0, *(region.end for region in regions[:-1])][: len(regions)]
    kinds = itertools.groupby(regions, lambda region: region.kind)
    return [(kind, [region.end for region in together][-1]) for kind, together in kinds]


CRC_FIELDS = ("body_crc", "__CRC32#")


@given(st.lists(st.tuples(st.text("ab=é键😀", min_size=1), st.text("ab=é键😀\x01", min_size=1))), st.booleans())
def test_properties_round_trip_in_stored_order(pairs: list[tuple[str, str]], trailing: bool) -> None:
    assert decode_properties(encode_properties(pairs, trailing_separator=trailing)) == pairs


@given(st.binary(max_size=400), st.integers(0, 30))
def test_crc_and_text_kernels_equal_the_standard_library(data: bytes, at: int) -> None:
    source = np.frombuffer(data + bytes(64), np.uint8)
    size = max(0, len(data) - at)
    for crc32 in (crc32_by_folding, crc32_by_tables):
        assert crc32(source, at, size) == zlib.crc32(data[at:])
    target, text = np.zeros(3 * size + 64, np.uint8), decode_utf8(data[at:]).encode()
    assert target[: copy_repaired(target, 0, source, at, size)].tobytes() == text
    assert is_valid(source, at, size) == (text == data[at:])


@given(HOST, LONG)
def test_message_ids_round_trip(host: Host, physical_offset: int) -> None:
    assert decode_message_id(encode_message_id(host, physical_offset)) == (host, physical_offset)


@given(st.integers(0, 2**31 - 1))
def test_record_crcs_round_trip(crc: int) -> None:
    assert decode_record_crc(encode_record_crc(crc)) == crc
