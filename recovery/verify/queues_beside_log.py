"""The queues of a store beside its log, as far as the first pass left them: what each is compared with.

The rules are in `recovery.verify.checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from parsers.consumequeue.ext_columns import ext_columns
from parsers.kernels.arrays import Longs
from parsers.queues.queue import FileQueue, Queue
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from parsers.values.java import LONG_MAX
from parsers.values.topics import is_lmq
from recovery.knowledge.inference import StoreKnowledge
from recovery.scan.intervals import Intervals, found_at
from recovery.verify.checks.log.log import LOCK_WAIT_MS
from recovery.verify.checks.queue.batch import batches_end, check_batch_queue
from recovery.verify.checks.queue.compared import (
    LogFacts,
    QueueMessages,
    QueueUnits,
    misdirected_units,
    unserved_messages,
)
from recovery.verify.checks.queue.ext_units import ExtContext, check_ext, hold_addresses, with_expected_tags
from recovery.verify.checks.queue.light import appended_around, with_former
from recovery.verify.checks.queue.places import DatabaseQueuePlaces, QueuePlaces
from recovery.verify.checks.queue.queue import check_queue
from recovery.verify.findings.finding import Explained, Judgement, Place
from recovery.verify.first_pass import Left
from recovery.verify.queue_columns import NO_MESSAGES, of_places, queue_files, queue_messages
from recovery.verify.settle.log_columns import LogColumns
from recovery.verify.settle.outline import Files, Outline
from recovery.verify.settle.second_pass import gather


@dataclass(frozen=True, slots=True)
class QueuesBesideLog:
    """Compares every queue that is not settled as a whole with the messages of the log, in files of `file_size`."""

    store: Store
    known: StoreKnowledge
    files: Files
    seen: Outline
    left: Left
    log: LogColumns
    file_size: int

    def judge(
        self, lost: Intervals, doubtful_times: Intervals, record_place: Callable[[int, int], Place]
    ) -> Iterator[Judgement]:
        """What the rules say of each queue.

        Args:
            lost: where the log has lost records.
            doubtful_times: the records whose store times are somebody else's finding.
            record_place: the place of a record, by its physical offset and size.
        """
        if self.files.unread is not None:
            why = f"the database of queues cannot be read: {self.files.unread}"
            yield Judgement((), (Explained("not compared", why),))
            return
        facts, pairs = self.pairs(lost)
        size = self.known.settings.mapped_file_size_consume_queue_ext
        context = ExtContext(size, self.log.messages, record_place, doubtful_times)
        has_ext = self.store.ext_queues or hold_addresses(units for _, units in pairs.values())
        for key, (own, units) in pairs.items():
            if has_ext:
                ext = ext_columns(self.store.ext_queues.get(key, ()))
                yield Judgement(tuple(check_ext(units, own, ext, self.places(key), context)))
                units = with_expected_tags(units, own)
            yield check_queue(own, units, self.left.queues[key].head, self.places(key), facts)
        batches = self.store.batch_queues
        reached = [batches_end(batch_files, self.log) for batch_files in batches.values()]
        reached += [self.dispatched_to()] if self.files.queues else []
        for key, batch_files in batches.items():
            yield check_batch_queue(
                key, batch_files, self.log, lost, dispatched_to=max(reached), clean_exit=not self.store.abort_present
            )

    def pairs(self, lost: Intervals) -> tuple[LogFacts, dict[QueueKey, tuple[QueueMessages, QueueUnits]]]:
        """What the log and each queue have of one another, as far as the first pass left it."""
        facts, messages = self._facts(lost), queue_messages(self.log)
        facts = facts._replace(lost_starts=self._lost_starts(lost))
        former = self._formerly_dispatched(messages)
        pairs: dict[QueueKey, tuple[QueueMessages, QueueUnits]] = {}
        for key, queue in self.left.queues.items():
            own = messages.get(key, NO_MESSAGES)
            own = own if queue.is_whole else of_places(own, queue.places)
            units = queue.with_settled(own)
            own = with_former(own, former[key], units) if key in former else own
            appends = is_lmq(key[0]) and self.places(key).appends_light
            pairs[key] = appended_around(own, units, lost) if appends else own, units
        ordinary = [pair for key, pair in pairs.items() if not is_lmq(key[0])]
        misdirected = _together(misdirected_units(*pair, facts) for pair in ordinary)
        unserved = _together(unserved_messages(*pair) for pair in ordinary)
        return facts._replace(misdirected=np.intersect1d(misdirected, unserved)), pairs

    def _lost_starts(self, lost: Intervals) -> Longs:
        """Where lost messages started, of those units that end before the next one starts."""
        units = [queue.units for queue in self.left.queues.values()]
        of_lost = [lost.hold(each.physical_offset) & ~each.is_hole & ~each.is_pre_blank for each in units]
        starts = _together(each.physical_offset[mask] for each, mask in zip(units, of_lost, strict=True))
        ends = starts + _together(each.msg_size[mask] for each, mask in zip(units, of_lost, strict=True))
        order = np.lexsort((ends, starts))
        starts, ends = starts[order], ends[order]
        following = np.append(starts, LONG_MAX)[np.searchsorted(starts, starts, "right")]
        return np.unique(starts[ends <= following])

    def _formerly_dispatched(self, messages: Mapping[QueueKey, QueueMessages]) -> dict[QueueKey, QueueMessages]:
        """For each light queue the messages that only an earlier version dispatched to it, among others."""
        rules = self.known.rules
        light = {key: queue for key, queue in self.left.queues.items() if is_lmq(key[0])}
        if not light or not rules.leaves_topics_out:
            return {}
        strange = _together(
            np.setdiff1d(queue.units.physical_offset, messages.get(key, NO_MESSAGES).physical_offset)
            for key, queue in light.items()
        )
        places = np.intersect1d(strange, self.log.messages.physical_offset)
        if not len(places):
            return {}
        former = gather(self.store.commitlog, self.seen, rules.with_every_topic(), places=places, queues=())
        return {key: found for key, found in queue_messages(former).items() if key in light}

    def of_others(self, without_files: Collection[QueueKey]) -> frozenset[QueueKey]:
        """The queues among those without files to all of whose messages in the log units of other queues lead: the
        records were altered, and there is no such queue."""
        if not without_files:
            return frozenset()
        messages = queue_messages(self.log)
        named = np.sort(_together(queue.units.physical_offset for queue in self.left.queues.values()))
        places = ((key, messages[key].physical_offset) for key in without_files if key in messages)
        return frozenset(key for key, own in places if len(own) and found_at(named, own)[1].all())

    def ends_of(self, key: QueueKey, queue: Queue) -> tuple[int, int]:
        """The ends of one queue; of one in files of which each unit is settled, by these alone."""
        disk = self.files.queues.get(key)
        is_settled = self.files.compares_queues and key not in self.left.queues
        if is_settled and disk is not None and isinstance(queue, FileQueue) and 0 < len(disk.files) == len(queue.files):
            return disk.files[0].first, disk.end
        return queue.ends(self.log.start)

    def places(self, key: QueueKey) -> QueuePlaces:
        """Where the units of a queue stand: in its files, or in the database."""
        spooled = self.files.spool
        if spooled is None or not spooled.is_stores:
            return queue_files(self.store, key, self.known.settings.consume_queue_file_size)
        queue = spooled.queues.get(key)
        return DatabaseQueuePlaces(
            *key,
            spooled.folder,
            is_there=queue is not None,
            is_whole=not spooled.damage if queue is None else queue.is_whole,
        )

    def _facts(self, lost: Intervals) -> LogFacts:
        messages = self.log.messages
        return LogFacts(
            physical_offset=messages.physical_offset,
            sys_flag=messages.sys_flag,
            topic=messages.topic,
            queue_id=messages.queue_id,
            queue_offset=messages.queue_offset,
            total_size=messages.total_size,
            topics=self.log.topics,
            start=self.log.start,
            end=self.log.end,
            lost=lost,
            dispatched_to=self.dispatched_to(),
            misdirected=np.empty(0, np.int64),
            clean_exit=not self.store.abort_present,
            delays_apart_ms=0 if self.known.version.reckons_delays_from_store_time else LOCK_WAIT_MS,
            file_size=self.file_size,
            lost_starts=np.empty(0, np.int64),
        )

    def indexed_to(self) -> int:
        """The last message that the index has; dispatch may have come further than queues tell that a database lost."""
        ends = np.array([file.header["end_physical_offset"] for file in self.files.opened], np.int64)
        _, in_log = found_at(self.log.messages.physical_offset, ends)
        return int(ends[in_log].max(initial=0))

    def dispatched_to(self) -> int:
        """The end of the last message of the log that any queue has. Without queues: after the last message that the
        index has after an unclean exit, else the log's end.

        A broker writes units into a database's memory and flushes them rarely, without a log of its own: what runs, or
        was killed, may have a whole database without a queue. AbstractRocksDBStorage#initWriteOptions @5.5.0.
        """
        spool, unclean = self.files.spool, self.store.abort_present
        is_new = spool is not None and spool.is_stores and not spool.damage
        if self.files.queues or (is_new and unclean):
            return max(self.log.start, self.left.dispatched_to or 0)
        opened = self.files.opened
        indexed = [file.header["end_physical_offset"] + 1 for file in opened if unclean]
        return max(indexed, default=self.log.end)


def _together(places: Iterable[Longs]) -> Longs:
    return np.concatenate([np.empty(0, np.int64), *places])
