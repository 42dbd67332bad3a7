"""A played start in the form of a case's `truth`: what is in memory, what was dispatched, which files are left."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from parsers.checkpoints.checkpoint import CHECKPOINT
from parsers.values.java import to_long
from recovery.broker.batch_queue import BatchQueue
from recovery.broker.consume_queue import Queue
from recovery.broker.dispatch_log import DispatchLog, Phase
from recovery.broker.index_service import IndexFile
from recovery.broker.mapped_file_queue import LogFile
from recovery.broker.memory import BrokerMemory
from recovery.broker.queue_database import DatabaseQueue, QueueDatabase
from recovery.broker.store_folder import QueueKey
from recovery.start.load_queues import StoreNotMade
from recovery.start.restart import Restart
from tests.support.recovery_cases import sha256

NEW_INDEX_FILE = "created"
ALWAYS_LISTED = 60
Told = dict[str, Any]
"""Field -> value, as in `truth`; fields of a moment as `afterLoad.field`, `quiet.field`."""


def told_of(played: Restart, before: Mapping[str, int]) -> Told:
    """How a start ended, what it dispatched and which files it left, of those that were there `before`."""
    memory = played.memory
    told: Told = {
        "load": None if (exception := _thrown(played)) else played.loaded,
        "exception": exception,
        "abortAfter": played.abort_after,
        "filesAfter": files_then(memory, before, abort=played.abort_after is True, started=played.checkpoint_created),
        "dispatchedInLoad": _sequence(memory.dispatched, "load"),
    }
    if played.dispatch is not None:
        told |= {
            "start": played.started,
            "reputStartPositions": played.dispatch.starts,
            "dispatchedInReput": _sequence(memory.dispatched, "start"),
            "dispatchBehindBytes": played.dispatch.behind_bytes,
            "reputFromOffsetWhenQuiet": played.dispatch.position,
            "checkpointAfter": _checkpoint_after(memory),
        }
    return told


def _thrown(played: Restart) -> str | None:
    """What ended the start in place of load()'s result."""
    if played.out_of_heap:
        return "java.lang.OutOfMemoryError"
    thrown = re.search(r"\((\w+)", played.load_error.source) if isinstance(played.load_error, StoreNotMade) else None
    return None if thrown is None else f"java.lang.{thrown[1]}"


def _checkpoint_after(memory: BrokerMemory) -> Told:
    """What an orderly shutdown writes; a slave takes the time of the log's end from what it queues."""
    stored = memory.checkpoint
    copies = memory.settings.broker_role == "SLAVE" or memory.settings.enable_dleger_commit_log
    queued_ms = memory.last_queued_ms if copies else None
    untouched = CHECKPOINT.unpack((memory.evidence.checkpoint or b"").ljust(CHECKPOINT.size, b"\0"))
    confirmed = (
        memory.confirm_offset if memory.version.dispatches_confirmed_only else untouched["confirm_physical_offset"]
    )
    fields: Told = {
        "physic": stored.physic_msg_timestamp if queued_ms is None else queued_ms,
        "masterFlushed": untouched["master_flushed_offset"],
        "confirmPhy": confirmed,
    }
    if memory.version.keeps_dispatched_offset:
        kept = memory.last_queued_offset if memory.last_queued_offset > 0 else memory.checkpoint.logics_physical_offset
        fields["logicsPhysicalOffset"] = kept
    return fields


def _sequence(dispatched: DispatchLog, phase: Phase) -> Told:
    rows = dispatched.rows(phase)
    offsets = dispatched.physical_offset[rows].tolist()
    if not offsets:
        return {"count": 0}
    joined = ",".join(map(str, offsets))
    told: Told = {
        "count": len(offsets),
        "first": offsets[0],
        "min": min(offsets),
        "max": max(offsets),
        "last": offsets[-1],
        "lastEnd": offsets[-1] + dispatched.msg_size[rows][-1],
        "sha256OfOffsetsJoinedByComma": sha256(joined.encode()),
    }
    return told | ({"offsets": joined} if len(offsets) <= ALWAYS_LISTED else {})


def state_of(memory: BrokerMemory, before: Mapping[str, int], *, hashes: bool, abort: bool = False) -> Told:
    """Log, queues, index and files at one moment; `hashes` as at the quiet one: of what is written, with its bytes."""
    log = memory.commitlog
    last = log.files[-1] if log.files else None
    return {
        "commitLogMin": log.min_offset,
        "commitLogMax": log.max_offset,
        "flushedWhere": memory.flushed_where,
        "committedWhere": memory.flushed_where,
        "lastFileName": last and last.name,
        "lastFileWrotePosition": last and last.wrote_position,
        "confirmOffset": memory.confirmed_offset(),
        "queues": _queues(memory, hashes),
        **({} if memory.database is None else {"dispatchedTo": memory.database.dispatched_to}),
        "topicQueueTable": memory.next_offsets,
        "files": files_then(memory, before, abort=abort or hashes or memory.evidence.abort, started=True),
        "index": [_index(file, hashes) for file in memory.index.files],
    }


def _queues(memory: BrokerMemory, hashes: bool) -> Told:
    if memory.database is None:
        return {f"{topic}/{number}": _queue(queue, hashes) for (topic, number), queue in memory.queues.items()}
    return {f"{topic}/{number}": _in_database(q, hashes) for (topic, number), q in memory.database.queues.items()}


def _in_database(queue: DatabaseQueue, hashes: bool) -> Told:
    told: Told = {
        "min": queue.min_queue_offset,
        "max": queue.max_queue_offset,
        "maxPhysicOffset": queue.max_physical_offset,
    }
    if hashes:
        told["units"] = queue.physical_offsets().tolist()
    return told


def _queue(queue: Queue | BatchQueue, hashes: bool) -> Told:
    told: Told = {
        "min": queue.min_queue_offset,
        "max": queue.max_queue_offset,
        "maxPhysicOffset": queue.max_physical_offset,
        "minLogicOffsetBytes": queue.min_position,
    }
    if hashes:
        told["files"] = _written(queue.mapped.files)
        told |= {} if queue.ext is None else {"ext": _written(queue.ext.mapped.files)}
    return told


def _written(files: Iterable[LogFile]) -> list[Told]:
    return [
        {"file": file.name, "used": file.wrote_position, "sha256": sha256(file.content(file.wrote_position))}
        for file in files
    ]


def _index(file: IndexFile, hashes: bool) -> Told:
    header = file.header()
    told: Told = {
        "file": file.name or NEW_INDEX_FILE,
        "BeginTimestamp": header["begin_timestamp_ms"],
        "EndTimestamp": header["end_timestamp_ms"],
        "BeginPhyOffset": header["begin_physical_offset"],
        "EndPhyOffset": header["end_physical_offset"],
        "HashSlotCount": header["hash_slot_count"],
        "IndexCount": header["index_count"],
    }
    if hashes:
        used = file.geometry.entries_at + 20 * header["index_count"]
        content = file.content(used)
        told |= {
            "used": used,
            "sha256Used": sha256(content),
            "sha256UsedNoTimes": sha256(bytes(16) + content[16:]),
            "duplicateEntries": _duplicates(file, header["index_count"]),
        }
    return told


def _duplicates(file: IndexFile, count: int) -> int:
    at, seen, twice = file.geometry.entries_at, set(), 0
    content = file.content(at + 20 * count)
    for number in range(1, min(count, (len(content) - at) // 20)):
        entry = content[at + 20 * number : at + 20 * number + 12]
        twice += entry in seen
        seen.add(entry)
    return twice


def files_of(root: Path) -> dict[str, int]:
    """Sizes of files below the root; those of a database of queues, which RocksDB renames as it likes, left out."""
    queues = root / "consumequeue"
    has_database = any((queues / name).exists() for name in ("CURRENT", "LOCK", "IDENTITY"))
    found = {
        str(path.relative_to(root)): path.stat().st_size
        for folder in ("commitlog", "disk2", "disk3", "consumequeue", "batchconsumequeue", "consumequeue_ext", "index")
        for path in (root / folder).rglob("*")
        if path.is_file() and not (has_database and path.parent == queues)
    }
    return found | {name: (root / name).stat().st_size for name in ("abort", "checkpoint") if (root / name).is_file()}


def files_then(memory: BrokerMemory, before: Mapping[str, int], *, abort: bool, started: bool) -> Told:
    """The folder's files at that moment; `started`: load() came as far as opening the checkpoint."""
    files = dict(before)
    deleted = [file.entry for file in memory.commitlog.deleted if file.entry is not None]
    gone = [entry.path.relative_to(memory.evidence.root).as_posix() for entry in deleted]
    gone += [f"index/{entry.name}" for entry in memory.index.deleted]
    for (topic, queue_id), queue in memory.queues.items():
        gone += [f"{queue.folder}/{topic}/{queue_id}/{file.name}" for file in queue.mapped.deleted]
        ext = () if queue.ext is None else queue.ext.mapped.deleted
        gone += [f"consumequeue_ext/{topic}/{queue_id}/{file.name}" for file in ext]
    for path in gone:
        files.pop(path, None)
    for (topic, queue_id), queue in memory.queues.items():
        folder = posixpath.normpath(f"{queue.folder}/{topic}/{queue_id}")  # a damaged topic may hold any character
        if folder.startswith(f"{queue.folder}/"):
            files |= {f"{folder}/{file.name}": file.size for file in queue.mapped.files}
            ext = () if queue.ext is None else queue.ext.mapped.files
            files |= {f"consumequeue_ext{folder[12:]}/{file.name}": file.size for file in ext}
    size = memory.index.geometry.file_size
    files |= {f"index/{f.name}": max(size, f.entry.size) for f in memory.index.files if f.entry is not None}
    files.pop("abort", None)
    files |= {"abort": 0} if abort and not memory.evidence.abort_file.is_folder else {}
    if started:
        files["checkpoint"] = max(4096, files.get("checkpoint", 0))
    return {**files, NEW_INDEX_FILE: [size for file in memory.index.files if file.name is None]}


def noted_end(database: QueueDatabase, key: QueueKey) -> int:
    """Where a queue ended before the start: the next queue offset."""
    noted = None if database.table is None else database.table.limits.get(key)
    return 0 if noted is None else to_long(noted.last_queue_offset + 1)
