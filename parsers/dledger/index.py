"""The index of a DLedger log: where each entry starts, by its number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.commitlog.dledger_headers.layout import (
    ENTRY_INDEX_UNIT,
    HEADER_SIZE,
    INDEX_UNIT_SIZE,
    MAGIC_CONFIG_CHANGE,
    MAGIC_ENTRY,
    MAGIC_NO_OP,
)
from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report, reporting, torn_end
from parsers.damage.runs import JoinedRuns
from parsers.evidence.mapped import map_file
from parsers.evidence.spans import spans, written_end
from parsers.kernels.arrays import Bytes
from parsers.layouts.columns import schema_from
from parsers.layouts.constants import named_constant
from parsers.store.sequence import sequence_errors
from parsers.store.store_file import StoreFile

ENTRY_INDEX_SCHEMA = schema_from("file word, entry_index i64, term i64, position i64, entry_size i32")
BATCH_UNITS = 1 << 16
Units = npt.NDArray[np.void]


def read_entry_index(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> Iterator[pa.RecordBatch]:
    """The units of the index files of a DLedger log, in order, as batches of ENTRY_INDEX_SCHEMA; other files are passed
    over.

    Unwritten units before the first and after the last written one are neither rows nor damage; those between, and
    units that do not stand where their number says, are damage.

    Raises, or reports: CorruptRecord, TruncatedRecord (a torn last unit), UnreadableFile.
    Source: DLedgerMmapFileStore#recover, DLedgerEntryCoder#decodeIndex @0.3.1.2.
    """
    files = [file for file in files if file.kind == "dledger_index"]
    for error in sequence_errors(files):
        report(error, damage)
    is_first = True
    for file in files:
        with reporting(file.path, damage):
            data = np.frombuffer(map_file(file.path), np.uint8)
            if torn := torn_end("a torn unit ends the DLedger index", file.path, len(data), INDEX_UNIT_SIZE):
                report(torn, damage)
            for batch in _file_batches(file, data, is_first, damage):
                is_first = False
                yield batch


def _file_batches(file: StoreFile, data: Bytes, is_first: bool, damage: DamageSink | None) -> Iterator[pa.RecordBatch]:
    whole = len(data) // INDEX_UNIT_SIZE * INDEX_UNIT_SIZE
    end = min(whole, -(-written_end(file.path, data) // INDEX_UNIT_SIZE) * INDEX_UNIT_SIZE)
    first_number = (file.base_offset or 0) // INDEX_UNIT_SIZE
    wrong = JoinedRuns(
        lambda first, after: report(_wrong(file, data, first_number, first, after), damage), at_once=damage is None
    )
    for at, run in spans(data, 0, end, BATCH_UNITS * INDEX_UNIT_SIZE):
        units, start = ENTRY_INDEX_UNIT.array(run.data), at // INDEX_UNIT_SIZE
        sound = is_sound(units, first_number + start)
        begins = int(np.argmax(_is_written(units))) if is_first else 0
        is_first = is_first and not sound.any()
        refused = ~sound
        refused[:begins] = False
        wrong.add(refused, start)
        if sound.any():
            yield _units_to_batch(file, units[sound])
    wrong.close()


def is_sound(units: Units, first_number: int) -> npt.NDArray[np.bool_]:
    """Which units are those of the entries from `first_number` on."""
    conditions = [
        np.isin(units["magic"], (MAGIC_ENTRY, MAGIC_NO_OP, MAGIC_CONFIG_CHANGE)),
        units["entry_index"] == first_number + np.arange(len(units)),
        units["entry_size"] >= HEADER_SIZE,
        units["position"] >= 0,
        units["term"] >= 0,
    ]
    sound: npt.NDArray[np.bool_] = np.logical_and.reduce(conditions)
    return sound


def _is_written(units: Units) -> npt.NDArray[np.bool_]:
    written: npt.NDArray[np.bool_] = np.logical_or.reduce(
        np.ascontiguousarray(units).view(np.uint8).reshape(len(units), -1), axis=1
    )
    return written


def _units_to_batch(file: StoreFile, units: Units) -> pa.RecordBatch:
    columns = [
        pa.array(units[field.name].astype(f"i{field.type.byte_width}"))
        for field in ENTRY_INDEX_SCHEMA
        if field.name != "file"
    ]
    return pa.RecordBatch.from_arrays([named_constant(file.name, len(units)), *columns], schema=ENTRY_INDEX_SCHEMA)


def _wrong(file: StoreFile, data: Bytes, first_number: int, first: int, end: int) -> StoreFormatError:
    at = first * INDEX_UNIT_SIZE
    row = ENTRY_INDEX_UNIT.unpack(data.data, at)
    return CorruptRecord(
        f"{end - first} units of the DLedger index that are not those of their entries",
        at=at,
        field="entry_index",
        expected=first_number + first,
        actual=row,
        path=file.path,
        length=(end - first) * INDEX_UNIT_SIZE,
    )


class EntryIndex:
    """Units by the number of their entry. A file that cannot be opened is as good as not there."""

    def __init__(self, files: Iterable[tuple[Path, int]]) -> None:
        """`files`: each with the byte of the whole index where it starts."""
        self._files: list[tuple[Path, int, Units]] = []
        for path, base_offset in files:
            try:
                units = ENTRY_INDEX_UNIT.array(map_file(path))
            except StoreFormatError:
                continue
            self._files.append((path, base_offset // INDEX_UNIT_SIZE, units))

    @classmethod
    def of(cls, files: Iterable[StoreFile]) -> EntryIndex:
        """The index among a store's files."""
        return cls((file.path, file.base_offset or 0) for file in files if file.kind == "dledger_index")

    def units_of(self, numbers: npt.NDArray[np.int64]) -> Units:
        """The units of entries with these numbers; all zero where there is none."""
        found = np.zeros(len(numbers), ENTRY_INDEX_UNIT.dtype)
        for _, first, units in self._files:
            here = (numbers >= first) & (numbers < first + len(units))
            found[here] = units[numbers[here] - first]
        return found

    def place_of(self, number: int) -> tuple[Path, int] | None:
        """The file and the byte of an entry's unit; None where no file goes so far."""
        for path, first, units in self._files:
            if first <= number < first + len(units):
                return path, (number - first) * INDEX_UNIT_SIZE
        return None
