"""Facts on their way to the replay, on disk: written as they are read, by buckets of groups, read back group by group.

A reader of facts holds a bounded number of them; whoever replays a bucket holds its columns, and the facts of one group
at a time. Facts about no group (a broker's starts, routes) are a bucket of their own, which concerns every group.
"""

from __future__ import annotations

import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from pipelines.objects.place import Place
from pipelines.spark.jobs.fact_columns import FactRun, Interned, fact_run, facts_to_batch
from rebalance.facts import Fact, GroupFact

COMMON = -1
"""The bucket of facts that are about no group."""
HELD_FACTS = 1 << 16
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True, slots=True)
class SpoolFile:
    """Some facts of one bucket: Arrow streams one after the other, each of one type."""

    bucket: int
    path: Place


class FactSpool:
    """Writes the facts of one reader; `close` tells the files. `folder` must be there.

    A file grows with every spill, which an object cannot: what goes to an object store waits on this machine.
    """

    def __init__(self, folder: Place, name: str, buckets: int, *, first_position: int = 0) -> None:
        """`name`: of the files, different for each spool of a folder; `first_position`: of the first fact."""
        self._folder, self._name, self._buckets = folder, name, buckets
        self._waiting: tempfile.TemporaryDirectory[str] | None = None
        if isinstance(folder, Path):
            self._here = folder
        else:
            self._waiting = tempfile.TemporaryDirectory(prefix="rocketlens-facts-")
            self._here = Path(self._waiting.name)
        self._position = first_position
        self._held: list[Fact] = []
        self._bucket_of: dict[str, int] = {}
        self._files: dict[int, SpoolFile] = {}

    def add(self, fact: Fact) -> None:
        self._held.append(fact)
        if len(self._held) >= HELD_FACTS:
            self._spill()

    def close(self) -> list[SpoolFile]:
        self._spill()
        if self._waiting is not None:
            for file in self._files.values():
                file.path.write_bytes((self._here / file.path.name).read_bytes())
            self._waiting.cleanup()
        return list(self._files.values())

    def _spill(self) -> None:
        kinds: defaultdict[tuple[int, type[Fact]], tuple[list[Fact], list[int]]] = defaultdict(lambda: ([], []))
        for position, fact in enumerate(self._held, self._position):
            facts, positions = kinds[self._bucket(fact), type(fact)]
            facts.append(fact)
            positions.append(position)
        for (bucket, kind), (facts, positions) in kinds.items():
            self._append(bucket, facts_to_batch(kind, facts, positions))
        self._position += len(self._held)
        self._held = []

    def _bucket(self, fact: Fact) -> int:
        if not isinstance(fact, GroupFact):
            return COMMON
        bucket = self._bucket_of.get(fact.group)
        if bucket is None:
            bucket = zlib.crc32(fact.group.encode("utf-8", "surrogatepass")) % self._buckets
            self._bucket_of[fact.group] = bucket
        return bucket

    def _append(self, bucket: int, batch: pa.RecordBatch) -> None:
        name = f"{self._name}-{bucket}.arrows"
        self._files.setdefault(bucket, SpoolFile(bucket, self._folder / name))
        with (
            (self._here / name).open("ab") as file,
            pa.ipc.new_stream(file, batch.schema, options=_COMPRESSED) as stream,
        ):
            stream.write_batch(batch)


def facts_by_group(files: Iterable[Place]) -> Iterator[tuple[str, list[Fact]]]:
    """Each group of a bucket with its facts in the order of their positions; of the common bucket one group, ""."""
    interned: Interned = {}
    runs = [fact_run(batches, interned) for batches in _batches(files)]
    for group in sorted({group for run in runs for group in run.group_ends}):
        yield group, _of_group([(run, *run.group_ends[group]) for run in runs if group in run.group_ends])


def _of_group(pieces: Sequence[tuple[FactRun, int, int]]) -> list[Fact]:
    facts = [fact for run, first, end in pieces for fact in run.facts(first, end)]
    positions = np.concatenate([run.positions[first:end] for run, first, end in pieces])
    return list(map(facts.__getitem__, np.argsort(positions).tolist()))


def _batches(files: Iterable[Place]) -> Iterable[list[pa.RecordBatch]]:
    """The batches of some files, those of one type and schema together."""
    found: defaultdict[tuple[object, ...], list[pa.RecordBatch]] = defaultdict(list)
    for path in files:
        with pa.OSFile(str(path)) if isinstance(path, Path) else pa.BufferReader(path.read_bytes()) as source:
            while source.tell() < source.size():
                with pa.ipc.open_stream(source) as stream:
                    kind = tuple((stream.schema.metadata or {}).items())
                    found[*kind, *stream.schema].extend(stream)
    return found.values()
