"""The entries of a DLedger log without their messages: what its replicas agree on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.commitlog.batches.segment import read_segment
from parsers.commitlog.dledger_headers.layout import ENTRY_HEADER, HEADER_SIZE, header_size
from parsers.commitlog.files.logfile import LogFile, open_log
from parsers.damage.errors import DamageSink, StoreFormatError, report
from parsers.kernels.arrays import Bytes
from parsers.layouts.columns import schema_from
from parsers.layouts.constants import named_constant
from parsers.store.places import printable_name
from parsers.store.sequence import sequence_errors
from parsers.store.store_file import StoreFile

ENTRY_SCHEMA = schema_from(
    "file word, entry_index i64, term i64, position i64, entry_size i32, physical_offset i64, msg_size i32"
)
MESSAGE_COLUMNS = ("physical_offset", "total_size")
STORED = ("entry_index", "term", "position", "entry_size")


def read_entries(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> Iterator[pa.RecordBatch]:
    """The headers in front of the messages of a DLedger log, as batches of ENTRY_SCHEMA; other files are passed over.

    `entry_index`, `term`, `position` and `entry_size` are as stored; `physical_offset` and `msg_size` are the message's
    own. A header that is wrong is a row and damage; where no message is, there is no row.

    Raises, or reports: as `read_segment` does for the log's files, which are given in offset order.
    """
    files = [file for file in files if header_size(file)]
    for error in sequence_errors(files):
        report(error, damage)
    for file in files:
        try:
            log = open_log(file)
        except StoreFormatError as refused:
            report(refused.in_file(file.path), damage)
            continue
        for batch in read_segment(file, columns=MESSAGE_COLUMNS, damage=damage):
            yield _entries(log, batch)


def _entries(log: LogFile, batch: pa.RecordBatch) -> pa.RecordBatch:
    headers = headers_at(log.data, batch["physical_offset"].to_numpy() - log.base_offset - HEADER_SIZE)
    stored = (pa.array(headers[name].astype(f"i{ENTRY_SCHEMA.field(name).type.byte_width}")) for name in STORED)
    file = named_constant(printable_name(log.path.name), batch.num_rows)
    columns = [file, *stored, *(batch[name] for name in MESSAGE_COLUMNS)]
    return pa.RecordBatch.from_arrays(columns, schema=ENTRY_SCHEMA)


def headers_at(data: Bytes, places: npt.NDArray[np.int64]) -> npt.NDArray[np.void]:
    """The headers that start at these bytes, as rows of `ENTRY_HEADER.dtype`."""
    stored = data[places[:, None] + np.arange(HEADER_SIZE)]
    return np.ascontiguousarray(stored).reshape(-1).view(ENTRY_HEADER.dtype)
