"""Committed offsets as they were saved: a store's own table, and kept copies of one."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from parsers.config.client_offsets import ClientOffset, client_offsets, is_client_offsets
from parsers.config.document import Document, holds_table
from parsers.config.offsets import FILES, document_offsets, offset_table, read_offsets
from parsers.damage.errors import DamageSink, StoreFormatError, why_unreadable
from parsers.evidence.seen import files_below
from parsers.layouts.fastjson import parse
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from pipelines.recordings.kept_copy import WRITTEN_IN_NAME, copy_bytes, written_ms
from pipelines.recordings.lines import Problem
from recovery.knowledge.copied_times import TimesLost, copied_without_times


@dataclass(frozen=True, slots=True)
class OffsetsAt:
    """Committed offsets as one file held them at one instant.

    `times_lost`: why that instant is not known, so that `written_ms` only says not before when.
    `by_mtime`: the instant is when a copy was last changed: its name tells none.
    `is_clients`: of broadcasting clients' own files, which have no other group.
    """

    written_ms: int
    offsets: dict[tuple[str, str], dict[int, int]]
    times_lost: TimesLost | None = None
    by_mtime: bool = False
    is_clients: bool = False


def offsets_of_store(store: Store, damage: DamageSink) -> OffsetsAt | None:
    """The offsets in the store's own config folder; None when it holds none."""
    holders = [file for file in store.config if any(holds_table(file, name) for name in FILES)]
    if not holders:
        return None
    written = [file.mtime_ns // 1_000_000 for file in holders]
    table = offset_table(offset for _, offset in read_offsets(store.config, damage=damage) if offset.kind != "pull")
    lost = copied_without_times(store)
    return OffsetsAt(max(written) if lost is None else lost.newest_message_ms, table, lost)


def offsets_in(place: Path, problem: Problem) -> list[OffsetsAt]:
    """Kept copies of consumerOffset.json (plain or gzipped, a file or a folder of them), oldest first.

    A copy was written at the epoch milliseconds in its name, else when the file was last changed. In a folder a `.bak`
    is none: the broker writes the older table into it after the newer one (4.x: MixAll#string2File), so that its time
    tells nothing.

    offsets.json of broadcasting clients, in folders as these keep them, counts as one table, in which a group has the
    name GROUP@CLIENT; beside copies of a broker's table it is left out.
    """
    found = (_copy(path, problem) for path in files_below(place) if not place.is_dir() or _is_copy(path))
    copies = sorted((copy for copy in found if copy is not None), key=lambda copy: copy.written_ms)
    of_clients = [copy for copy in copies if copy.is_clients]
    if len(of_clients) < len(copies) and of_clients:
        problem(f"{place}: {len(of_clients)} offsets.json of clients beside copies of a broker's table were left out")
        return [copy for copy in copies if not copy.is_clients]
    merged = {key: queues for copy in of_clients for key, queues in copy.offsets.items()}
    return [replace(of_clients[-1], offsets=merged)] if of_clients else copies


def _of_client(path: Path, offsets: Sequence[ClientOffset], problem: Problem) -> OffsetsAt | None:
    """What a client keeps in `<client id>/<group>/offsets.json`."""
    if len(brokers := sorted({each.broker for each in offsets})) > 1:
        problem(f"{path}: queues of several brokers ({', '.join(brokers)}), of which nothing names the store's")
        return None
    group = f"{path.absolute().parent.name}@{path.absolute().parent.parent.name}"
    table: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for each in offsets:
        table[group, each.topic][each.queue_id] = each.consumer_offset
    return OffsetsAt(written_ms(path), dict(table), by_mtime=True, is_clients=True)


def _is_copy(path: Path) -> bool:
    return ".json" in path.suffixes and ".bak" not in path.suffixes


def _copy(path: Path, problem: Problem) -> OffsetsAt | None:
    seen = path.stat()
    file = StoreFile(path, "config", seen.st_size, seen.st_mtime_ns)
    try:
        stored = copy_bytes(path)
        if is_client_offsets(stored):
            return _of_client(path, client_offsets(stored), problem)
        content = parse(stored)
        document = Document(file, content if isinstance(content, dict) else {})
        table = offset_table(offset for offset in document_offsets(document) if offset.kind != "pull")
    except (StoreFormatError, OSError, EOFError, zlib.error) as unreadable:
        problem(f"{path}: {why_unreadable(unreadable)}")
        return None
    if not table and not {"offsetTable", "lmqOffsetTable"} & document.content.keys():
        return None
    return OffsetsAt(written_ms(path), table, by_mtime=not WRITTEN_IN_NAME.search(path.name))
