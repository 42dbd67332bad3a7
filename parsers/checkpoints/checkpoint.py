"""The store checkpoint: up to which message the log, the queues and the index were known to be on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import pyarrow as pa

from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, UnsupportedVersion, report
from parsers.evidence.mapped import map_file
from parsers.layouts.columns import TIMESTAMP
from parsers.layouts.instants import instants
from parsers.layouts.layout import Buffer, Field, Layout
from parsers.store.store_file import StoreFile

CHECKPOINT = Layout(
    "Checkpoint",
    "store/StoreCheckpoint.java @5.5.0",
    Field("physic_msg_timestamp", "q", "store time (ms) of the last message known flushed in the CommitLog"),
    Field("logics_msg_timestamp", "q", "store time (ms) of the last dispatched (since 5.5.0: flushed) queue unit"),
    Field("index_msg_timestamp", "q", "store time (ms) of the last entry of the last full index file"),
    Field("master_flushed_offset", "q", "since 5.0.0: CommitLog byte up to which the master had flushed"),
    Field("confirm_physical_offset", "q", "since 5.1.1: start of the last valid message at the last recovery"),
    Field("logics_physical_offset", "q", "since 5.5.0: last message dispatched at the last thorough queue flush"),
)
FILE_SIZE = 4096  # MappedFile.OS_PAGE_SIZE; zero after the fields
SINCE = {"master_flushed_offset": (5, 0, 0), "confirm_physical_offset": (5, 1, 1), "logics_physical_offset": (5, 5, 0)}
LAG_ALLOWED_MS = 3000
TIMES = ("physic_msg_timestamp", "logics_msg_timestamp", "index_msg_timestamp", "min_timestamp", "min_timestamp_index")
CHECKPOINT_SCHEMA = pa.schema(
    [
        ("file", pa.string()),
        *((name, TIMESTAMP) for name in TIMES[:3]),
        *((name, pa.int64()) for name in SINCE),
        *((name, TIMESTAMP) for name in TIMES[3:]),
    ]
)
Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Times are epoch milliseconds, offsets bytes of the CommitLog; 0 means never set.

    A field is None where the broker's version does not have it, and where it is 0 and the version is not known.
    """

    physic_msg_timestamp: int
    logics_msg_timestamp: int
    index_msg_timestamp: int
    master_flushed_offset: int | None
    confirm_physical_offset: int | None
    logics_physical_offset: int | None

    @property
    def min_timestamp(self) -> int:
        """StoreCheckpoint#getMinTimestamp: three seconds before the older of log and queues, not below 0."""
        return max(0, min(self.physic_msg_timestamp, self.logics_msg_timestamp) - LAG_ALLOWED_MS)

    @property
    def min_timestamp_index(self) -> int:
        """StoreCheckpoint#getMinTimestampIndex."""
        return min(self.min_timestamp, self.index_msg_timestamp)


def decode_checkpoint(buf: Buffer, *, version: Version | None = None) -> Checkpoint:
    """The fields of 48 bytes or more; `version` is the broker's, where known. Raises TruncatedRecord."""
    row: dict[str, int | None] = {**CHECKPOINT.unpack(buf)}
    for name, since in SINCE.items():
        if version < since if version else row[name] == 0:
            row[name] = None
    return Checkpoint(**row)  # type: ignore[arg-type]  # the first three are never None


def read_checkpoint(
    file: StoreFile, *, version: Version | None = None, damage: DamageSink | None = None
) -> Checkpoint | None:
    """One checkpoint file; None when its fields cannot be read and `damage` was told.

    Raises, or reports: TruncatedRecord (fewer than 48 bytes), CorruptRecord (not 4096 bytes), UnsupportedVersion (bytes
    after the known fields: a newer broker's), UnreadableFile.
    """
    try:
        buffer = map_file(file.path)
        decoded = decode_checkpoint(buffer, version=version)
    except StoreFormatError as refused:
        report(refused.in_file(file.path), damage)
        return None
    for error in _rest_errors(file, buffer):
        report(error, damage)
    return decoded


def checkpoint_to_batch(file: StoreFile, checkpoint: Checkpoint) -> pa.RecordBatch:
    """One row of CHECKPOINT_SCHEMA."""
    row = {**asdict(checkpoint), "min_timestamp": checkpoint.min_timestamp}
    row["min_timestamp_index"] = checkpoint.min_timestamp_index
    columns = [
        instants([row[name]]) if name in TIMES else pa.array([row[name]], pa.int64())
        for name in CHECKPOINT_SCHEMA.names[1:]
    ]
    return pa.RecordBatch.from_arrays([pa.array([file.name]), *columns], schema=CHECKPOINT_SCHEMA)


def _rest_errors(file: StoreFile, buffer: memoryview) -> Iterator[StoreFormatError]:
    if len(buffer) != FILE_SIZE:
        yield CorruptRecord(
            "a checkpoint of another size",
            at=min(len(buffer), FILE_SIZE),
            field="file size",
            expected=FILE_SIZE,
            actual=len(buffer),
            path=file.path,
        )
    rest = bytes(buffer[CHECKPOINT.size : FILE_SIZE])
    if unknown := rest.rstrip(b"\0"):
        yield UnsupportedVersion(
            "bytes after the fields that are known",
            at=CHECKPOINT.size,
            field="rest",
            expected="zeros",
            path=file.path,
            length=len(unknown),
        )
