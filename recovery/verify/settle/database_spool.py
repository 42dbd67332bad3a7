"""The queues of a database laid out as files of 20-byte units in a folder of our own, so that one pass fits both."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from weakref import finalize

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import Damage
from parsers.evidence.guard import scratch_folder
from parsers.queues.store_queues import StoreQueues
from parsers.rocksdb.queue_table import QueueLimits, QueueTable, Units
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from recovery.scan.log_access import StoredTimes
from recovery.verify.settle.queue_disk import FileUnits, QueueOnDisk
from recovery.verify.settle.unit_times import Aside, UnitTimes


@dataclass(frozen=True, slots=True)
class SpooledQueue:
    """One queue of a database: its units up to its last message, and what else there is to say of it.

    `last`: the unit of the last message, None where there is none. `stale`: how many units are after that message,
    from `first_stale` on. `is_whole`: every unit could be read.
    """

    disk: QueueOnDisk
    limits: QueueLimits
    last: dict[str, int] | None
    stale: int
    first_stale: int
    is_whole: bool


@dataclass(slots=True, weakref_slot=True)
class Spool:
    """The queues of a database, spooled into a folder that goes with the object.

    Attributes:
        is_stores: these are the queues of the store; False where they are a copy of those in files, and not spooled.
        dispatched_to: as the database notes it.
        damage: what of it could not be read.
        wrong_times: by queue the units, in its order, with another store time than their record's.
    """

    folder: str
    is_stores: bool
    queues: dict[QueueKey, SpooledQueue] = field(default_factory=dict)
    dispatched_to: int | None = None
    damage: list[Damage] = field(default_factory=list)
    wrong_times: dict[QueueKey, Aside] = field(default_factory=dict)


def spool_of(store: Store) -> tuple[Spool | None, str | None]:
    """The database of a store's queues, spooled, which takes 20 bytes a unit; None without one.

    And why a store's queues cannot be read, None where they can.
    """
    if store.queue_database is None:
        return None, None
    damage: list[Damage] = []
    with StoreQueues(store, damage=damage.append) as queues:
        unread = None if queues else queues.unread
        is_stores = queues.in_database or unread is not None
        spooled = Spool(store.queue_database.path.name, is_stores=is_stores, damage=damage)
        if queues.table is not None and queues.in_database:
            _fill(spooled, queues.table, store)
        return spooled, unread


def _fill(spooled: Spool, table: QueueTable, store: Store) -> None:
    folder, log = scratch_folder("queues", *store.places), store.commitlog
    finalize(spooled, shutil.rmtree, folder, ignore_errors=True)
    spooled.dispatched_to = table.dispatched_to
    start = min((file.base_offset or 0 for file in log), default=0)
    times = UnitTimes(folder, start, max(((file.base_offset or 0) + file.size for file in log), default=0))
    for number, (key, limits) in enumerate(table.limits.items()):
        into = partial(times.add, number)
        spooled.queues[key] = _spool_queue(table, limits, folder / str(number), spooled.damage, into)
    keys = list(table.limits)
    spooled.wrong_times = {keys[queue]: wrong for queue, wrong in times.wrong(StoredTimes(log)).items()}


def _spool_queue(
    table: QueueTable, limits: QueueLimits, path: Path, damage: list[Damage], also: Callable[[Units], None]
) -> SpooledQueue:
    before, runs, stale = len(damage), list[FileUnits](), list[Units]()
    with path.open("wb") as file:
        written = 0
        for units in table.units(limits):
            live = units[units["queue_offset"] <= limits.last_queue_offset]
            stale += [units["queue_offset"][len(live) :]] if len(live) < len(units) else []
            runs += _runs(path, live["queue_offset"].astype(np.int64), written)
            also(live)
            file.write(_as_files_have_them(live))
            written += len(live)
    return SpooledQueue(
        disk=QueueOnDisk(tuple(_joined(runs))),
        limits=limits,
        last=table.unit_or_none(limits, limits.last_queue_offset),
        stale=sum(map(len, stale)),
        first_stale=int(stale[0][0]) if stale else 0,
        is_whole=len(damage) == before,
    )


def _as_files_have_them(units: Units) -> bytes:
    rows = np.empty(len(units), CQ_UNIT.dtype)
    for name in CQ_UNIT.offsets:
        rows[name] = units[name]
    return rows.tobytes()


def _runs(path: Path, queue_offsets: npt.NDArray[np.int64], before: int) -> Iterator[FileUnits]:
    """Neighbours without a hole between them."""
    ends = np.flatnonzero(np.diff(queue_offsets) != 1) + 1
    bounds = [0, *ends.tolist(), len(queue_offsets)]
    for start, end in pairwise(bounds):
        if start < end:
            yield FileUnits(path, int(queue_offsets[start]), end - start, before + start)


def _joined(runs: list[FileUnits]) -> Iterator[FileUnits]:
    """Runs that go on in the next batch as one."""
    open_run: FileUnits | None = None
    for run in runs:
        if open_run is not None and open_run.end == run.first:
            open_run = open_run._replace(units=open_run.units + run.units)
            continue
        if open_run is not None:
            yield open_run
        open_run = run
    if open_run is not None:
        yield open_run
