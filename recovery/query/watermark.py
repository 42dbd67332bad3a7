"""How far a store has come that a broker may be writing to: the place up to which log, queues and index all are.

A broker dispatches one record after another: it puts a message into its queue, then its keys into the index, and only
then goes on. So every message before the newest one that any queue has is in its queue and in the index.
Source: DefaultMessageStore.ReputMessageService#doReput, #doDispatch @4.9.7, 5.3.3.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from parsers.commitlog.record.layout import MAGIC_V1, MAGIC_V2, RECORD_START
from parsers.consumequeue.batch import summarize_batch_queue
from parsers.consumequeue.summary import QueueSummary
from parsers.damage.errors import StoreFormatError, unheard
from parsers.evidence.mapped import map_file
from parsers.queues.queue import BatchQueue, Pointer, Queue
from parsers.queues.store_queues import StoreQueues
from parsers.store.file_state import FileState, state_of
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from recovery.scan.log_runs import runs_between

SETTLES_S = 0.3
"""A store whose files have not changed for so long counts as standing still: dispatch is behind by milliseconds."""
LOOK_AGAIN_S = 0.05
RESTS_S = 600
"""A store whose log and index last changed so long ago is not looked at again. Clocks of servers of files may differ by
minutes; a broker's writes to a mapped file show in its times when it flushes them, which is a matter of seconds.
Source: MessageStoreConfig#flushIntervalCommitLog @5.3.3."""
APPENDED = 2
"""A broker appends to the newest file of a log, or to the one before it: it makes the next file ahead."""
NOWHERE = Pointer(0, 0)


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far a store had come when it was looked at. All are physical offsets of the byte after what they name.

    Attributes:
        physical_offset: messages that start before it are in the log, in their queues and in the index, as far as they
            ever come there. What starts at it or after it is in progress.
        log_end: after the last record of the log.
        dispatched_to: after the newest message that a queue has; 0 without any.
    """

    physical_offset: int
    log_end: int
    dispatched_to: int


def watermark(store: Store) -> Watermark:
    """How far a store has come, asked of the newest units of its queues and of the log after them.

    Where the log goes on after the newest message that a queue has, the store is looked at a little longer: dispatch
    of a broker that writes is on its way there, and the watermark is that message. In a store that stands still nothing
    is on its way: what no queue has is missing there, and the watermark is the log's end. What leads after that is of
    no message, wherever it leads.
    """
    newest = _newest_unit(store)
    dispatched_to = newest.physical_offset + newest.msg_size
    end = log_end_from(store, dispatched_to)
    if dispatched_to < end and _is_written_to(store):
        return Watermark(max(newest.physical_offset, store.log_start), end, dispatched_to)
    return Watermark(end, end, dispatched_to)


def waits_for_dispatch(store: Store) -> bool:
    """Whether the log goes on after the newest message that a queue has: a start dispatches what follows."""
    newest = _newest_unit(store)
    dispatched_to = max(newest.physical_offset + newest.msg_size, store.log_start)
    return dispatched_to < log_end_from(store, dispatched_to)


def dispatched_before(store: Store) -> int:
    """A place before which every message is in its queue and in the index: where the newest one starts that any queue
    has. 0 where no queue has any."""
    return _newest_unit(store).physical_offset


def summary_before(queue: Queue, summary: QueueSummary, until: int, log_end: int) -> QueueSummary:
    """What a queue's files say about it, as if no message of the log were there that starts at `until` or after it.

    A queue whose last unit leads after the log's end, where no message is, is left as it is.
    """
    end = summary.max_queue_offset
    if summary.max_physical_offset is None or not until < summary.max_physical_offset <= log_end:
        return summary
    if isinstance(queue, BatchQueue):
        cut = summarize_batch_queue(queue.files, without=range(until, log_end), damage=queue.damage and unheard)
        return replace(
            summary,
            min_queue_offset=min(summary.min_queue_offset, cut.max_queue_offset),
            max_queue_offset=cut.max_queue_offset,
            max_physical_offset=cut.max_physical_offset,
            units=cut.units,
        )
    first = begin = max(0, end - summary.units - summary.pre_blanks)
    behind = end
    while first < behind:
        middle = (first + behind) // 2
        found = queue.pointer(middle)
        if found is None or found.physical_offset < until:
            first = middle + 1
        else:
            behind = middle
    last = queue.pointer(first - 1) if first > begin else None
    return replace(
        summary,
        min_queue_offset=min(summary.min_queue_offset, first),
        max_queue_offset=first,
        max_physical_offset=None if last is None else last.physical_offset + last.msg_size,
        units=max(0, summary.units - (end - first)),
    )


def _newest_unit(store: Store) -> Pointer:
    """The newest message of the log that a queue has: a last unit counts where the log has a record of its size, as a
    damaged one leads anywhere."""
    with StoreQueues(store, damage=unheard) as queues:
        pointers = sorted(_last_units(queues), reverse=True)
    bases = [file.base_offset or 0 for file in store.commitlog]
    return next((each for each in pointers if _leads_to_record(store.commitlog, bases, each)), NOWHERE)


def _leads_to_record(log: Sequence[StoreFile], bases: Sequence[int], pointer: Pointer) -> bool:
    """Whether a record of the pointer's size begins where it leads. A batch gives its end alone: whether the log
    reaches it."""
    number = bisect_right(bases, pointer.physical_offset - (not pointer.msg_size)) - 1
    if number < 0 or pointer.physical_offset + pointer.msg_size > bases[number] + log[number].size:
        return False
    if not pointer.msg_size:
        return True
    try:
        start = RECORD_START.unpack(map_file(log[number].path), pointer.physical_offset - bases[number])
    except StoreFormatError:
        return False
    return start["total_size"] == pointer.msg_size and start["magic_code"] in (MAGIC_V1, MAGIC_V2)


def _last_units(queues: StoreQueues) -> Iterator[Pointer]:
    for queue in queues.values():
        if isinstance(queue, BatchQueue):
            end = queue.summary(0).max_physical_offset
            found = None if end is None else Pointer(end, 0)
        else:
            found = queue.last_pointer()
        if found is not None:
            yield found


def log_end_from(store: Store, physical_offset: int) -> int:
    """The byte after the last record of the log, which is read from a place on; that place, where no record follows
    it."""
    end = max(physical_offset, store.log_start)
    for file in store.commitlog:
        base = file.base_offset or 0
        if base + file.size > end:
            for run in runs_between(file, max(0, end - base), file.size, lambda gap: None):
                end = base + run.end
    return end


def _is_written_to(store: Store) -> bool:
    """Whether a file changes that a broker appends to, within the time in which it would."""
    before, until = _appended(store), time.monotonic() + SETTLES_S
    if max((state.modified_ns for state in before if state), default=0) < (time.time() - RESTS_S) * 1e9:
        return False
    while time.monotonic() < until:
        time.sleep(LOOK_AGAIN_S)
        if _appended(store) != before:
            return True
    return False


def _appended(store: Store) -> list[FileState | None]:
    return [state_of(file) for file in (*store.commitlog[-APPENDED:], *store.index[-1:])]
