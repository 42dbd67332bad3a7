"""IndexFiles mapped and understood: header, geometry, and how many entries can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, TruncatedRecord, report
from parsers.evidence.extents import data_end
from parsers.evidence.mapped import map_file
from parsers.index.geometry import Geometry, Inference, infer_geometry
from parsers.index.kernel import Bytes
from parsers.index.layout import ENTRIES_FIRST_NO, INDEX_ENTRY, INDEX_HEADER
from parsers.store.store_file import StoreFile

NEIGHBOURS_ASKED = 4
MOMENTS = 3
"""So often a file is asked for its geometry that a broker writes to."""
AS_GIVEN, AS_OTHERS = "as given", "as the other files"
_Mapped = tuple[StoreFile, Bytes, int]
"""A file, its bytes, and a position after which all of them are zero."""


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """One mapped IndexFile. `geometry` is None when unknown, with `why`; `header` as on disk."""

    file: StoreFile
    data: Bytes
    header: dict[str, int]
    geometry: Geometry | None
    why: str

    @property
    def slots(self) -> int:
        return self.geometry.hash_slots if self.geometry else 0

    @property
    def entries(self) -> int:
        """Entries that the header counts and the file has room for; numbers run from 1."""
        if self.geometry is None:
            return 0
        room = (len(self.data) - self.geometry.entries_at) // INDEX_ENTRY.size
        return max(0, min(self.header["index_count"], room, self.geometry.max_entries) - ENTRIES_FIRST_NO)

    def entry_at(self, entry_no: int) -> int:
        """Byte in the file where an entry starts."""
        return (self.geometry.entries_at if self.geometry else 0) + entry_no * INDEX_ENTRY.size


def open_index(
    files: Sequence[StoreFile], *, geometry: Geometry | None = None, damage: DamageSink | None = None
) -> list[OpenIndex]:
    """Map index files and settle each one's geometry: the given one, its own, or that of most of the others.

    Files of one broker have one geometry unless its settings were changed, so files that cannot tell (empty, damaged)
    take the commonest one, of the files given or else of their neighbours in the folder.

    Raises, or reports and leaves out, files that cannot be opened or are shorter than a header; a file with entries
    whose geometry stays unknown is reported and kept.
    """
    if geometry is not None and (geometry.hash_slots < 1 or geometry.max_entries < 1):
        raise ValueError(f"no index has {geometry.hash_slots} slots and {geometry.max_entries} entries")
    mapped: list[_Mapped] = []
    for file in files:
        try:
            data = np.frombuffer(map_file(file.path), np.uint8)
            INDEX_HEADER.unpack(data.data)
            mapped.append((file, data, data_end(file.path, len(data))))
        except StoreFormatError as refused:
            report(refused.in_file(file.path), damage)
    opened = _as_given(mapped, geometry) if geometry else _settled(mapped)
    for found in opened:
        for error in _shape_errors(found):
            report(error, damage)
    return opened


def _as_given(mapped: Sequence[_Mapped], geometry: Geometry) -> list[OpenIndex]:
    return [OpenIndex(file, data, INDEX_HEADER.unpack(data.data), geometry, AS_GIVEN) for file, data, _ in mapped]


def _settled(mapped: Sequence[_Mapped]) -> list[OpenIndex]:
    """Each file by itself first; those that cannot tell then take the commonest geometry of the others."""
    proven: Counter[Geometry] = Counter()
    opened: list[OpenIndex] = []
    for file, data, written in mapped:
        geometry, why = _inferred(data, tuple(proven), written)
        if geometry is not None:
            proven[geometry] += 1
        opened.append(OpenIndex(file, data, INDEX_HEADER.unpack(data.data), geometry, why))
    if all(found.geometry for found in opened):
        return opened
    proven = proven or Counter(_neighbours([file.path for file, _, _ in mapped]))
    if not proven:
        return opened
    usual = proven.most_common(1)[0][0]
    return [replace(found, geometry=usual, why=AS_OTHERS) if found.geometry is None else found for found in opened]


def _inferred(data: Bytes, likely: Sequence[Geometry], written: int) -> Inference:
    """The geometry of one file; of one that a broker adds entries to meanwhile it is asked for again."""
    for _ in range(MOMENTS):
        counted = INDEX_HEADER.unpack(data.data)
        found = infer_geometry(data, likely, written=written)
        if found.geometry is not None or INDEX_HEADER.unpack(data.data) == counted:
            break
        written = len(data)
    return found


def _neighbours(paths: Sequence[Path]) -> Iterator[Geometry]:
    """The geometries that a few other index files in the same folder prove, where the given ones prove none."""
    try:
        others = {path for path in paths[0].parent.iterdir() if path.name.isdigit()} - set(paths)
    except OSError:
        return
    for path in sorted(others, reverse=True)[:NEIGHBOURS_ASKED]:
        with suppress(StoreFormatError):
            data = np.frombuffer(map_file(path), np.uint8)
            geometry = infer_geometry(data, written=data_end(path, len(data))).geometry
            if geometry is not None:
                yield geometry


def _shape_errors(opened: OpenIndex) -> Iterator[StoreFormatError]:
    path, geometry, count = opened.file.path, opened.geometry, opened.header["index_count"]
    if geometry is None:
        if count > ENTRIES_FIRST_NO:
            yield CorruptRecord(f"slots and entries unknown: {opened.why}", field="geometry", path=path)
        return
    if len(opened.data) != geometry.file_size:
        kind = TruncatedRecord if len(opened.data) < geometry.file_size else CorruptRecord
        yield kind(
            f"an index of {geometry.hash_slots} slots and {geometry.max_entries} entries",
            at=min(len(opened.data), geometry.file_size),
            field="file size",
            expected=geometry.file_size,
            actual=len(opened.data),
            path=path,
        )
    if not 0 <= count <= geometry.max_entries:
        at, field = INDEX_HEADER.offsets["index_count"], "index_count"
        expected = f"0 to {geometry.max_entries}"
        yield CorruptRecord(
            "impossible number of entries", at=at, field=field, expected=expected, actual=count, path=path
        )
    elif opened.why == AS_OTHERS and count > ENTRIES_FIRST_NO:
        yield CorruptRecord("its chains contradict the geometry of the other files", field="geometry", path=path)
