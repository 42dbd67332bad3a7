"""The records of a log that a story is about: those of a few topics, and the copies of them in others.

Memory: 60 bytes for each record that is kept, and 8 more for each property of the story's own. Texts are gathered from
the maps of the scan, so that files which a broker deletes meanwhile answer as those which it keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.evidence.mapped import require_whole
from parsers.kernels.arrays import BLOCK, Bytes, Ints, Longs
from parsers.kernels.utf8 import GROWTH
from parsers.store.store_file import StoreFile
from recovery.fates.held_kernel import (
    HASH,
    HeldColumns,
    Names,
    Wanted,
    body_sizes,
    hold_records,
    put_values,
    value_sizes,
)
from recovery.rules.dispatch import DispatchRules
from recovery.scan.log_runs import LogGap, LogRun, log_runs
from recovery.scan.topic_table import TopicTable, name_hash

UNIQ_KEY, REAL_TOPIC = "UNIQ_KEY", "REAL_TOPIC"
Find = Callable[[Bytes, Longs, Longs, Longs], None]
"""Given a file and the places of records in it, sets where a text of each starts and its bytes, -1 without one."""


@dataclass(frozen=True, slots=True)
class Story:
    """Which records are wanted.

    Attributes:
        keeps: whether all records of a topic are.
        triggers: of other topics, the records with one of these properties; each of `own`, or REAL_TOPIC.
        transactions: records with a transaction type, in any topic, are kept too.
        wanted: which of these are kept, asked run by run.
        id_name: the property that names the message in all its records.
        own: further properties, and what is kept of each (`held_kernel`).
    """

    keeps: Callable[[str], bool]
    id_name: str = UNIQ_KEY
    own: Sequence[tuple[str, int]] = ()
    triggers: Sequence[str] = (REAL_TOPIC,)
    transactions: bool = False
    wanted: Callable[[HeldColumns, Sequence[str]], npt.NDArray[np.bool_]] | None = None

    def names(self) -> Names:
        return _names(self._listed())

    def trigger_numbers(self) -> Longs:
        """The numbers of the triggers among the names."""
        names = [name for name, _ in self._listed()]
        return np.array([names.index(trigger) for trigger in self.triggers], np.int64)

    def _listed(self) -> list[tuple[str, int]]:
        return [(REAL_TOPIC, HASH), (self.id_name, HASH), *self.own]


def _names(wanted: Sequence[tuple[str, int]]) -> Names:
    texts = [name.encode() for name, _ in wanted]
    ends = np.cumsum([0, *map(len, texts)])
    kinds = np.array([kind for _, kind in wanted], np.int64)
    return Names(np.frombuffer(b"".join(texts), np.uint8), ends.astype(np.int64), kinds)


@dataclass(slots=True)
class Held:
    """The records that a story keeps, in log order.

    Attributes:
        topics: the name of each topic code.
        gaps: damaged bytes of the log, and those between its files that no file has: records may be or have been there.
        maps: the files that have these records: where each starts in the log, and its bytes, in log order.
    """

    columns: HeldColumns
    topics: list[str]
    gaps: list[LogGap] = field(default_factory=list)
    maps: list[tuple[int, Bytes]] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return len(self.columns.message)

    def of_topic(self, topic: str) -> npt.NDArray[np.bool_]:
        """Which rows are records of this topic."""
        code = self.topics.index(topic) if topic in self.topics else -1
        is_of: npt.NDArray[np.bool_] = self.columns.topic == code
        return is_of

    def damaged_behind(self) -> npt.NDArray[np.bool_]:
        """Which rows have damaged or missing bytes after them, where the record of what became of them may be."""
        damaged_from = max((gap.physical_offset for gap in self.gaps), default=-1)
        is_before: npt.NDArray[np.bool_] = self.columns.physical_offset < damaged_from
        return is_before

    def by_file(self, rows: Longs) -> Iterator[tuple[Longs, Bytes, Longs]]:
        """File by file those of the rows that it has, its bytes, and where the record of each starts in them.

        Raises UnreadableFile where a file became shorter since the log was read.
        """
        bases = np.array([base for base, _ in self.maps], np.int64)
        number = np.searchsorted(bases, self.columns.physical_offset[rows], side="right") - 1
        for file_number in np.unique(number):
            base, data = self.maps[file_number]
            require_whole(data)
            of_file = rows[number == file_number]
            yield of_file, data, self.columns.physical_offset[of_file] - base


def held_records(files: Sequence[StoreFile], rules: DispatchRules, story: Story) -> Held:
    """Read the log's files, which are given in offset order, once."""
    gaps: list[LogGap] = []
    maps: list[tuple[int, Bytes]] = []
    topics, names, kept = TopicTable(rules), story.names(), np.zeros(0, np.int64)
    found = [_room(0, len(story.own))]
    for run in log_runs(files, gaps.append):
        columns, kept = _of_run(run, topics, kept, names, story)
        found.append(columns)
        if len(columns.message) and not (maps and maps[-1][1] is run.data):
            maps.append((run.file.base_offset or 0, run.data))
    joined = HeldColumns._make(np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))
    damage = (gap for gap in gaps if gap.kind == "damage")
    return Held(joined, topics.names, [*damage, *_without_file(files)], maps)


def _without_file(files: Sequence[StoreFile]) -> Iterator[LogGap]:
    """The bytes between two files of the log that neither has: a file is gone from its middle, or cut short."""
    for before, behind in pairwise(file for file in files if file.base_offset is not None):
        missing = (behind.base_offset or 0) - (before.base_offset or 0) - before.size
        if missing > 0:
            yield LogGap(before, before.size, missing, "damage", "no file has these bytes")


def text_hash(text: str) -> int:
    """What the records held keep of a property with this value (`held_kernel.HASH`)."""
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    return int(name_hash(data, 0, len(data)))


def _of_run(run: LogRun, topics: TopicTable, kept: Longs, names: Names, story: Story) -> tuple[HeldColumns, Longs]:
    """The wanted records of one run, and which topics are kept by now."""
    held, span = _room(len(run.positions), len(story.own)), np.empty(2 * len(names.kinds), np.int64)
    wanted = Wanted(kept, names, story.trigger_numbers(), story.transactions, span)
    row, used = 0, 0
    while row < len(run.positions):
        row, used, start, end = hold_records(run.data, run.positions, row, topics.arrays, wanted, held, used)
        if row < len(run.positions):
            topics.code(bytes(run.data[start:end]))
            wanted = wanted._replace(kept_topics=np.array([story.keeps(name) for name in topics.names], np.int64))
    found = HeldColumns._make(column[..., :used].copy() for column in held)
    if story.wanted is not None and used:
        is_wanted = story.wanted(found, topics.names)
        found = HeldColumns._make(column[..., is_wanted] for column in found)
    return found, wanted.kept_topics


def _room(rows: int, own: int) -> HeldColumns:
    longs, ints = np.empty((5, rows), np.int64), np.empty((5, rows), np.int32)
    return HeldColumns._make([*longs, *ints, np.empty((own, rows), np.int64)])


def property_texts(held: Held, rows: Longs, name: str) -> pa.Array:
    """The value of a property of each of these records held as text; null without one.

    Raises UnreadableFile where a file became shorter since the log was read.
    """
    names, span = _names([(name, HASH)]), np.empty(2, np.int64)
    return _gathered(held, rows, lambda data, *rest: value_sizes(data, rest[0], names, span, *rest[1:]))


def body_texts(held: Held, rows: Longs) -> pa.Array:
    """The body of each of these records held as text, as it is stored.

    Raises UnreadableFile where a file became shorter since the log was read.
    """
    return _gathered(held, rows, body_sizes)


def _gathered(held: Held, rows: Longs, find: Find) -> pa.Array:
    places = np.argsort(held.columns.physical_offset[rows], kind="stable")
    in_log_order = held.by_file(rows[places])
    found = [pa.array([], pa.string()), *(_texts(data, positions, find) for _, data, positions in in_log_order)]
    at = np.empty(len(places), np.int64)
    at[places] = np.arange(len(places))
    return pa.concat_arrays(found).take(pa.array(at))


def _texts(data: Bytes, positions: Longs, find: Find) -> pa.Array:
    starts, sizes = np.empty(len(positions), np.int64), np.empty(len(positions), np.int64)
    find(data, positions, starts, sizes)
    text = np.empty(GROWTH * int(np.maximum(sizes, 0).sum()) + BLOCK, np.uint8)
    ends: Ints = np.zeros(len(positions) + 1, np.int32)
    put_values(data, starts, sizes, text, ends)
    is_there = pa.array(sizes >= 0).buffers()[1]
    return pa.Array.from_buffers(pa.string(), len(positions), [is_there, pa.py_buffer(ends), pa.py_buffer(text)])
