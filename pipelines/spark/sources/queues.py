"""`rocketmq_queues`: one row per queue with the offsets a broker would compute from its files."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from parsers.damage.errors import unheard
from parsers.store.places import name_below
from parsers.store.store import Store
from parsers.store.store_file import StoreFile, classify
from pipelines.spark.sources.slices import Piece, Slice
from pipelines.spark.sources.source import StoreReader, StoreSource, table_of

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.consumequeue.summary import QueueSummary
    from parsers.queues.queue import Queue


class QueuesReader(StoreReader):
    """A queue is summed up from all of its files together: its first file stands for it in the plan. A database stands
    for all of its queues."""

    def files_of(self, store: Store) -> list[StoreFile]:
        from parsers.queues.store_queues import unit_files

        firsts = {(file.topic, file.queue_id, file.kind): file for file in reversed(unit_files(store))}
        return list(reversed(firsts.values()))

    def partitions(self) -> Sequence[InputPartition]:
        from recovery.knowledge.knowledge import knowledge_of

        store = self.store()
        version = knowledge_of(store, self.said()).version
        known = (store.log_start, *version) if store.log_not_found is None else ()
        planned = [slice_ for slice_ in super().partitions() if isinstance(slice_, Slice)]
        return [Slice([dataclasses.replace(p, known=known) for p in s.pieces]) for s in planned]

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from recovery.query.queue_minimum import readable_messages

        schema, until = table_of(self.table_name).bare_schema, self.number("until")
        for summary, minimum in self._summaries(piece):
            messages = None if minimum is None else readable_messages(summary, minimum)
            origin = {"broker": None, "watermark": until}
            facts = {**dataclasses.asdict(summary), **origin, "min_queue_offset": minimum, "messages": messages}
            yield pa.RecordBatch.from_pylist([{name: facts[name] for name in schema.names}], schema=schema)

    def _summaries(self, piece: Piece) -> Iterator[tuple[QueueSummary, int | None]]:
        """Each queue, and the minimum that the broker's version answers for it; None where the log was not found, on
        which it depends."""
        from parsers.queues.queue import BatchQueue, FileQueue
        from parsers.queues.store_queues import StoreQueues
        from recovery.query.queue_minimum import broker_minimum
        from recovery.rules.versions import BrokerVersion

        root, (log_start, *version) = Path(self.options["store"]), piece.known or (0,)
        if piece.file.kind == "rocksdb":
            with StoreQueues(self.store(), damage=unheard) as queues:
                for queue in queues.values():
                    summary = self._before_mark(queue, queue.summary(log_start))
                    yield summary, summary.min_queue_offset if piece.known else None
            return
        files, of_type = (
            queue_files(root, piece.file),
            BatchQueue if piece.file.kind == "batchconsumequeue" else FileQueue,
        )
        if not files:
            return  # whoever read the piece finds that its file is gone
        queue = of_type(files, self.note_damage)
        summary = self._before_mark(queue, queue.summary(log_start))
        if self.unread.keys() & {name_below(root, file.path) for file in files}:
            return  # of a file that cannot be read the offsets are not known
        yield summary, broker_minimum(summary, files, log_start, BrokerVersion(*version)) if piece.known else None

    def _before_mark(self, queue: Queue, summary: QueueSummary) -> QueueSummary:
        """What is said of a queue as far as the option `until` has it."""
        import pyarrow as pa

        from recovery.query.watermark import summary_before

        until, reached = self.number("until"), summary.max_physical_offset
        if until is None or reached is None or reached <= until:
            return summary
        return summary_before(queue, summary, until, self.log_end(until, pa.array([reached - 1])))


def queue_files(root: Path, first: StoreFile) -> list[StoreFile]:
    """All files of the queue that `first` belongs to, in offset order; none of a queue that is gone."""
    try:
        beside = [classify(root, path) for path in first.path.parent.iterdir()]
    except FileNotFoundError:
        return []
    return sorted((f for f in beside if f.kind == first.kind), key=lambda file: file.base_offset or 0)


class QueuesSource(StoreSource):
    format_name = "rocketmq_queues"
    table_name = "queues"
    reader_class = QueuesReader
