"""What holds for any entries and any bytes of a DLedger log: round trips, every byte named, slices that meet."""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from parsers.commitlog.batches.schema import MESSAGE_SCHEMA
from parsers.commitlog.batches.segment import read_segment, regions_of
from parsers.commitlog.dledger_headers.entry import EntryHeader, decode_header, encode_header, new_header
from parsers.commitlog.dledger_headers.layout import ENTRY_START, HEADER_SIZE, MAGIC_BLANK
from parsers.commitlog.record.message import decode_message, encode_message
from parsers.damage.errors import unheard
from parsers.dledger.entries import ENTRY_SCHEMA, read_entries
from parsers.store.store_file import StoreFile, classify
from parsers.values.java import crc31
from tests.support.commitlog_strategies import INT, LONG, edited, messages

HEADERS = st.builds(EntryHeader, INT, LONG, LONG, LONG, INT, INT, INT, INT, INT)


@st.composite
def entry_files(draw: Any, most: int = 6) -> bytes:
    """A data file with base offset 0: entries of rising terms, then zeros, a blank, or anything."""
    content, term = b"", 0
    for number in range(draw(st.integers(0, most))):
        message = draw(messages(physical_offset=len(content) + HEADER_SIZE))
        term += draw(st.integers(0, 2))
        header = new_header(message.total_size, entry_index=number, position=len(content), term=term)
        content += encode_header(header) + encode_message(replace(message, body_crc=crc31(message.body)))
    left = draw(st.integers(ENTRY_START.size, 60))
    blank = ENTRY_START.pack({"magic": MAGIC_BLANK, "entry_size": left}).ljust(left, b"\0")
    tail: bytes = draw(st.sampled_from([b"", bytes(left), blank]))
    return content + tail


@st.composite
def damaged_files(draw: Any) -> bytes:
    """A data file with flips, cuts, zeros and repeats."""
    return draw(edited(draw(entry_files())))


def saved(content: bytes, folder: str) -> StoreFile:
    path = Path(folder) / "dledger-n0" / "data" / f"{0:020d}"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return classify(Path(folder), path)


@given(HEADERS)
def test_a_header_decodes_to_what_was_encoded(header: EntryHeader) -> None:
    assert decode_header(encode_header(header)) == header


@given(entry_files())
def test_every_entry_of_a_whole_file_is_a_message_and_a_header(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = saved(content, folder)
        assert {region.kind for region in regions_of(file)} <= {"messages", "blank", "unwritten"}
        rows = pa.Table.from_batches(read_entries([file], damage=unheard), ENTRY_SCHEMA).to_pylist()
    for number, row in enumerate(rows):
        header = decode_header(content, row["position"])
        assert (row["entry_index"], row["term"], row["entry_size"]) == (number, header.term, header.entry_size)
        message = decode_message(content, row["physical_offset"])
        assert (message.physical_offset, message.total_size) == (row["physical_offset"], row["msg_size"])
    assert sum(row["entry_size"] for row in rows) <= len(content)


@given(damaged_files() | st.binary(max_size=600), st.lists(st.integers(0, 2000), max_size=6), st.booleans())
def test_every_byte_is_accounted_for_however_a_file_is_cut(content: bytes, cuts: list[int], followed: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = saved(content, folder)
        if followed and content:
            file.path.with_name(f"{len(content):020d}").write_bytes(b"\0\0\0\1\0\0\0\x99")
        regions = regions_of(file)
        assert sum(region.length for region in regions) == len(content)
        assert [region.file_pos for region in regions] == [0, *(region.end for region in regions[:-1])][: len(regions)]
        whole = pa.Table.from_batches(read_segment(file), MESSAGE_SCHEMA)
        edges = [0, *sorted(cuts), len(content)]
        sliced = [
            batch
            for start, end in itertools.pairwise(edges)
            if start < len(content)
            for batch in read_segment(file, between=(start, min(end, len(content))))
        ]
        assert pa.Table.from_batches(sliced, MESSAGE_SCHEMA).equals(whole)
        for offset in whole["physical_offset"].to_pylist():
            assert decode_message(content, offset).physical_offset == offset
