"""`rocketmq_queues`: one row per queue with the offsets a broker would compute from its files."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from parsers.store import Store, StoreFile, classify, open_store
from pipelines.spark.slices import Piece, Slice
from pipelines.spark.source import StoreReader, StoreSource, table_of

if TYPE_CHECKING:
    import pyarrow as pa


class QueuesReader(StoreReader):
    """A queue is summed up from all of its files together: its first file stands for it in the plan."""

    def files_of(self, store: Store) -> list[StoreFile]:
        return [files[0] for _, files in sorted([*store.queues.items(), *store.batch_queues.items()])]

    def partitions(self) -> Sequence[InputPartition]:
        log = open_store(Path(self.options["store"])).commitlog
        log_starts_at = (log[0].base_offset or 0) if log else 0
        planned = [slice_ for slice_ in super().partitions() if isinstance(slice_, Slice)]
        return [Slice([dataclasses.replace(p, known=(log_starts_at,)) for p in s.pieces]) for s in planned]

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from parsers.batchqueue import summarize_batch_queue
        from parsers.consumequeue.summary import summarize_queue

        summarize = summarize_batch_queue if piece.file.kind == "batchconsumequeue" else summarize_queue
        files = queue_files(Path(self.options["store"]), piece.file)
        summary = summarize(files, commitlog_min=piece.known[0], on_damage="collect")
        schema = table_of(self.table_name).bare_schema
        facts = {**dataclasses.asdict(summary), "broker": None}
        yield pa.RecordBatch.from_pylist([{name: facts[name] for name in schema.names}], schema=schema)


def queue_files(root: Path, first: StoreFile) -> list[StoreFile]:
    """All files of the queue that `first` belongs to, in offset order."""
    beside = (classify(root, path) for path in first.path.parent.iterdir())
    return sorted((f for f in beside if f.kind == first.kind), key=lambda file: file.base_offset or 0)


class QueuesSource(StoreSource):
    table_name = "queues"
    reader_class = QueuesReader

    @classmethod
    def name(cls) -> str:
        return "rocketmq_queues"
