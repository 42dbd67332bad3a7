"""config/tieredStoreMetadata.json: the queues and segments that a broker has handed to its tiered store.

The file is all that a broker keeps of segments that a cloud provider holds. Those of the posix provider are files
`<hash>_<cluster>/<broker>/<topic>/<queue>/<kind>/<hash><20 digits>`. A COMMIT_LOG segment has the messages of one
queue, byte for byte as the log has them but for PHYSICALOFFSET: that is the message's place in this queue's own log,
which starts at 0. A CONSUME_QUEUE segment has units of 20 bytes whose physical_offset is that place; the unit at byte p
is message number p / 20 of the queue.
Source: DefaultMetadataStore#encode, FileSegmentMetadata, QueueMetadata, FileSegmentType, PosixFileSegment,
CommitLogInputStream#read, MessageStoreUtil#offset2FileName, FlatMessageFile @5.3.0 - 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import md5
from os.path import isfile
from pathlib import Path

from parsers.config.document import Document, read_document
from parsers.config.values import int32, int64, text
from parsers.damage.errors import DamageSink
from parsers.layouts.fastjson import Json, as_map
from parsers.store.store_file import QueueKey, StoreFile

FILE = "tieredStoreMetadata.json"
TABLES = {
    "commitLogFileSegmentTable": "COMMIT_LOG",
    "consumeQueueFileSegmentTable": "CONSUME_QUEUE",
    "indexFileSegmentTable": "INDEX",
}
PARTS_OF_A_PATH = 3
BrokerQueue = tuple[str, str, int]
MOST_SEGMENT_BYTES = 1 << 40
"""A segment has 1 GiB unless set otherwise (tieredStoreCommitLogMaxSize); a larger number is no size."""
HASH_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment. `path` is broker/topic/queue; `base_offset`, `size` in bytes of the queue's own log or queue there.

    `kind`: COMMIT_LOG, CONSUME_QUEUE, INDEX. A size that is not stored is None.
    """

    path: str
    kind: str
    base_offset: int
    size: int | None

    @property
    def queue(self) -> BrokerQueue | None:
        """Broker, topic and queue id of its path; None where the path is none of a queue."""
        parts = self.path.split("/")
        queue_id = int32(parts[-1]) if len(parts) == PARTS_OF_A_PATH else None
        return None if queue_id is None or str(queue_id) != parts[2] else (parts[0], parts[1], queue_id)


@dataclass(frozen=True, slots=True)
class TieredMetadata:
    """What the file says. `begins`: topic and queue id -> queue offset of the first message that is there."""

    begins: Mapping[QueueKey, int]
    segments: tuple[Segment, ...]


def read_tiered_metadata(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> TieredMetadata | None:
    """The metadata of a store's config files; None where its broker has no tiered store.

    Rows that are none (a base offset that is no number) are left out. Raises, or reports, what `read_document` does.
    """
    document = read_document(files, FILE, damage=damage)
    if document is None:
        return None
    segments = sorted(_segments(document), key=lambda each: (each.path, each.kind, each.base_offset))
    return TieredMetadata(dict(_begins(document)), tuple(segments))


def _begins(document: Document) -> Iterator[tuple[QueueKey, int]]:
    for topic, by_queue in document.table("queueMetadataTable").items():
        for number, stored in as_map(by_queue).items():
            queue_id, begin = int32(number), int64(as_map(stored).get("minOffset"))
            if queue_id is not None and begin is not None and begin >= 0:
                yield (topic, queue_id), begin


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
                        size=_size(row.get("size")),
                    )


def _size(stored: Json | None) -> int | None:
    found = int64(stored)
    return found if found is not None and 0 <= found <= MOST_SEGMENT_BYTES else None


def segment_name(base_offset: int) -> str:
    """The file name of a segment: eight digits of an MD5, then the base offset."""
    number = str(base_offset)
    return md5(number.encode(), usedforsecurity=False).hexdigest()[:HASH_DIGITS] + f"{base_offset:020d}"


def segment_files(folder: Path, segment: Segment) -> list[Path]:
    """The files of a segment below the provider's folder: one, or none; several where several clusters share it.

    Of a path of the metadata that is no broker, topic and queue there is none. Raises OSError: the folder cannot be
    listed.
    """
    parts = segment.path.split("/")
    if segment.queue is None or any(part in ("", ".", "..") for part in parts):
        return []
    name = segment_name(segment.base_offset)
    found = (cluster.joinpath(*parts, segment.kind, name) for cluster in sorted(folder.iterdir()))
    return [path for path in found if isfile(path)]
