"""A forecast as the JSON document of the command line: names, order and units are its contract."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from recovery.broker.abort_file import EXITS
from recovery.broker.consume_queue import Queue
from recovery.broker.mapped_file_queue import LogFile, file_name
from recovery.broker.memory import BrokerMemory
from recovery.forecast.advice import Advice
from recovery.forecast.config_document import config_document
from recovery.forecast.forecast import Forecast
from recovery.forecast.losses import Loss
from recovery.forecast.queue_rows import QueueRow, queue_rows
from recovery.rules.store_paths import next_log_folder
from recovery.start.restart import Restart

Document = dict[str, Any]

CHECKED_BYTES_PER_S = (100e6, 1e9)
DISPATCHED_PER_S = (50e3, 500e3)
"""Slow disk or cold cache … page cache, for one broker thread; measured figures of a machine narrow this range."""


def forecast_document(told: Forecast) -> Document:
    """Plain values only. What a broker that does not start never decides is null, and so is what is not known."""
    played, memory = told.played, told.played.memory
    dispatches = played.dispatches
    missing = None if told.missing is None else [asdict(each) for each in told.missing]
    return {
        "version": str(told.version),
        "holds_for": [str(version) for version in told.holds_for],
        "exit": EXITS[memory.evidence.abort],
        "load": _load(played),
        "start": _start(played),
        "commitlog": {**_commitlog(played), "missing": missing},
        "before_dispatch": _queues(told.before_dispatch),
        "dispatch_from": _dispatch_from(played) if dispatches else None,
        "redispatched_messages": len(memory.dispatched) if dispatches else None,
        "after_dispatch": _after(played) if dispatches else None,
        "lost": _flat(told.lost),
        "lost_counts": told.outcome.lost_as_known,
        "losses_are_known": told.outcome.losses_are_known,
        "config": None if played.is_open else config_document(played.config),
        "renumbered": [asdict(each) for each in told.renumbered],
        "brought_back": [asdict(each) for each in told.brought_back],
        "timers_again": None if told.timers_again is None else asdict(told.timers_again),
        "crash_brings_back": [asdict(each) for each in told.crash_brings_back],
        "abort_after_shutdown": played.abort_after,
        "duration": None if played.not_played else _duration(memory),
        "reasons": [asdict(reason) for reason in told.reasons],
        "advice": [_advice(each) for each in told.advice],
        "unknown": [asdict(unknown) for unknown in told.unknown],
        "otherwise": [forecast_document(other) for other in told.otherwise],
    }


def _load(played: Restart) -> Document:
    if played.out_of_heap is not None:
        return {"ok": False, "error": f"java.lang.OutOfMemoryError: {played.out_of_heap}"}
    if played.is_open:
        return {"ok": None, "error": None}
    failed = played.load_error
    ok = failed is None and (played.hang is None or played.dispatch is not None)
    return {"ok": ok, "error": None if failed is None else f"{failed.rule} ({failed.evidence})"}


def _start(played: Restart) -> Document | None:
    if played.load_error is not None or played.is_open:
        return None
    return {"returns": played.started, "error": played.hang or played.start_error}


def _commitlog(played: Restart) -> Document:
    log, started = played.memory.commitlog, played.loaded
    return {
        "min_physical_offset": log.min_offset if started else None,
        "max_physical_offset": log.max_offset if started else None,
        "next_file": _next_file(played.memory) if started else None,
        "files_deleted": [file.name for file in log.deleted],
        "files": [file.name for file in log.files] if played.checkpoint_created else _names_left(played),
    }


def _next_file(memory: BrokerMemory) -> str | None:
    """Where the log's next file will be made as long as no disk is nearly full; None in a DLedger log, which DLedger
    makes, and where all folders are read-only."""
    base = memory.commitlog.files[-1].end_offset if memory.commitlog.files else 0
    folder = None if memory.evidence.log_is_dledgers else next_log_folder(memory.settings, base)
    return None if folder is None else f"{folder}/{file_name(base)}"


def _names_left(played: Restart) -> list[str]:
    """What is in the log's folder when listing the store's files already failed."""
    gone = {file.entry for file in played.memory.commitlog.deleted}
    return [entry.name for entry in played.memory.evidence.commitlog if entry not in gone]


def _queues(rows: tuple[QueueRow, ...] | None) -> Document | None:
    return None if rows is None else {"queues": _flat(rows)}


def _flat(rows: Iterable[Loss | QueueRow]) -> list[Document]:
    """Rows of plain values, as there can be one for each lost message: `asdict` takes ten times as long."""
    return [{name: getattr(row, name) for name in row.__dataclass_fields__} for row in rows]


def _dispatch_from(played: Restart) -> int | None:
    """Where the first message dispatched stands, or where dispatch would go on when there is none."""
    if played.memory.dispatched.position:
        return played.memory.dispatched.position[0]
    return played.dispatch.starts[-1] if played.dispatch else None


def _after(played: Restart) -> Document:
    memory = played.memory
    unknown_ext = not memory.ext_units_are_known
    of_single = [(*key, queue.mapped) for key, queue in sorted(memory.queues.items()) if isinstance(queue, Queue)]
    hashes = {
        f"{topic}/{queue_id}/{file.name}": None if unknown_ext and file.was_appended_to else _sha256_used(file)
        for topic, queue_id, mapped in of_single
        for file in mapped.files
    }
    return {
        **(_queues(queue_rows(memory)) or {}),
        "consumequeue_sha256": hashes,
        "consumequeue_files_deleted": [
            f"{topic}/{queue_id}/{file.name}" for topic, queue_id, mapped in of_single for file in mapped.deleted
        ],
        "index_files": _index_files(memory),
        "indexed_twice": len(memory.index.indexed_twice),
        "confirm_offset": memory.confirmed_offset(),
        "behind_bytes": None if played.dispatch is None else played.dispatch.behind_bytes,
    }


def _sha256_used(file: LogFile) -> str:
    return hashlib.sha256(file.content(file.wrote_position)).hexdigest()


def _index_files(memory: BrokerMemory) -> list[Document]:
    """Files on disk keep their name; those that are written get the time at which they are made."""
    rows: list[Document] = [
        {"name": entry.name, "action": "deleted", "entries": None} for entry in memory.index.deleted
    ]
    for file in memory.index.files:
        action = "kept" if file.entry is not None else "written"
        rows.append({"name": file.name, "action": action, "entries": file.header()["index_count"] - 1})
    return rows


def _duration(memory: BrokerMemory) -> Document:
    """Seconds for reading the log and dispatching, as a range; queue and index files are small beside them."""
    slow, fast = (
        memory.bytes_checked / checked + len(memory.dispatched) / dispatched
        for checked, dispatched in zip(CHECKED_BYTES_PER_S, DISPATCHED_PER_S, strict=True)
    )
    return {
        "seconds_at_least": round(fast, 1),
        "seconds_at_most": round(slow, 1),
        "bytes_read": memory.bytes_checked,
        "messages_dispatched": len(memory.dispatched),
        "assumed": f"reading {CHECKED_BYTES_PER_S[0] / 1e6:.0f} to {CHECKED_BYTES_PER_S[1] / 1e6:.0f} MB/s, "
        f"dispatching {DISPATCHED_PER_S[0]:.0f} to {DISPATCHED_PER_S[1]:.0f} messages/s",
    }


def _advice(advice: Advice) -> Document:
    return {
        "do": advice.repair.do,
        "config": dict(advice.repair.config),
        "files": list(advice.repair.files),
        "evidence": advice.repair.evidence,
        "costs": advice.repair.costs,
        "then": None
        if advice.then is None
        else {
            "starts": advice.then.starts,
            "max_physical_offset": advice.then.log_end,
            "lost_counts": advice.then.lost_as_known,
            "losses_are_known": advice.then.losses_are_known,
            "lost_config": advice.then.lost_config,
            "renumbered_queues": advice.then.renumbered,
            "redispatched_messages": advice.then.dispatched,
            "index_files_deleted": advice.then.index_files_deleted,
        },
    }
