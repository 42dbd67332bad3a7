"""Committed offsets as they were saved: a store's own table, and kept copies of one."""

from __future__ import annotations

import zlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from parsers.config.document import Document, holds_table
from parsers.config.offsets import FILES, document_offsets, read_offsets
from parsers.damage.errors import DamageSink, StoreFormatError, why_unreadable
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from pipelines.recordings.kept_copy import WRITTEN_IN_NAME, read_copy, written_ms
from pipelines.recordings.lines import Problem
from recovery.knowledge.copied_times import TimesLost, copied_without_times


@dataclass(frozen=True, slots=True)
class OffsetsAt:
    """Committed offsets as one file held them at one instant.

    `times_lost`: why that instant is not known, so that `written_ms` only says not before when.
    `by_mtime`: the instant is when a copy was last changed: its name tells none.
    """

    written_ms: int
    offsets: dict[tuple[str, str], dict[int, int]]
    times_lost: TimesLost | None = None
    by_mtime: bool = False


def offsets_of_store(store: Store, damage: DamageSink) -> OffsetsAt | None:
    """The offsets in the store's own config folder; None when it holds none."""
    holders = [file for file in store.config if any(holds_table(file, name) for name in FILES)]
    if not holders:
        return None
    written = [file.mtime_ns // 1_000_000 for file in holders]
    table: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for _, offset in read_offsets(store.config, on_damage="collect", damage=damage):
        if offset.kind != "pull":
            table[offset.group, offset.topic][offset.queue_id] = offset.consumer_offset
    lost = copied_without_times(store)
    return OffsetsAt(max(written) if lost is None else lost.newest_message_ms, dict(table), lost)


def offsets_in(place: Path, problem: Problem) -> list[OffsetsAt]:
    """Kept copies of consumerOffset.json (plain or gzipped, a file or a folder of them), oldest first.

    A copy was written at the epoch milliseconds in its name, else when the file was last changed. In a folder a `.bak`
    is none: the broker writes the older table into it after the newer one (4.x: MixAll#string2File), so that its time
    tells nothing.
    """
    paths = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    found = (_copy(path, problem) for path in paths if not place.is_dir() or _is_copy(path))
    return sorted((copy for copy in found if copy is not None), key=lambda copy: copy.written_ms)


def _is_copy(path: Path) -> bool:
    return ".json" in path.suffixes and ".bak" not in path.suffixes


def _copy(path: Path, problem: Problem) -> OffsetsAt | None:
    seen = path.stat()
    file = StoreFile(path, "config", seen.st_size, seen.st_mtime_ns)
    try:
        content = read_copy(path)
        document = Document(file, content if isinstance(content, dict) else {})
        table: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
        for offset in document_offsets(document):
            if offset.kind != "pull":
                table[offset.group, offset.topic][offset.queue_id] = offset.consumer_offset
    except (StoreFormatError, OSError, EOFError, zlib.error) as unreadable:
        problem(f"{path}: {why_unreadable(unreadable)}")
        return None
    if not table and not {"offsetTable", "lmqOffsetTable"} & document.content.keys():
        return None
    return OffsetsAt(written_ms(path), dict(table), by_mtime=not WRITTEN_IN_NAME.search(path.name))
