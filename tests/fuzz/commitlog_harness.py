"""What is done with any bytes as a file of a log: a CommitLog, or a DLedger log."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from parsers.commitlog.batches.schema import ALL_COLUMNS
from parsers.commitlog.batches.segment import read_segment, regions_of
from parsers.commitlog.record.message import decode_message, encode_message
from parsers.damage.errors import Damage, StoreFormatError, unheard
from parsers.dledger.entries import read_entries
from parsers.explain.explain import explain_file
from parsers.store.store_file import StoreFile, classify

COMMITLOG, DLEDGER = f"commitlog/{0:020d}", f"dledger-n0/data/{0:020d}"


def read_anything(content: bytes, folder: Path, place: str = COMMITLOG) -> None:
    """Rows, or findings, or the typed error; every byte accounted for; slices give what the whole file gives."""
    file = saved(content, folder, place)
    regions = regions_of(file)
    assert sum(region.length for region in regions) == len(content)
    findings: list[Damage] = []
    table = pa.Table.from_batches(read_segment(file, columns=ALL_COLUMNS.names, damage=findings.append), ALL_COLUMNS)
    table.validate(full=True)
    for place in table["physical_offset"].to_pylist():
        at = place - (file.base_offset or 0)
        message = decode_message(content, at)
        assert encode_message(message) == content[at : at + message.total_size]
    cut = content[0] % (len(content) + 1) if content else 0
    parts = ((0, cut), (cut, None)) if 0 < cut < len(content) else ()
    halves = [batch for part in parts for batch in read_segment(file, between=part)]
    assert not halves or sum(batch.num_rows for batch in halves) == table.num_rows
    try:
        list(read_segment(file, damage=None))
    except StoreFormatError:
        assert any(region.error is not None for region in regions)


def read_as_entries(content: bytes, folder: Path) -> None:
    """As `read_anything`, of a DLedger log; and its headers, one for each message; a line for every byte."""
    read_anything(content, folder, DLEDGER)
    file = saved(content, folder, DLEDGER)
    rows = sum(batch.num_rows for batch in read_segment(file))
    assert sum(batch.num_rows for batch in read_entries([file], damage=unheard)) == rows
    assert sum(line.length for line in explain_file(file)) == len(content)


def saved(content: bytes, folder: Path, place: str = COMMITLOG) -> StoreFile:
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return classify(folder, path)
