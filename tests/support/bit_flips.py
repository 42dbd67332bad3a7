"""Flip every bit of a CommitLog file, one at a time, and say in which fields no check notices.

`python -m tests.support.bit_flips FILE [RECORDS]` does so for the first records of a real file and prints the list.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from parsers.commitlog.batches.segment import regions_of
from parsers.commitlog.files.logfile import open_log
from parsers.commitlog.record.layout import MAGIC_BLANK, RECORD_START
from parsers.explain.explain import explain_file
from parsers.store.store_file import StoreFile, classify


def first_records(file: StoreFile, records: int, folder: Path) -> StoreFile:
    """The first records of a file as a file of their own, closed by an end-of-file record."""
    log = open_log(file)
    end = 0
    for _ in range(records):
        end, _, _, _ = log.chain(end, end + 1, in_place=True)
    blank = RECORD_START.pack({"total_size": RECORD_START.size, "magic_code": MAGIC_BLANK})
    path = folder / "commitlog" / f"{log.base_offset:020d}"
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(log.view[:end]) + blank)
    return classify(folder, path)


def field_of_each_byte(file: StoreFile) -> list[str]:
    """The field that each byte of the file belongs to."""
    fields = [""] * file.size
    for line in explain_file(file):
        name = "properties" if line.field.startswith("property ") else line.field
        fields[line.file_pos : line.end] = [name] * line.length
    return fields


def what_is_told(file: StoreFile) -> list[tuple[str, int, bool]]:
    return [(region.kind, region.records, region.error is None) for region in regions_of(file)]


def unnoticed_flips(file: StoreFile, *, body_bits: range = range(8)) -> Counter[str]:
    """How many flips of each field leave a file in which nothing is found: as many messages as before, no damage.

    `body_bits`: the bits of each byte of a body that are flipped.
    """
    clean, fields, unnoticed = file.path.read_bytes(), field_of_each_byte(file), Counter[str]()
    told = what_is_told(file)
    with file.path.open("r+b", buffering=0) as handle:
        for at, field in enumerate(fields):
            for bit in body_bits if field == "body" else range(8):
                handle.seek(at)
                handle.write(bytes([clean[at] ^ 1 << bit]))
                if what_is_told(file) == told:
                    unnoticed[field] += 1
            handle.seek(at)
            handle.write(clean[at : at + 1])
    return unnoticed


def main(path: str, records: str = "20") -> None:
    source = Path(path)
    with tempfile.TemporaryDirectory() as folder:
        file = first_records(classify(source.parent.parent, source), int(records), Path(folder))
        sizes = Counter(field_of_each_byte(file))
        unnoticed = unnoticed_flips(file)
    for field, size in sizes.most_common():
        print(f"{field:30} {8 * size:8} flips  {8 * size - unnoticed[field]:8} found  {unnoticed[field]:8} not")


if __name__ == "__main__":
    main(*sys.argv[1:])
