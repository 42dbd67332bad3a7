"""What is done with any bytes as a CommitLog file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from parsers.commitlog.arrow import ALL_COLUMNS
from parsers.commitlog.message import decode_message, encode_message
from parsers.commitlog.segment import read_segment, regions_of
from parsers.errors import Damage, StoreFormatError
from parsers.store import StoreFile, classify


def read_anything(content: bytes, folder: Path) -> None:
    """Rows, or findings, or the typed error; every byte accounted for; slices give what the whole file gives."""
    file = saved(content, folder)
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
    halves = [*read_segment(file, end=cut), *read_segment(file, start=cut)] if 0 < cut < len(content) else []
    assert not halves or sum(batch.num_rows for batch in halves) == table.num_rows
    try:
        list(read_segment(file, on_damage="raise"))
    except StoreFormatError:
        assert any(region.error is not None for region in regions)


def saved(content: bytes, folder: Path) -> StoreFile:
    path = folder / "commitlog" / f"{0:020d}"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return classify(folder, path)
