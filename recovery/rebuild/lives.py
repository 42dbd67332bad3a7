"""Queues of a rebuild without the messages of former lives: what a deletion took away is in no queue of the broker's.

Only the queues of topics that have such messages are written a second time; an ordinary log is read once.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.life import NEVER, TopicLives
from recovery.rebuild.queue_files import QueueFilesWriter, QueueTotals, is_folder_name
from recovery.scan.intervals import Mask
from recovery.scan.kernel import ScanBatch, UnitColumns
from recovery.scan.log_runs import log_runs
from recovery.scan.queue_numbers import unpack_key
from recovery.scan.scanner import LogScanner


def with_living_only(
    store: Store, known: StoreKnowledge, root: Path, lives: TopicLives, written: Iterable[QueueTotals]
) -> list[QueueTotals]:
    """The totals of a rebuild in `root` after its queues hold living messages only."""
    mixed = {topic for topic, _ in lives.living_from}
    kept = [queue for queue in written if queue.topic not in mixed]
    for topic in filter(is_folder_name, mixed):
        shutil.rmtree(root / "consumequeue" / topic, ignore_errors=True)
    if all(start == NEVER for start in lives.living_from.values()):
        return kept
    scanner = LogScanner(known.rules)
    writer = QueueFilesWriter.of(root, scanner.topics, known.settings)
    for run in log_runs(store.commitlog, lambda gap: None):
        batch = scanner.scan(run.data, run.positions)
        chosen = _living(batch, scanner.topics.names(), mixed, lives.living_from)
        writer.write(ScanBatch(batch.records, UnitColumns._make(c[chosen] for c in batch.units), batch.keys))
    writer.close()
    return [*kept, *writer.totals()]


def _living(batch: ScanBatch, names: list[str], topics: set[str], living_from: Mapping[QueueKey, int]) -> Mask:
    """Which units are of living messages of these topics."""
    units = batch.units
    keys = (units.topic.astype(np.int64) << 32) | (units.queue_id.astype(np.int64) & 0xFFFFFFFF)
    met, number = np.unique(keys, return_inverse=True)
    starts = np.array(list(_starts(met.tolist(), names, topics, living_from)), np.int64)
    places = batch.records.physical_offset[units.record]
    living: Mask = (places >= starts[number]) & (units.message_count == 0) if len(met) else np.zeros(0, np.bool_)
    return living


def _starts(keys: list[int], names: list[str], topics: set[str], living_from: Mapping[QueueKey, int]) -> Iterator[int]:
    for topic, queue_id in map(unpack_key, keys):
        name = names[topic]
        yield living_from.get((name, queue_id), 0) if name in topics else NEVER
