"""The epochs of a broker in controller mode: from which byte of the CommitLog on which master wrote it.

A new master starts an epoch at the end of its log; its replicas take the entry over. Two replicas agree up to the point
that the last epoch they have in common gives.
Source: store/ha/autoswitch/EpochFileCache, common/utils/CheckpointFile @5.3.3 (since 5.0.0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa

from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report
from parsers.evidence.mapped import map_file
from parsers.layouts.columns import schema_from
from parsers.layouts.text_layout import LineField, TextLayout
from parsers.store.places import BACKUP
from parsers.store.store_file import StoreFile
from parsers.values.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, crc31, parse_whole, split

EPOCH_FILE = TextLayout(
    "epochFileCheckpoint",
    "common/utils/CheckpointFile.java#write, store/ha/autoswitch/EpochFileCache.java#toLine @5.3.3",
    LineField("entry_count", "how many lines of entries follow"),
    LineField("crc", "CRC-32 with the sign bit cleared of the lines that follow, line ends included; 0: not checked"),
    LineField("epoch-start_physical_offset", "an epoch, and the byte of the CommitLog at which its master began"),
)
EPOCH_SCHEMA = schema_from("file text, epoch i32, start_physical_offset i64, end_physical_offset i64")
MOST_BYTES = 1 << 20
NOT_CHECKED = 0


@dataclass(frozen=True, slots=True)
class Epoch:
    """One entry. `end_physical_offset` is where the next epoch begins; None for the last, which is still open."""

    epoch: int
    start_physical_offset: int
    end_physical_offset: int | None = None


class NoNumber(CorruptRecord):
    """A number that is none, or missing: the broker meets a NumberFormatException, which nothing catches."""


@dataclass(frozen=True, slots=True)
class EpochsRead:
    """What a broker makes of epochFileCheckpoint and its backup.

    Attributes:
        file, epochs: what it goes by; None and empty where it takes its store for a new replica's.
        refused: what is wrong with each file that it tried, in that order.
    """

    file: StoreFile | None = None
    epochs: tuple[Epoch, ...] = ()
    refused: tuple[StoreFormatError, ...] = ()

    @property
    def stops_broker(self) -> bool:
        """A broker in controller mode does not start. EpochFileCache#initCacheFromFile, DefaultMessageStore#start."""
        return any(isinstance(error, NoNumber) for error in self.refused)


def decode_epochs(content: bytes) -> tuple[Epoch, ...]:
    """The entries of the file, by epoch.

    A line that is not of the form a-b is passed over, as the broker does; the count tells then.

    Raises:
        NoNumber: a count, a CRC or an entry that is no number; a file of less than two lines.
        CorruptRecord: another count or CRC, text that is not UTF-8.
    """
    lines = list(_lines(content))
    missing = len(content), ""
    count_line, crc_line = [*lines, missing, missing][:2]
    count, crc = _number("entry_count", *count_line), _number("crc", *crc_line)
    entries = [entry for line in lines[2:] if (entry := _entry(line)) is not None]
    if len(entries) != count:
        raise CorruptRecord("another number of entries", field="entry_count", expected=count, actual=len(entries))
    line_end = "\r\n" if b"\r\n" in content else "\n"
    found = crc31("".join(text + line_end for _, text in lines[2:]).encode())
    if crc not in (NOT_CHECKED, found):
        raise CorruptRecord(
            "the CRC of the entries is another", at=crc_line[0], field="crc", expected=crc, actual=found
        )
    return _ended(entries)


def encode_epochs(epochs: Sequence[Epoch]) -> bytes:
    """The file as a broker on Unix writes it: the inverse of `decode_epochs`."""
    entries = "".join(f"{entry.epoch}-{entry.start_physical_offset}\n" for entry in epochs).encode()
    return f"{len(epochs)}\n{crc31(entries)}\n".encode() + entries


def load_epochs(files: Iterable[StoreFile]) -> EpochsRead:
    """What a broker in controller mode makes of its epoch files: the backup is taken where the file is missing, has no
    entry or another count or CRC; a number that is none ends the start instead. Source: CheckpointFile#read @5.3.3."""
    refused: list[StoreFormatError] = []
    for file in sorted(files, key=lambda file: file.name.endswith(BACKUP)):
        try:
            content = map_file(file.path)
            if len(content) > MOST_BYTES:
                raise CorruptRecord("larger than any such file", field="file size", actual=len(content))
            epochs = decode_epochs(bytes(content))
        except StoreFormatError as error:
            refused.append(error.in_file(file.path))
            if isinstance(error, NoNumber):
                break
            continue
        if epochs:
            return EpochsRead(file, epochs, tuple(refused))
    return EpochsRead(refused=tuple(refused))


def read_epochs(
    files: Sequence[StoreFile], *, damage: DamageSink | None = None
) -> tuple[StoreFile, tuple[Epoch, ...]] | None:
    """The file that the broker goes by, and its entries (`load_epochs`); None without one.

    Raises, or reports: CorruptRecord, NoNumber, UnreadableFile, for each file that was tried.
    """
    read = load_epochs(files)
    for error in read.refused:
        report(error, damage)
    return None if read.file is None else (read.file, read.epochs)


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
        try:
            yield at, line.rstrip(b"\r\n").decode("utf-8")
        except UnicodeDecodeError as error:
            raise CorruptRecord("not UTF-8", at=at + error.start) from None
        at += len(line)


def _number(field: str, at: int, text: str, lowest: int = INT_MIN, highest: int = INT_MAX) -> int:
    number = parse_whole(text, lowest, highest)
    if number is None:
        raise NoNumber("not a number", at=at, field=field, actual=text[:64])
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
