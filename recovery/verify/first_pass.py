"""What the first pass over a store compares, and what it leaves of the store for the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap

import numpy as np

from parsers.damage.errors import unheard
from parsers.evidence.extents import data_end
from parsers.index.open import OpenIndex, open_index
from parsers.kernels.arrays import Longs
from parsers.store.store import Store
from parsers.store.store_file import QueueKey, StoreFile
from parsers.values.topics import is_lmq
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.life import TopicLives
from recovery.scan.log_access import LogAccess
from recovery.scan.scan_ahead import at_once
from recovery.verify.checks.index.context import LeftEntries
from recovery.verify.queue_columns import NO_MESSAGES, LeftQueue, queue_messages
from recovery.verify.settle.database_spool import Spool, spool_of
from recovery.verify.settle.index_entries import Chains, beside_strays, last_written, read_chains, read_places
from recovery.verify.settle.index_kernel import live_entries
from recovery.verify.settle.key_walk import FileEntries, between
from recovery.verify.settle.log_columns import LogColumns, log_start
from recovery.verify.settle.log_pass import Outlines
from recovery.verify.settle.outline import Files, Outline, Part, QueueTrace, join
from recovery.verify.settle.queue_disk import QueueOnDisk
from recovery.verify.settle.second_pass import gather

WORTH_A_PART = 1 << 24
Parts = Sequence[Sequence[Part]]


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a store. Of the queues that are settled only those with a head are listed.

    `lowest_place`: where the first message starts that any queue begins with, of those whose first unit is not settled;
    `dispatched_to`: the end of the last message in the log that any queue has. None where there is no such unit.
    """

    queues: dict[QueueKey, LeftQueue]
    lowest_place: int | None
    dispatched_to: int | None
    index: dict[str, LeftEntries]
    log: LogColumns


def files_of(store: Store, known: StoreKnowledge, *, settles: bool = True) -> Files:
    """What a log is compared with, as it lies on disk."""
    spooled, unread = spool_of(store)
    opened = open_index(store.index, damage=unheard)
    return Files(
        queues=_queues_on_disk(store, known.settings.consume_queue_file_size, spooled),
        opened=opened,
        index=list(_entries(opened, LogAccess(store.commitlog))),
        compares_index=unread is None and known.settings.writes_index_files,
        settles=settles,
        spool=spooled,
        unread=unread,
    )


def _queues_on_disk(store: Store, file_size: int, spooled: Spool | None) -> dict[QueueKey, QueueOnDisk]:
    if spooled is not None and spooled.is_stores:
        return {key: queue.disk for key, queue in spooled.queues.items()}
    return {key: QueueOnDisk.of(files, file_size) for key, files in store.queues.items()}


def _entries(opened: Sequence[OpenIndex], log: LogAccess) -> Iterator[FileEntries]:
    before_ms = last_before_ms = 0
    for file in opened:
        if file.geometry is not None:
            count = last_written(file)
            places = read_places(file, np.array([1, count])).tolist() if count else ()
            first, last = map(log.message, places) if count else (None, None)
            begin_ms = first.store_timestamp_ms if first else file.header["begin_timestamp_ms"]
            yield FileEntries(file, count, begin_ms, before_ms, last_before_ms)
            before_ms = file.header["end_timestamp_ms"]
            last_before_ms = last.store_timestamp_ms if last else before_ms


def first_pass(store: Store, known: StoreKnowledge, files: Files, parts: Parts | None = None) -> Outline:
    """The outline of a store's log, read in parts at once; `parts` in log order, a few when not given."""
    wanted = parts or cut(store.commitlog)
    with ThreadPoolExecutor(max_workers=at_once()) as pool:
        chains = _chains_ahead(pool, files)
        whole = whole_outline(store, known, files, pool.map(Outlines(known.as_written.rules, files).of, wanted))
    return replace(whole, chains=list(chains))


def whole_outline(store: Store, known: StoreKnowledge, files: Files, told: Iterable[Outline]) -> Outline:
    """The outlines of all parts of a log together, each taken in as it comes.

    Parts that contradict each other (messages of a queue in disorder, a record inside another one) are read again as
    one.
    """
    joined = join(told, files)
    if joined is not None and joined.covered <= sum(file.size for file in store.commitlog):
        return joined
    return Outlines(known.as_written.rules, files).of([Part(file, 0, file.size) for file in store.commitlog])


def cut(files: Sequence[StoreFile]) -> list[list[Part]]:
    """The log in parts for threads to take in turn: each is two thirds of one thread's share of the written bytes left.

    The first ones are large and the last ones small, so that all threads end at about the same time; a small log is
    not cut. What was never written of a file goes with the bytes before it.
    """
    ends = [data_end(file.path, file.size) for file in files]
    left = sum(ends)
    parts: list[list[Part]] = [[]]
    room = _share(left)
    for file, written in zip(files, ends, strict=True):
        start, is_cut = 0, True
        while is_cut:
            is_cut = start + room < written
            end = start + room if is_cut else file.size
            parts[-1].append(Part(file, start, end))
            taken = min(end, written) - start
            left, room, start = left - taken, room - taken, end
            if room <= 0 and left > 0:
                parts.append([])
                room = _share(left)
    return parts


def _share(left: int) -> int:
    threads = at_once()
    return left if threads == 1 else max(WORTH_A_PART, 2 * left // (3 * threads))


def left_of(store: Store, known: StoreKnowledge, files: Files, seen: Outline, lives: TopicLives) -> Left:
    """Everything that the first pass did not settle, with the records that it speaks of.

    Messages of former lives are left out, but for those that a unit points to.
    """
    start = log_start(store.commitlog)
    end = seen.end if seen.records else start
    keys = sorted(seen.queues.keys() | files.queues.keys()) if files.compares_queues else ()
    with ThreadPoolExecutor(max_workers=at_once()) as pool:
        chains = _chains_ahead(pool, files) if seen.chains is None else seen.chains
        every = {key: _left_queue(key, files, seen, start, lives.living_start(key)) for key in keys}
        firsts = [place for each in every.values() if (place := each.first_place()) is not None]
        index = dict(_left_entries(files, seen, start, end, list(chains)))
    queues = {key: each for key, each in every.items() if not each.is_settled or each.head.expired or each.head.blanks}
    entry_places = [read_places(entries.file, index[entries.name].numbers) for entries in files.index]
    headers = [each.file.header for each in files.index]
    ends_of_index = [header[name] for header in headers for name in ("begin_physical_offset", "end_physical_offset")]
    noted = [
        *seen.noted,
        *(queue.places for queue in queues.values()),
        *entry_places,
        np.array(ends_of_index, np.int64),
    ]
    log = gather(
        store.commitlog,
        seen,
        known.as_written.rules,
        places=np.unique(np.concatenate([np.empty(0, np.int64), *noted])),
        queues={key for key, queue in queues.items() if queue.is_whole},
    )
    own = queue_messages(log) if any(len(each.units.queue_offset) for each in queues.values()) else {}
    ends = [
        place for key, each in every.items() if (place := each.last_end(end, own.get(key, NO_MESSAGES))) is not None
    ]
    return Left(queues, min(firsts, default=None), max(ends, default=None), index, log)


def _left_queue(key: QueueKey, files: Files, seen: Outline, start: int, living_from: int) -> LeftQueue:
    disk, trace = files.queues.get(key, QueueOnDisk()), seen.queues.get(key, QueueTrace())
    queue = LeftQueue.of(disk, trace, start, living_from=living_from)
    if queue.is_settled or not is_lmq(key[0]):
        return queue
    return LeftQueue.of(disk, trace, start, whole=True)  # where its units belong depends on how many come before


def _left_entries(
    files: Files, seen: Outline, start: int, end: int, chains: Sequence[Chains | None]
) -> Iterator[tuple[str, LeftEntries]]:
    walked = seen.walked
    everything = (0, 1), (len(files.index), 1)
    left = list(between(*everything, files.index))
    if walked is not None:
        left = [
            *between(everything[0], walked.start, files.index),
            *walked.spans,
            *between(walked.end, everything[1], files.index),
        ]
    for number, (entries, of_file) in enumerate(zip(files.index, chains, strict=True)):
        spans = [(first, behind) for file, first, behind in left if file == number]
        live = list(starmap(partial(_live, entries, start if files.compares_index else end), spans))
        expired = sum(behind - first for first, behind in spans) - sum(map(len, live))
        ends = np.array([1, entries.entries] if entries.entries else [], np.int64)
        broken = [] if of_file is None else [of_file.broken, of_file.strays]
        broken += [] if of_file is None else [beside_strays(entries.file, entries.entries, of_file.strays)]
        numbers = np.unique(np.concatenate([ends, *live, *broken]))
        ends_before_ms = entries.before_ms, entries.last_before_ms
        since_ms = entries.begin_ms if files.settles else None
        yield entries.name, LeftEntries(entries.entries, numbers, expired, ends_before_ms, since_ms, of_file)


def _chains_ahead(pool: ThreadPoolExecutor, files: Files) -> Iterator[Chains | None]:
    """The chains of each index file, read by the pool; None where a file has none to compare."""
    return pool.map(_chains if files.compares_index else _no_chains, files.index)


def _chains(entries: FileEntries) -> Chains | None:
    file = entries.file
    is_full_size = file.geometry is not None and len(file.data) == file.geometry.file_size
    return read_chains(file, entries.entries) if is_full_size else None


def _no_chains(entries: FileEntries) -> None:
    return None


def _live(entries: FileEntries, least: int, first: int, end: int) -> Longs:
    """Those entries of a span whose records start at or after a place."""
    numbers = np.empty(min(end - first, 1 << 16), np.int64)
    count = live_entries(entries.file.data, entries.file.entry_at(0), first, end, least, numbers)
    if count > len(numbers):
        numbers = np.empty(count, np.int64)
        live_entries(entries.file.data, entries.file.entry_at(0), first, end, least, numbers)
    return numbers[:count]
