"""config/tieredStoreMetadata.json: the queues and segments that a broker has handed to its tiered store.

The file is all that a broker keeps of segments that a cloud provider holds.
Source: DefaultMetadataStore#encode, FileSegmentMetadata, QueueMetadata, FileSegmentType @5.3.0 - 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from parsers.config.document import Document, read_document
from parsers.config.values import int32, int64, text
from parsers.errors import DamageSink, OnDamage
from parsers.fastjson import Json, as_map
from parsers.store import StoreFile

FILE = "tieredStoreMetadata.json"
TABLES = {
    "commitLogFileSegmentTable": "COMMIT_LOG",
    "consumeQueueFileSegmentTable": "CONSUME_QUEUE",
    "indexFileSegmentTable": "INDEX",
}
STATUSES = {0: "new", 1: "sealed", 2: "deleted"}
NO_TIME = (1 << 63) - 1
"""A segment's times before its first message (Long.MAX_VALUE)."""
PARTS_OF_A_PATH = 3
MOST_SEGMENT_BYTES = 1 << 40
"""A segment has 1 GiB unless told otherwise (tieredStoreCommitLogMaxSize); a larger number is no size."""


@dataclass(frozen=True, slots=True)
class TieredQueue:
    """A queue of the tiered store: queue offsets of its first message and behind its last committed one."""

    topic: str
    queue_id: int
    min_queue_offset: int | None
    max_queue_offset: int | None
    updated_ms: int | None


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment. `path` is broker/topic/queue; `base_offset`, `size` in bytes of the queue's own log or queue there.

    `kind`: COMMIT_LOG, CONSUME_QUEUE, INDEX. What is not stored is None.
    """

    path: str
    kind: str
    base_offset: int
    status: str | None
    size: int | None
    created_ms: int | None
    begin_ms: int | None
    end_ms: int | None

    @property
    def queue(self) -> tuple[str, int] | None:
        """Topic and queue id of its path; None where the path is none of a queue."""
        parts = self.path.split("/")
        if len(parts) != PARTS_OF_A_PATH or not (parts[2].isascii() and parts[2].isdigit()):
            return None
        return parts[1], int(parts[2])


@dataclass(frozen=True, slots=True)
class TieredMetadata:
    """What the file says, and which file it is."""

    file: StoreFile
    queues: tuple[TieredQueue, ...]
    segments: tuple[Segment, ...]


def read_tiered_metadata(
    files: Sequence[StoreFile], *, on_damage: OnDamage = "raise", damage: DamageSink | None = None
) -> TieredMetadata | None:
    """The metadata of a store's config files; None where its broker has no tiered store.

    Rows that are none (a base offset that is no number) are left out. Raises, or reports, what `read_document` does.
    """
    document = read_document(files, FILE, on_damage=on_damage, damage=damage)
    if document is None:
        return None
    segments = sorted(_segments(document), key=lambda each: (each.path, each.kind, each.base_offset))
    return TieredMetadata(document.file, tuple(_queues(document)), tuple(segments))


def _queues(document: Document) -> Iterator[TieredQueue]:
    for topic, by_queue in document.table("queueMetadataTable").items():
        for number, stored in as_map(by_queue).items():
            queue_id, row = int32(number), as_map(stored)
            if queue_id is not None:
                offsets = (int64(row.get(name)) for name in ("minOffset", "maxOffset", "updateTimestamp"))
                yield TieredQueue(topic, queue_id, *offsets)


def _segments(document: Document) -> Iterator[Segment]:
    for table, kind in TABLES.items():
        for path, by_base in document.table(table).items():
            for base, stored in as_map(by_base).items():
                base_offset, row = int64(base), as_map(stored)
                if base_offset is not None:
                    yield Segment(
                        path=text(row.get("path")) or path,
                        kind=kind,
                        base_offset=base_offset,
                        status=STATUSES.get(int32(row.get("status")) or 0),
                        size=_size(row.get("size")),
                        created_ms=int64(row.get("createTimestamp")),
                        begin_ms=_time(row.get("beginTimestamp")),
                        end_ms=_time(row.get("endTimestamp")),
                    )


def _size(stored: Json | None) -> int | None:
    found = int64(stored)
    return found if found is not None and 0 <= found <= MOST_SEGMENT_BYTES else None


def _time(stored: Json | None) -> int | None:
    found = int64(stored)
    return None if found == NO_TIME else found
