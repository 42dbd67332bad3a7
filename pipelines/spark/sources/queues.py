"""`rocketmq_queues`: one row per queue with the offsets a broker would compute from its files."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from parsers.store import Store, StoreFile, classify
from pipelines.spark.sources.slices import Piece, Slice
from pipelines.spark.sources.source import StoreReader, StoreSource, table_of

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.consumequeue.summary import QueueSummary


class QueuesReader(StoreReader):
    """A queue is summed up from all of its files together: its first file stands for it in the plan. A database stands
    for all of its queues."""

    def files_of(self, store: Store) -> list[StoreFile]:
        from parsers.queues import unit_files

        firsts = {(file.topic, file.queue_id, file.kind): file for file in reversed(unit_files(store))}
        return list(reversed(firsts.values()))

    def partitions(self) -> Sequence[InputPartition]:
        from recovery.knowledge.knowledge import knowledge_of

        store = self.store()
        self.options["version"] = str(knowledge_of(store, self.said()).version)
        known = (store.log_start,) if store.log_not_found is None else ()
        planned = [slice_ for slice_ in super().partitions() if isinstance(slice_, Slice)]
        return [Slice([dataclasses.replace(p, known=known) for p in s.pieces]) for s in planned]

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        schema = table_of(self.table_name).bare_schema
        for summary, minimum in self._summaries(piece):
            messages = summary.max_queue_offset - summary.min_queue_offset
            facts = {**dataclasses.asdict(summary), "broker": None, "min_queue_offset": minimum, "messages": messages}
            if not piece.known:  # the log was not found: where a queue begins depends on it
                facts |= {"min_queue_offset": None, "messages": None}
            yield pa.RecordBatch.from_pylist([{name: facts[name] for name in schema.names}], schema=schema)

    def _summaries(self, piece: Piece) -> Iterator[tuple[QueueSummary, int]]:
        """Each queue, and the minimum that the broker's version answers for it."""
        from parsers.queues import BatchQueue, FileQueue, StoreQueues
        from recovery.query.queue_minimum import broker_minimum
        from recovery.rules.versions import BrokerVersion

        root, log_start = Path(self.options["store"]), next(iter(piece.known), 0)
        if piece.file.kind == "rocksdb":
            with StoreQueues(self.store(), on_damage="collect") as queues:
                for queue in queues.values():
                    summary = queue.summary(log_start)
                    yield summary, summary.min_queue_offset
            return
        files, of_type = (
            queue_files(root, piece.file),
            BatchQueue if piece.file.kind == "batchconsumequeue" else FileQueue,
        )
        summary = of_type(files, "collect").summary(log_start)
        yield summary, broker_minimum(summary, files, log_start, BrokerVersion.parse(self.options["version"]))


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
