"""The copies of compacted topics as load() takes them in: which queues are there, and what stops the start.

Source: CompactionStore#load, CompactionLog.TopicPartitionLog#init, #recover, #sanityCheck @5.1.0 … 5.5.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from parsers.compaction.sparse_queue import NO_UNITS, SparseQueue
from parsers.consumequeue.batch import BATCH_UNIT
from parsers.damage.errors import unheard
from parsers.store.store_file import StoreFile
from recovery.broker.mapped_file_queue import FileList, LoadFailed, NameRefused, list_files
from recovery.broker.store_folder import CompactedFiles, QueueKey
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion

SOURCE = "CompactionStore#load, CompactionLog.TopicPartitionLog#init"


@dataclass(frozen=True, slots=True)
class CompactedQueueLoad:
    """One queue after load(): `queue` and the end of its log; `why_not` where the broker goes on without it."""

    queue: SparseQueue
    log_end: int
    why_not: str | None = None


def load_compaction(
    compacted: Sequence[CompactedFiles], version: BrokerVersion, settings: StoreSettings
) -> dict[QueueKey, CompactedQueueLoad]:
    """The compacted queues as the broker holds them after load(); none where it loads none.

    Raises:
        LoadFailed: names in compactionLog/ and compactionCq/ that do not fit, or are no numbers; until 5.1.0 any size
        but the configured one, too.
    """
    if not (version.has_compaction and settings.enable_compaction):
        return {}
    return dict(_loaded(compacted, version, settings))


def _loaded(
    compacted: Sequence[CompactedFiles], version: BrokerVersion, settings: StoreSettings
) -> Iterator[tuple[QueueKey, CompactedQueueLoad]]:
    for found in compacted:
        if found.queue_id is None:
            raise NameRefused(
                "a folder in compactionLog/TOPIC/ whose name is no number stops the start",
                f"{SOURCE} (NumberFormatException)",
                f"{found.topic}/{found.folder}",
            )
        if found.units is None:  # a folder in compactionLog/ alone is passed over
            continue
        key = (found.topic, found.queue_id)
        try:
            yield key, _load_queue(found, version, settings)
        except NameRefused:
            raise
        except LoadFailed as failed:
            if not version.starts_without_compacted_queue:
                raise
            yield key, CompactedQueueLoad(SparseQueue(()), 0, f"{failed.rule}: {failed.evidence}")


def _load_queue(found: CompactedFiles, version: BrokerVersion, settings: StoreSettings) -> CompactedQueueLoad:
    queue_size = settings.compaction_cq_mapped_file_size // BATCH_UNIT.size * BATCH_UNIT.size
    log = FileList(log_file_size(queue_size, settings.compaction_mapped_file_size))
    units = FileList(queue_size)
    list_files(log, found.log, version)
    list_files(units, found.units or (), version)
    queue = SparseQueue.of([_store_file(file.entry.path) for file in units.files if file.entry], damage=unheard)
    end = queue.max_position if version.cuts_copies_at_last_unit else _first_end(queue)
    if end > 0:
        log.truncate_to(end)
    named = [{file.name for file in files} for files in (log.files, units.files)]
    if apart := sorted(named[0] ^ named[1]):
        raise NameRefused(
            "a compacted queue's files in compactionLog/ and compactionCq/ have other names, which stops the start",
            f"{SOURCE} (#sanityCheck, RuntimeException)",
            f"{found.topic}/{found.folder}: {apart[0]} is in one of the two only",
        )
    return CompactedQueueLoad(queue, log.max_offset)


def _first_end(queue: SparseQueue) -> int:
    """The end of the last file's first message, where 5.1.0 cuts the log; -1 where that file has no unit."""
    last = queue.files[-1].units if queue.files else NO_UNITS
    return int(last[0]["physical_offset"]) + int(last[0]["msg_size"]) if len(last) else -1


def log_file_size(queue_file_size: int, asked: int) -> int:
    """Bytes of a file of compactionLog/: a multiple of the queue file's, five at least.

    Source: CompactionLog#getCompactionLogSize @5.3.3.
    """
    times, rest = divmod(asked, queue_file_size)
    if times < 5:
        return queue_file_size * 5
    return queue_file_size * (times if 0 < rest < queue_file_size >> 1 else times + 1)


def _store_file(path: Path) -> StoreFile:
    return StoreFile(path, "compaction_queue", 0, 0)
