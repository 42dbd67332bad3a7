"""The epochs of a broker in controller mode: from which byte of the CommitLog on which master wrote it.

A new master starts an epoch at the end of its log; its replicas take the entry over. Two replicas agree up to the point
that the last epoch they have in common gives.
Source: store/ha/autoswitch/EpochFileCache, common/utils/CheckpointFile @5.3.3 (since 5.0.0).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa

from parsers.errors import CorruptRecord, DamageSink, OnDamage, StoreFormatError, TruncatedRecord, report
from parsers.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, crc31, decode_utf8, parse_whole, split
from parsers.mapped import map_file
from parsers.store import StoreFile
from parsers.text_layout import LineField, TextLayout

EPOCH_FILE = TextLayout(
    "epochFileCheckpoint",
    "common/utils/CheckpointFile.java#write, store/ha/autoswitch/EpochFileCache.java#toLine @5.3.3",
    LineField("entry_count", "how many lines of entries follow"),
    LineField("crc", "CRC-32 with the sign bit cleared of the lines that follow, line ends included; 0: not checked"),
    LineField("epoch-start_physical_offset", "an epoch, and the byte of the CommitLog at which its master began"),
)
EPOCH_SCHEMA = pa.schema(
    [
        ("file", pa.string()),
        ("epoch", pa.int32()),
        ("start_physical_offset", pa.int64()),
        ("end_physical_offset", pa.int64()),
    ]
)
MOST_BYTES = 1 << 20
BACKUP = ".bak"
NOT_CHECKED = 0


@dataclass(frozen=True, slots=True)
class Epoch:
    """One entry. `end_physical_offset` is where the next epoch begins; None for the last, which is still open."""

    epoch: int
    start_physical_offset: int
    end_physical_offset: int | None = None


def decode_epochs(content: bytes) -> tuple[Epoch, ...]:
    """The entries of the file, by epoch.

    A line that is not of the form a-b is passed over, as the broker does; the count tells then.

    Raises:
        TruncatedRecord: less than the two first lines.
        CorruptRecord: a number that is none, another count or CRC, text that is not ASCII.
    """
    lines = list(_lines(content))
    if len(lines) < 2:
        raise TruncatedRecord("less than a count and a CRC", field="entry_count", length=len(content))
    count, crc = _number("entry_count", *lines[0]), _number("crc", *lines[1])
    entries = [entry for line in lines[2:] if (entry := _entry(line)) is not None]
    if len(entries) != count:
        raise CorruptRecord("another number of entries", field="entry_count", expected=count, actual=len(entries))
    line_end = "\r\n" if b"\r\n" in content else "\n"
    found = crc31("".join(text + line_end for _, text in lines[2:]).encode())
    if crc not in (NOT_CHECKED, found):
        raise CorruptRecord(
            "the CRC of the entries is another", at=lines[1][0], field="crc", expected=crc, actual=found
        )
    return _ended(entries)


def encode_epochs(epochs: Sequence[Epoch]) -> bytes:
    """The file as a broker on Unix writes it: the inverse of `decode_epochs`."""
    entries = "".join(f"{entry.epoch}-{entry.start_physical_offset}\n" for entry in epochs).encode()
    return f"{len(epochs)}\n{crc31(entries)}\n".encode() + entries


def read_epochs(
    files: Sequence[StoreFile], *, on_damage: OnDamage = "raise", damage: DamageSink | None = None
) -> tuple[StoreFile, tuple[Epoch, ...]] | None:
    """The file that the broker goes by, and its entries: epochFileCheckpoint, or its backup where that has none.

    None where neither file is there and readable: the broker then takes its store for a new replica's.
    Raises, or reports: CorruptRecord, TruncatedRecord, UnreadableFile, for each file that was tried.
    """
    for file in sorted(files, key=lambda file: file.name.endswith(BACKUP)):
        try:
            content = map_file(file.path)
            if len(content) > MOST_BYTES:
                raise CorruptRecord("larger than any such file", field="file size", actual=len(content))
            epochs = decode_epochs(bytes(content))
        except StoreFormatError as error:
            report(error.in_file(file.path), on_damage, damage)
            continue
        if epochs:
            return file, epochs
    return None


def epochs_to_batch(file: str, epochs: Sequence[Epoch]) -> pa.RecordBatch:
    """One row of EPOCH_SCHEMA for each entry; `file` is its name in the rows."""
    columns = [
        pa.array([file] * len(epochs), pa.string()),
        pa.array([entry.epoch for entry in epochs], pa.int32()),
        pa.array([entry.start_physical_offset for entry in epochs], pa.int64()),
        pa.array([entry.end_physical_offset for entry in epochs], pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=EPOCH_SCHEMA)


Placed = tuple[int, str]
"""Where a line begins, and its text."""


def _lines(content: bytes) -> Iterator[Placed]:
    """BufferedReader#readLine: a line ends at \\n, \\r or \\r\\n."""
    at = 0
    for line in content.splitlines(keepends=True):
        bare = line.rstrip(b"\r\n")
        if not bare.isascii():
            raise CorruptRecord("a line that is no text of digits", at=at, actual=decode_utf8(bare[:64]))
        yield at, bare.decode("ascii")
        at += len(line)


def _number(field: str, at: int, text: str, lowest: int = INT_MIN, highest: int = INT_MAX) -> int:
    number = parse_whole(text, lowest, highest)
    if number is None:
        raise CorruptRecord("not a number", at=at, field=field, actual=text[:64])
    return number


def _entry(line: Placed) -> Epoch | None:
    """EpochFileCache.EpochEntrySerializer#fromLine."""
    at, text = line
    parts = split(text, "-")
    if len(parts) != 2:
        return None
    epoch, start = parts
    return Epoch(_number("epoch", at, epoch), _number("start_physical_offset", at, start, LONG_MIN, LONG_MAX))


def _ended(entries: Sequence[Epoch]) -> tuple[Epoch, ...]:
    """Each entry ends where the next one in the file begins; of two of one epoch the later counts (TreeMap#put)."""
    ended = [
        Epoch(one.epoch, one.start_physical_offset, after.start_physical_offset) for one, after in pairwise(entries)
    ]
    by_epoch = {entry.epoch: entry for entry in (*ended, *entries[-1:])}
    return tuple(by_epoch[epoch] for epoch in sorted(by_epoch))
