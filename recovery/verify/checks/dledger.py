"""What a DLedger node keeps beside its messages: entry headers, the index of entries, term and checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.commitlog.dledger_headers.layout import HEADER_SIZE, INDEX_UNIT_SIZE, header_size
from parsers.damage.errors import Damage, unheard
from parsers.dledger.entries import STORED, read_entries
from parsers.dledger.index import EntryIndex
from parsers.dledger.state import read_state
from parsers.kernels.arrays import Longs
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from recovery.scan.intervals import neighbours
from recovery.verify.findings.finding import Finding, Judgement, Place, Span

Columns = dict[str, npt.NDArray[np.int64]]


def check_dledger(store: Store) -> Judgement:
    """Headers that do not fit, units of the index that are not their entries', a term or checkpoint beyond the log.

    One walk over the log, a batch at a time. Of bytes that are no message nothing is said here.
    """
    if not store.log_is_dledgers:
        return Judgement()
    check = _Check(store, EntryIndex.of(store.dledger))
    for batch in read_entries(store.commitlog, damage=check.wrong.append):
        check.take(batch)
    return Judgement((*check.findings, *check.of_state()))


@dataclass(slots=True)
class _Check:
    store: Store
    index: EntryIndex
    wrong: list[Damage] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    last_index: int = -1
    last_term: int = -1

    def take(self, batch: pa.RecordBatch) -> None:
        """The entries of one file that follow one another, with what was said of them in `wrong`."""
        if not batch.num_rows:
            return
        columns: Columns = {name: batch[name].to_numpy() for name in (*STORED, "physical_offset", "msg_size")}
        file = self._file(batch["file"][0].as_py())
        rows, said = self._wrong_headers(file, columns)
        for first, end in neighbours(rows):
            self.findings.append(_header_finding(file, columns, rows[first:end], said))
        sound = np.ones(batch.num_rows, np.bool_)
        sound[rows] = False
        self._compare_index({name: column[sound] for name, column in columns.items()})
        if sound.any():
            self.last_index = int(columns["entry_index"][sound][-1])
            self.last_term = int(columns["term"][sound][-1])
        self.wrong.clear()

    def _file(self, name: str) -> StoreFile:
        return next(file for file in self.store.commitlog if header_size(file) and file.name == name)

    def _wrong_headers(self, file: StoreFile, columns: Columns) -> tuple[Longs, dict[int, Damage]]:
        """The rows whose header is damage, and what was said of each."""
        base = (file.base_offset or 0) + HEADER_SIZE
        said = {base + found.file_pos: found for found in self.wrong if found.path == file.path}
        is_wrong = np.isin(columns["physical_offset"], list(said))
        return np.flatnonzero(is_wrong), said

    def _compare_index(self, entries: Columns) -> None:
        numbers = entries["entry_index"]
        units = self.index.units_of(numbers)
        differs = np.zeros(len(numbers), np.bool_)
        for name in STORED:
            differs |= units[name] != entries[name]
        rows = np.flatnonzero(differs)
        for first, end in neighbours(rows):
            self.findings.append(self._index_finding(entries, units, rows[first:end]))

    def _index_finding(self, entries: Columns, units: npt.NDArray[np.void], rows: Longs) -> Finding:
        number = int(entries["entry_index"][rows[0]])
        place = self.index.place_of(number)
        unit, entry = ({name: int(columns[name][rows[0]]) for name in STORED} for columns in (units, entries))
        places = (Place(self._name(place[0]), place[1], len(rows) * INDEX_UNIT_SIZE),) if place else ()
        said = f"the index's unit of entry {number}: {unit}" if place else "the index has no file that goes so far"
        return Finding("entry_index_wrong", _span(entries, rows), places, len(rows), (said, f"log: {entry}"))

    def of_state(self) -> Iterator[Finding]:
        """Term and checkpoint against the last entry of the log."""
        state = read_state(self.store.dledger, damage=unheard)
        if state.current_term is not None and state.current_term < self.last_term:
            evidence = f"currterm: {state.current_term}", f"log: its last entry is of term {self.last_term}"
            yield Finding("dledger_state_wrong", Span(), self._places("currterm"), 1, evidence)
        if not self.store.abort_present and (state.end_index or 0) > self.last_index >= 0:
            evidence = f"checkpoint: endIndex {state.end_index}", f"log: its last entry is number {self.last_index}"
            yield Finding("dledger_state_wrong", Span(), self._places("checkpoint"), 1, evidence)

    def _places(self, name: str) -> tuple[Place, ...]:
        return tuple(Place(self._name(file.path), 0, file.size) for file in self.store.dledger if file.name == name)

    def _name(self, path: Path) -> str:
        inside = self.store.root in path.parents
        return path.relative_to(self.store.root).as_posix() if inside else path.name


def _header_finding(file: StoreFile, columns: Columns, rows: Longs, said: dict[int, Damage]) -> Finding:
    messages = columns["physical_offset"][rows]
    places = tuple(Place(f"{file.log_folder}/{file.name}", said[at].file_pos, HEADER_SIZE) for at in messages.tolist())
    first = said[int(messages[0])]
    evidence = f"{first.field}: {first.actual}", f"expected: {first.expected}"
    return Finding("entry_header_wrong", _span(columns, rows), places, len(rows), evidence)


def _span(columns: Columns, rows: Longs) -> Span:
    """From the first entry's first byte to the last one's end."""
    messages, sizes = columns["physical_offset"][rows], columns["msg_size"][rows]
    return Span(physical_offset=int(messages[0]) - HEADER_SIZE, end_physical_offset=int(messages[-1]) + int(sizes[-1]))
