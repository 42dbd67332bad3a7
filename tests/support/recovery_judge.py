"""A played start in the form of a case's `truth`, and the two compared field by field.

Left out, as the README beside the cases says: times of loading, names of index files that did not exist before, the
size of `abort`, and `logics` and `index` of the checkpoint afterwards.
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from parsers.checkpoint import CHECKPOINT
from parsers.java import to_long
from recovery.broker.consume_queue import Queue
from recovery.broker.dispatch_log import DispatchLog, Phase
from recovery.broker.index_service import IndexFile
from recovery.broker.mapped_file_queue import LogFile
from recovery.broker.memory import BrokerMemory
from recovery.broker.queue_database import DatabaseQueue, QueueDatabase
from recovery.broker.store_folder import QueueKey, read_evidence
from recovery.retention.cleaner import Cleaner, Clock, DiskUse, trigger
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.start.restart import Restart, restart
from tests.support.recovery_cases import Case, CaseSet, sha256

LAB_HEAP_BYTES = 512 << 20
NEW_INDEX_FILE = "created"
ALWAYS_LISTED = 60
LAB_DEFAULTS = {"cleanResourceInterval": "3600000", "diskMaxUsedSpaceRatio": "95", "fileReservedTime": "87600"}
LAB_DISK = DiskUse(19, 19)
Told = dict[str, Any]


def judge(cases: CaseSet, name: str) -> tuple[list[str], Told]:
    """The fields that the case's truth decides, and those in which we differ: field -> (ours, truth)."""
    case = cases.case(name)
    cleaning = case["damageClass"].startswith("retention")
    truth = (retention_truth if cleaning else truth_of)(case)
    with cases.built(case) as root:
        told = (play_retention if cleaning else play)(case, root)
        wrong = differences(told, truth)
        if not cleaning:
            compiled = play(case, root, compiled=True)
            wrong |= {f"compiled {name}": both for name, both in differences(compiled, _countable(told)).items()}
    return list(truth), wrong


def _countable(told: Told) -> Told:
    """What can also be told without index entries: their bytes, chains and duplicates are left out."""
    for row in told.get("quiet.index", ()):
        for name in ("HashSlotCount", "sha256Used", "sha256UsedNoTimes", "duplicateEntries"):
            row.pop(name)
    return told


def play(case: Case, root: Path, *, compiled: bool = False) -> Told:
    """What we say this start does, keyed as the truth is: `field` or `afterLoad.field`, `quiet.field`.

    `compiled` takes records in runs and counts index entries; else they are checked and written one by one.
    """
    settings = StoreSettings.from_config(effective_settings(case))
    version = BrokerVersion.parse(case["version"])
    before = _files(root)
    states: dict[str, Told] = {}

    def look(memory: BrokerMemory) -> None:
        states["afterLoad"] = _state(memory, before, hashes=False)
        for queue in () if memory.database is None else memory.database.queues.values():
            queue.ask_first()  # as the recorder did

    played = restart(
        read_evidence(root, settings),
        version,
        settings,
        heap_bytes=LAB_HEAP_BYTES,
        with_index_entries=compiled is False,
        after_load=look,
    )
    told: Told = {"hang": True} if played.hang else _told(played, before)
    if played.memory.database is not None:
        told["undecided"] = {
            f"{topic}/{queue_id}": _noted_end(played.memory.database, (topic, queue_id))
            for topic, queue_id in played.memory.database.undecided
        }
    if played.started:
        states["quiet"] = _state(played.memory, before, hashes=True)
    if not played.hang:
        told |= {f"{when}.{name}": value for when, state in states.items() for name, value in state.items()}
        _drop_slot_counts(told)
    return _countable(told) if compiled else told


def effective_settings(case: Case) -> dict[str, str]:
    """What was set, and the JVM properties under the names that 5.x has for them as settings, in percent."""
    given = LAB_DEFAULTS | {name: str(value) for name, value in case["configOverrides"].items()}
    properties = {name.rpartition(".")[2]: float(value) for name, value in case.get("systemProperties", {}).items()}
    return given | {name: str(round(ratio * 100)) for name, ratio in properties.items()}


def play_retention(case: Case, root: Path) -> Told:
    """A retention case: the store is started, then each round runs the log's cleaner and the queues' cleaner."""
    settings = StoreSettings.from_config(effective_settings(case))
    version = BrokerVersion.parse(case["version"])
    before, now_ms = _files(root), time.time_ns() // 1_000_000
    played = restart(read_evidence(root, settings), version, settings, with_index_entries=True)
    memory = played.memory
    told = _round("before", _state(memory, before, hashes=False, abort=True))
    hour_offset = timedelta(
        hours=(case["truth"]["localHour"] - datetime.fromtimestamp(now_ms / 1000, UTC).hour + 11) % 24 - 11
    )
    clock, cleaner = Clock(now_ms, hour_offset), Cleaner(memory)
    decided = trigger(version, settings, clock, LAB_DISK, manual=False)
    for number in range(len(case["truth"]["rounds"])):
        cleaner.clean_commitlog(decided, now_ms)
        told |= _round(f"{number}.afterCleanCommitLog", _state(memory, before, hashes=False, abort=True))
        cleaner.clean_queues()
        told |= _round(f"{number}.afterCleanConsumeQueue", _state(memory, before, hashes=True))
    return told | {"filesAfter": _files_then(memory, before, abort=False, started=True)}


def retention_truth(case: Case) -> Told:
    truth = case["truth"]
    known = set(truth["filesBefore"])
    states = {"before": truth["before"]}
    states |= {f"{number}.{when}": state for number, each in enumerate(truth["rounds"]) for when, state in each.items()}
    told = {"filesAfter": _comparable(truth["filesAfter"], known)}
    for when, state in states.items():
        told |= _round(when, {name: _comparable_state(name, value, known) for name, value in state.items()})
    return told


def _round(when: str, state: Told) -> Told:
    _drop_slot_counts({"afterLoad.index": state["index"]} if "Consume" not in when else {})
    return {f"{when}.{name}": value for name, value in state.items()}


def truth_of(case: Case) -> Told:
    """The case's truth in the same form, with what cannot be compared taken out."""
    truth = case["truth"]
    known = set(truth.get("filesBefore", ()))
    if truth.get("hang"):
        return {"hang": True}
    told: Told = {
        "load": truth.get("load"),
        "exception": (truth.get("exception") or "").partition(":")[0] or None,
        "filesAfter": _comparable(truth["filesAfter"], known),
    }
    for name in ("start", "dispatchedInLoad", "reputStartPositions", "dispatchedInReput", "dispatchBehindBytes"):
        if name in truth:
            told[name] = truth[name]
    if "reputFromOffsetWhenQuiet" in truth:
        told["reputFromOffsetWhenQuiet"] = truth["reputFromOffsetWhenQuiet"]
    if "abortAfter" in truth:
        told["abortAfter"] = truth["abortAfter"]
    if truth.get("start") and "checkpointAfter" in truth:
        told["checkpointAfter"] = {k: v for k, v in truth["checkpointAfter"].items() if k not in ("logics", "index")}
    for when in ("afterLoad", "quiet"):
        for name, value in truth.get(when, {}).items():
            told[f"{when}.{name}"] = _comparable_state(name, value, known)
    _drop_slot_counts(told)
    return told


def _drop_slot_counts(told: Told) -> None:
    """The recorder kept IndexHeader's AtomicInteger and printed it at the end: afterLoad shows the quiet value."""
    for row in told.get("afterLoad.index", ()):
        row.pop("HashSlotCount")


def differences(told: Told, truth: Told) -> dict[str, tuple[Any, Any]]:
    """field -> (ours, truth), for every field of the truth that differs.

    Of a queue whose end two threads of the broker decide, as the forecast says of it, bounds are judged: it ends no
    later than was noted of it, and has no unit of a message before the log's end that we do not give it.
    """
    ends: Mapping[str, int] = told.get("undecided", {})
    log_end = truth.get("quiet.commitLogMax", 0)

    def judged(name: str, value: Any) -> tuple[Any, Any]:
        ours = told.get(name)
        if not name.endswith(".queues") or not ends or value is None or ours is None:
            return ours, value
        outside = {key: _outside(value[key], ours[key], ends[key], log_end) for key in ends if key in value}
        left, right = ({k: queue for k, queue in rows.items() if k not in ends} for rows in (ours, value))
        return left, right | {key: wrong for key, wrong in outside.items() if wrong}

    pairs = {name: judged(name, value) for name, value in truth.items()}
    return {name: both for name, both in pairs.items() if both[0] != both[1]}


def _noted_end(database: QueueDatabase, key: QueueKey) -> int:
    """Where a queue ended before the start: the next queue offset."""
    noted = None if database.table is None else database.table.limits.get(key)
    return 0 if noted is None else to_long(noted.last_queue_offset + 1)


def _outside(recorded: Told, ours: Told, noted_end: int, log_end: int) -> Told:
    """What a recorded queue has beyond the bounds; empty where nothing."""
    strange = {place for place in recorded.get("units", ()) if place < log_end} - set(ours.get("units", ()))
    beyond = {"max": recorded["max"]} if recorded["max"] > noted_end else {}
    return beyond | ({"units": sorted(strange)} if strange else {})


def _comparable(files: Mapping[str, int], known: set[str]) -> Told:
    """Sizes by path; new index files have a name that nobody can know, `abort` a size that does not matter."""
    kept = {path: size for path, size in files.items() if not path.startswith("index/") or path in known}
    created = [size for path, size in files.items() if path.startswith("index/") and path not in known]
    kept |= {"abort": 0} if "abort" in kept else {}
    return {**kept, NEW_INDEX_FILE: created}


def _comparable_state(name: str, value: Any, known: set[str]) -> Any:
    if name == "files":
        return _comparable(value, known)
    if name == "queues":
        return {key: _with_places(queue) for key, queue in value.items()}
    if name == "index":
        return [{**row, "file": row["file"] if f"index/{row['file']}" in known else NEW_INDEX_FILE} for row in value]
    return value


def _with_places(queue: Told) -> Told:
    """Of each unit in a database (queue offset, physical offset, size) where its record starts."""
    return {**queue, "units": sorted(unit[1] for unit in queue["units"])} if "units" in queue else queue


def _files(root: Path) -> dict[str, int]:
    """Sizes of files below the root; those of a database of queues, which RocksDB renames as it likes, left out."""
    queues = root / "consumequeue"
    has_database = any((queues / name).exists() for name in ("CURRENT", "LOCK", "IDENTITY"))
    found = {
        str(path.relative_to(root)): path.stat().st_size
        for folder in ("commitlog", "disk2", "disk3", "consumequeue", "consumequeue_ext", "index")
        for path in (root / folder).rglob("*")
        if path.is_file() and not (has_database and path.parent == queues)
    }
    return found | {name: (root / name).stat().st_size for name in ("abort", "checkpoint") if (root / name).is_file()}


def _told(played: Restart, before: Mapping[str, int]) -> Told:
    memory = played.memory
    told: Told = {
        "load": None if played.out_of_heap else played.loaded,
        "exception": "java.lang.OutOfMemoryError" if played.out_of_heap else None,
        "abortAfter": played.abort_after,
        "filesAfter": _files_then(memory, before, abort=played.abort_after, started=played.checkpoint_created),
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


def _state(memory: BrokerMemory, before: Mapping[str, int], *, hashes: bool, abort: bool = False) -> Told:
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
        "files": _files_then(memory, before, abort=abort or hashes or memory.evidence.abort, started=True),
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


def _queue(queue: Queue, hashes: bool) -> Told:
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


def _files_then(memory: BrokerMemory, before: Mapping[str, int], *, abort: bool, started: bool) -> Told:
    """The folder's files at that moment; `started`: load() came as far as opening the checkpoint."""
    files = dict(before)
    deleted = [file.entry for file in memory.commitlog.deleted if file.entry is not None]
    gone = [entry.path.relative_to(memory.evidence.root).as_posix() for entry in deleted]
    gone += [f"index/{entry.name}" for entry in memory.index.deleted]
    for (topic, queue_id), queue in memory.queues.items():
        gone += [f"consumequeue/{topic}/{queue_id}/{file.name}" for file in queue.mapped.deleted]
        ext = () if queue.ext is None else queue.ext.mapped.deleted
        gone += [f"consumequeue_ext/{topic}/{queue_id}/{file.name}" for file in ext]
    for path in gone:
        files.pop(path, None)
    for (topic, queue_id), queue in memory.queues.items():
        folder = posixpath.normpath(f"consumequeue/{topic}/{queue_id}")  # a damaged topic may hold any character
        if folder.startswith("consumequeue/"):
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
