"""The timer files of one store as the columns that `check_timer` compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from parsers.damage.errors import Damage, StoreFormatError, unheard
from parsers.evidence.mapped import map_file
from parsers.kernels.arrays import Longs
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from parsers.timer.check import TIMER_CHECK, read_timercheck
from parsers.timer.log import TIMER_UNIT, read_timerlog
from parsers.timer.schema import TIMER_RECORD_SCHEMA
from parsers.timer.wheel import TIMER_SLOT_SCHEMA, WHEEL_BYTES, read_wheel
from parsers.values.topics import TIMER_TOPIC
from recovery.knowledge.inference import StoreKnowledge
from recovery.scan.intervals import Intervals
from recovery.verify.checks.files import relative
from recovery.verify.checks.timer import WHEEL, check_timer
from recovery.verify.checks.timer_sides import LogSide, Slots, TimerLogShape, TimerUnits
from recovery.verify.checks.timercheck import FLUSHED, QUEUE_OFFSET
from recovery.verify.findings.finding import Finding, Judgement, Place, Span, joined
from recovery.verify.settle.timer_kernel import BEYOND, NO_RECORD, NO_TIME, due_of_records, judge_records

CHECK = "config/timercheck"


def dates_timercheck(store: Store, known: StoreKnowledge) -> bool:
    """Whether timercheck has the date of its last change whatever role this broker had; see `LogSide`.

    A slave that was a master keeps the date of that time before 5.2.0. Of a version that is not said that counts where
    brokers elect their masters: with epochs, or a log of DLedger's.
    """
    elects = bool(store.epochs) or store.log_is_dledgers
    return known.version.syncs_timer_version and (known.version_is_said or not elects)


def judge_timer(store: Store, known: StoreKnowledge, side: LogSide) -> Judgement:
    """The findings about a store's timer files; none where it has none."""
    of_kind = {kind: [file for file in store.timer if file.kind == kind] for kind in ("timerlog", WHEEL)}
    if not store.timer:
        return Judgement()
    check = _check(store)  # before the wheel: what it says to be flushed is in there then
    damage: list[Damage] = []
    table = pa.Table.from_batches(read_timerlog(of_kind["timerlog"], damage=damage.append), TIMER_RECORD_SCHEMA)
    units = _units(table, store.commitlog, side)
    shape = _shape(store, of_kind["timerlog"], units, damage)
    slots = _slots(of_kind[WHEEL])
    if not any(file.size for file in of_kind["timerlog"]) and (signs := tuple(_of_a_log(check, slots))):
        return Judgement((_log_missing(signs),))  # what slots and timercheck say of units follows from it
    if check is not None:
        side = replace(side, taken_in=_taken_in(store, check[QUEUE_OFFSET]))
    judged = check_timer(units, shape, slots, check, side)
    sizes = [*_head_missing(shape, side), *_wheel_sizes(of_kind[WHEEL]), *_log_sizes(store, known, of_kind["timerlog"])]
    told = f"timer log: {len(units.position)} units in {len(of_kind['timerlog'])} files"
    return joined((Judgement((*sizes, *(_missing(store, told) if len(units.position) else ()))), judged))


def _head_missing(log: TimerLogShape, side: LogSide) -> Iterator[Finding]:
    """Files before the timer log's first one, where nothing of the CommitLog has expired: then no cleaner took them.
    Source: MappedFileQueue#deleteExpiredFileByOffsetForTimerLog @5.3.3."""
    if log.start > 0 == side.start:
        told = f"timer log: begins at {log.start}", "log: begins at 0, nothing of it has expired"
        yield Finding("timer_log_missing", Span(), (Place("timerlog", 0, 0),), 1, told)


def _of_a_log(check: dict[str, int] | None, slots: Slots) -> Iterator[str]:
    """What only a broker writes that has written a timer log. Timer messages that it has taken in do not show that:
    what is due by then goes to its topic at once. TimerEnqueuePutService#putMessageToTimerWheel @5.0.0, 5.3.3."""
    if check is not None and check[FLUSHED] > 0:
        yield f"timercheck: the timer log is flushed up to {check[FLUSHED]}"
    if len(slots.slot):
        yield f"timer wheel: {len(slots.slot)} slots lead into the timer log"


def _log_missing(signs: tuple[str, ...]) -> Finding:
    """A broker keeps the timer log's last file (MappedFileQueue#deleteExpiredFileByOffsetForTimerLog @5.3.3)."""
    evidence = *signs, "timerlog/: no file with a byte"
    return Finding("timer_log_missing", Span(), (Place("timerlog", 0, 0),), 1, evidence)


def _missing(store: Store, told: str) -> Iterator[Finding]:
    """What a broker that has set timers has, and this store lacks; a file without a byte is new to a broker."""
    for kind, file, name in (("timer_wheel_missing", WHEEL, WHEEL), ("timer_check_missing", CHECK, "timercheck")):
        sizes = [one.size for one in store.timer if one.kind == name]
        if not any(sizes):
            has_file = f"{name}: {'it has no byte' if sizes else 'it is not there'}"
            yield Finding(kind, Span(), (Place(file, 0, 0),), 1, (told, has_file))


def _log_sizes(store: Store, known: StoreKnowledge, files: Sequence[StoreFile]) -> Iterator[Finding]:
    """Files of the timer log that a broker does not load; none where no file has a byte, as in a new one.

    Source: TimerLog#load, MappedFileQueue#doLoad @5.0.0, 5.3.3.
    """
    size = known.settings.mapped_file_size_timer_log
    for file in files:
        if file.size != size and any(one.size for one in files):
            start, end = sorted((file.size, size))
            place = Place(relative(store, file), start, end - start)
            evidence = (f"file: {file.size} bytes", f"expected: {size} bytes (mappedFileSizeTimerLog)")
            yield Finding("timer_log_size_wrong", Span(), (place,), 1, evidence)


def _wheel_sizes(wheels: Sequence[StoreFile]) -> Iterator[Finding]:
    """A wheel that a broker does not open. One without a byte is new to it."""
    for wheel in wheels:
        start, end = sorted((wheel.size, WHEEL_BYTES))
        if wheel.size and start < end:
            evidence = (f"file: {wheel.size} bytes", f"a timer wheel: {WHEEL_BYTES} bytes")
            yield Finding("timer_wheel_size_wrong", Span(), (Place(wheel.name, start, end - start),), 1, evidence)


def _units(table: pa.Table, log: Sequence[StoreFile], side: LogSide) -> TimerUnits:
    due_us = pc.fill_null(table["due_time"].cast(pa.int64()), NO_TIME * 1000)
    offset, size, due_ms = _longs(table["physical_offset"]), _longs(table["msg_size"]), _longs(due_us) // 1000
    wanted = np.column_stack((offset, size, due_ms, _longs(table["is_rolled"].cast(pa.int64()))))
    return TimerUnits(
        position=_longs(table["position"]),
        prev_position=_longs(table["prev_position"]),
        due_ms=due_ms,
        is_rolled=table["is_rolled"].to_numpy(),
        is_deletion=table["is_deletion"].to_numpy(),
        physical_offset=offset,
        msg_size=size,
        verdict=np.where(offset >= side.end, BEYOND, _verdicts(wanted, log)),
    )


def _longs(column: pa.ChunkedArray) -> Longs:
    numbers: Longs = column.cast(pa.int64()).to_numpy()
    return numbers


def _taken_in(store: Store, before: int) -> tuple[Longs, Longs] | None:
    """Physical offsets of the messages of the timer queue before this queue offset that are in the log, and when they
    are due; None without that queue."""
    with StoreQueues(store, damage=unheard) as queues:
        queue = queues.get((TIMER_TOPIC, 0))
        if queue is None:
            return None
        found = [np.empty(0, np.int64)]
        for batch in queue.batches():
            chosen = batch["queue_offset"].to_numpy() < before
            found.append(batch["physical_offset"].to_numpy()[chosen].astype(np.int64))
    places = np.concatenate(found)
    due_ms = np.full(len(places), NO_TIME, np.int64)
    for rows, base, data in _of_files(places, store.commitlog):
        of_file = np.empty(len(rows), np.int64)
        due_of_records(data, base, places[rows], of_file)
        due_ms[rows] = of_file
    return places, due_ms


def _of_files(
    places: Longs, log: Sequence[StoreFile]
) -> Iterator[tuple[npt.NDArray[np.intp], int, npt.NDArray[np.uint8]]]:
    """For each file of the log that can be read the rows of these places in it, where it starts, and its bytes."""
    for file in log if len(places) else ():
        base = file.base_offset or 0
        rows = np.flatnonzero((places >= base) & (places < base + file.size))
        with suppress(StoreFormatError):
            yield rows, base, np.frombuffer(map_file(file.path), np.uint8)


def _verdicts(wanted: Longs, log: Sequence[StoreFile]) -> Longs:
    """What stands where the units point, file by file of the log."""
    verdicts = np.full(len(wanted), NO_RECORD, np.int64)
    for rows, base, data in _of_files(wanted[:, 0], log):
        of_file = np.empty(len(rows), np.int64)
        judge_records(data, base, np.ascontiguousarray(wanted[rows]), of_file)
        verdicts[rows] = of_file
    return verdicts


def _shape(store: Store, files: Sequence[StoreFile], units: TimerUnits, damage: Sequence[Damage]) -> TimerLogShape:
    bases = {file.path: file.base_offset or 0 for file in files}
    refused = Intervals.of(
        (bases[one.path] + one.file_pos, bases[one.path] + one.file_pos + one.length)
        for one in damage
        if one.path in bases and one.field in ("unit_size", "magic")
    )
    ends = (units.position + TIMER_UNIT.size, refused.ends, np.array([*bases.values(), 0], np.int64))
    return TimerLogShape(
        bases=tuple(bases.values()),
        names=tuple(relative(store, file) for file in files),
        end=int(np.concatenate(ends).max()),
        file_end=max(((file.base_offset or 0) + file.size for file in files), default=0),
        refused=refused,
    )


def _slots(files: Sequence[StoreFile]) -> Slots:
    batches = [read_wheel(file, damage=unheard) for file in files]
    table = pa.Table.from_batches(batches, TIMER_SLOT_SCHEMA)
    slot, time, first_position, last_position, timer_count = (_longs(table[name]) for name in TIMER_SLOT_SCHEMA.names)
    is_whole = [file.size for file in files] == [WHEEL_BYTES]
    return Slots(slot, time, first_position, last_position, timer_count, is_whole)


def _check(store: Store) -> dict[str, int] | None:
    files = (file for file in store.timer if file.kind == "timercheck" and file.size >= TIMER_CHECK.size)
    return next((read_timercheck(file, damage=unheard) for file in files), None)
