"""What a broker holds in memory while it loads and starts, and what its dispatchers do to it.

`commitlog_recovery.py` and `redispatch.py` play the methods of CommitLog and DefaultMessageStore on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from parsers.checkpoints.checkpoint import CHECKPOINT, Checkpoint, decode_checkpoint
from parsers.commitlog.record.message import decode_message
from parsers.consumequeue.layout import CQ_UNIT
from parsers.kernels.arrays import Bytes, Longs, Mask
from parsers.rocksdb.layout import HALVES_TO, INDEXED_TO
from parsers.values.topics import SCHEDULE_TOPIC, is_lmq
from recovery.broker.batch_queue import BatchQueue
from recovery.broker.compaction import CompactedQueueLoad
from recovery.broker.consume_queue import Queue
from recovery.broker.consume_queue_ext import ExtQueue
from recovery.broker.dispatch_log import DispatchLog
from recovery.broker.index_service import IndexFiles
from recovery.broker.mapped_file_queue import FileList, LogFile
from recovery.broker.message_check import MessageCheck
from recovery.broker.queue_database import DatabaseQueue, QueueDatabase
from recovery.broker.queues_beside import QueuesBeside
from recovery.broker.store_folder import Evidence, QueueKey
from recovery.broker.valid_runs import RecordRuns
from recovery.rebuild.filter_bits import FilterBits
from recovery.rebuild.queue_files import MAX_NAME_BYTES
from recovery.rules.dispatch import DispatchRequest, DispatchRules, QueueUnit, queue_units
from recovery.rules.passing_settings import PassedBy
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.scan.kernel import ScanBatch
from recovery.scan.queue_numbers import queue_keys
from recovery.scan.scanner import LogScanner

TRIES = 30
"""How often ConsumeQueue#putMessagePositionInfoWrapper tries, a second each; each try writes an ext unit."""
NO_CHECKPOINT = decode_checkpoint(bytes(CHECKPOINT.size))


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something happens: the rule, where it stands in the broker's source, and the bytes that made it apply."""

    rule: str
    source: str
    evidence: str


@dataclass(slots=True)
class BrokerMemory:
    """The store classes' state.

    Attributes:
        second_noted: how far the database beside the queue files says that messages were dispatched, 0 of a new one;
            None where it is not recovered together with them.
        second_queues: the queues in files beside a database that answers, which are recovered together with it.
        compacted: the copies of compacted topics.
        confirm_offset: CommitLog's field; -1 before anything sets it.
        flushed_where: how far the log counts as flushed.
        committed_offset: how far a DLedger node notes its log as committed.
        next_offsets: `topicQueueTable`, next queue offset by "topic-queue".
        log_ends_because: what is wrong with the record that ends the log.
        log_end_passed_by: the setting without which the log would not end there.
        queues: those in files.
        database: the queues in RocksDB; None where the broker keeps its queues in files.
        filters: by which dispatch calculates the bit maps of ext units; the store's classes alone have none.
        knows_queue: whether the broker's topics have a queue, None where that is unknown; the store's classes alone
            know every queue.
        queues_writable: False once a queue could not be written.
        bytes_checked: bytes of records that load() read and checked.
        last_queued_offset: physical offset of the last message given to a queue, which the next thorough flush keeps.
        last_queued_ms: its store time, None before the first one; a slave's checkpoint takes it as physicMsgTimestamp.
    """

    evidence: Evidence
    version: BrokerVersion
    settings: StoreSettings
    check: MessageCheck
    rules: DispatchRules
    commitlog: FileList
    index: IndexFiles
    runs: RecordRuns
    queues: dict[QueueKey, Queue | BatchQueue] = field(default_factory=dict)
    database: QueueDatabase | None = None
    second_noted: int | None = None
    second_queues: QueuesBeside | None = None
    compacted: dict[QueueKey, CompactedQueueLoad] = field(default_factory=dict)
    checkpoint: Checkpoint = NO_CHECKPOINT
    confirm_offset: int = -1
    flushed_where: int = 0
    committed_offset: int = 0
    next_offsets: dict[str, int] = field(default_factory=dict)
    dispatched: DispatchLog = field(default_factory=DispatchLog)
    reasons: list[Reason] = field(default_factory=list)
    log_ends_because: str | None = None
    log_end_passed_by: PassedBy | None = None
    last_queued_offset: int = 0
    last_queued_ms: int | None = None
    bytes_checked: int = 0
    queues_writable: bool = True
    filters: FilterBits = field(default_factory=FilterBits)
    knows_queue: Callable[[QueueKey], bool | None] = lambda key: True

    def because(self, rule: str, source: str, evidence: str) -> None:
        self.reasons.append(Reason(rule, source, evidence))

    def confirmed_offset(self) -> int:
        """How far readers and dispatch may go; a DLedger node that is asked alone commits all. #getConfirmOffset."""
        if self.evidence.log_is_dledgers:
            return self.commitlog.max_offset
        settings, version = self.settings, self.version
        if settings.duplication_enable or settings.enable_controller_mode or not version.dispatches_confirmed_only:
            return self.confirm_offset
        only_flushed = settings.flushes_synchronously and version.dispatches_flushed_only
        return self.flushed_where if only_flushed else self.commitlog.max_offset

    def behind_bytes(self, dispatched_to: int) -> int:
        """`ReputMessageService#behind` for a re-dispatch that stands at this log offset."""
        end = self.confirmed_offset() if self.version.dispatches_confirmed_only else self.commitlog.max_offset
        return end - dispatched_to

    @property
    def queues_are_known(self) -> bool:
        """Whether the queues are as load() leaves them: of a DLedger log no database is cut, and none is filled."""
        return not (self.evidence.log_is_dledgers and self.database is not None)

    @property
    def every_queue(self) -> Mapping[QueueKey, Queue | BatchQueue | DatabaseQueue]:
        """The broker's queues, wherever it keeps them."""
        return self.queues if self.database is None else self.database.queues

    @property
    def undecided_queues(self) -> frozenset[QueueKey]:
        """The queues whose ends nothing decides: see QueueDatabase; light ones that a database beside the files has."""
        if self.database is not None:
            return frozenset(self.database.undecided)
        are_elsewhere = self.settings.light_queues_in_database(self.version)
        return frozenset(key for key in self.queues if are_elsewhere and is_lmq(key[0]))

    @property
    def queues_are_damaged(self) -> bool:
        """Whether parts of the database of queues cannot be read, so that what the queues have is not known."""
        return self.database is not None and bool(self.evidence.database and self.evidence.database.unreadable)

    def max_queued_offset(self) -> int:
        """The maximum of the queues' maximum physical offsets, -1 without queues; of a database what it notes."""
        if self.database is not None:
            return self.database.dispatched_to
        return max((queue.max_physical_offset for queue in self.queues.values()), default=-1)

    def noted_of_messages(self) -> list[int]:
        """How far index and half messages of rocksdbstore are, of those that the broker goes by; 0: not begun.

        IndexRocksDBStore, TransMessageRocksDBStore #isMappedFileMatchedRecover, #getDispatchFromPhyOffset @5.5.0;
        CommitLog#isMappedFileMatchedRecover @5.4.0.
        """
        settings, notes = self.settings, self.evidence.message_notes or {}
        by_halves = settings.trans_rocksdb_enable and (
            self.version.dispatches_to_databases or not settings.trans_write_origin_trans_half_enable
        )
        wanted = [(settings.index_rocksdb_enable, INDEXED_TO), (by_halves, HALVES_TO)]
        if not self.version.keeps_messages_in_database:
            return []
        return [notes.get(note, 0) for is_gone_by, note in wanted if is_gone_by]

    def find_log_file(self, position: int) -> LogFile | None:
        """`CommitLog#getData`: the file that is read for this log offset."""
        by_place = not self.version.finds_files_by_offset
        return self.commitlog.find(position, first_if_missing=position == 0, by_place=by_place)

    def queue(self, topic: str, queue_id: int) -> Queue | BatchQueue:
        """`findOrCreateConsumeQueue`."""
        key = (topic, queue_id)
        if key not in self.queues and topic in self.rules.batch_topics:
            self.queues[key] = BatchQueue(topic, queue_id, FileList(self.settings.mapped_file_size_batch_consume_queue))
        elif key not in self.queues:
            files = FileList(self.settings.consume_queue_file_size)
            self.queues[key] = Queue(topic, queue_id, files, self.version, ext=self._ext_queue())
        return self.queues[key]

    @property
    def files_give_offsets(self) -> bool:
        """The database answers, and the queue files beside it decide the start and give messages their numbers."""
        return self.second_queues is not None and self.second_queues.decide

    def _ext_queue(self) -> ExtQueue | None:
        """What a queue without ext files begins with."""
        if not self.settings.enable_consume_queue_ext:
            return None
        files = FileList(self.settings.mapped_file_size_consume_queue_ext)
        return ExtQueue(files, finds_by_place=not self.version.finds_files_by_offset)

    @property
    def ext_units_are_known(self) -> bool:
        """Whether every ext unit that dispatch writes, and so the address in its queue unit, is known in advance."""
        return not (self.settings.enable_consume_queue_ext and self.filters.undecided)

    def dispatch(self, request: DispatchRequest, position: int) -> None:
        """Hand one message to the dispatchers: queues, then index."""
        for number, unit in enumerate(queue_units(request, self.rules)):
            self._put_unit(unit, own_queue=number == 0, properties=request.properties)
        self.index.put(request)
        self.dispatched.add(request.physical_offset, request.msg_size, position)

    def _put_unit(self, unit: QueueUnit, *, own_queue: bool, properties: Mapping[str, str]) -> None:
        """One unit. A queue whose files cannot be made ends the writing of all queues, after thirty tries."""
        if self.second_queues is not None:
            self.second_queues.queue(unit.topic, unit.queue_id).put(unit)
        if self.database is not None:
            self.database.put(unit)
            return
        queue = self.queue(unit.topic, unit.queue_id) if own_queue or self.queues_writable else None
        if queue is None or not self.queues_writable:
            return
        if isinstance(queue, BatchQueue):
            queue.put(unit)
            self.last_queued_offset, self.last_queued_ms = unit.physical_offset, unit.store_timestamp_ms
            return
        fits = can_hold_files(unit.topic) and self._can_make_file_for(queue, unit)
        if own_queue and can_hold_files(unit.topic):
            bit_map = self._bit_maps(unit.topic, 1, [properties]).tobytes()
            for _ in range(0 if fits else TRIES - 1):
                queue.with_address(unit, bit_map)
            unit = queue.with_address(unit, bit_map)
        if fits:
            queue.put(unit)
            if own_queue:
                self.last_queued_offset, self.last_queued_ms = unit.physical_offset, unit.store_timestamp_ms
        elif own_queue:
            self.queues_writable = False
            self.because(
                "a queue's file cannot be made: after 30 tries of a second no queue is written any more, and the "
                "broker refuses messages",
                "ConsumeQueue#putMessagePositionInfoWrapper, RunningFlags#makeLogicsQueueError",
                f"topic {unit.topic!r} of the message at {unit.physical_offset}",
            )

    def _bit_maps(self, topic: str, count: int, properties: Iterable[Mapping[str, str]]) -> Bytes:
        """The bit map of each of `count` messages of this topic, a row each; of no byte where the topic has no filter.

        `properties` are those of the messages, and are read where there is a filter only.
        """
        filters = self.filters.topics.get(topic)
        maps = b"" if filters is None else b"".join(map(filters.bit_map, properties))
        return np.frombuffer(maps, np.uint8).reshape(count, 0 if filters is None else filters.size)

    def _properties_at(self, position: int) -> dict[str, str]:
        """The properties of the valid record that starts there, as this version reads them."""
        file = self.find_log_file(position)
        assert file is not None, "the record was read from this file"
        message = decode_message(file.stored, position - file.base_offset)
        return dict(DispatchRequest.of(message, self.rules).properties)

    def _can_make_file_for(self, queue: Queue, unit: QueueUnit) -> bool:
        if unit.topic not in self.evidence.obstructed_topics:
            return True
        name = queue.new_file_for(unit)
        return name is None or self.evidence.can_make_file(unit.topic, unit.queue_id, name)

    def dispatch_batch(self, batch: ScanBatch, scanner: LogScanner, wanted: Mask, base_offset: int) -> None:
        """Dispatch the wanted rows of a batch of records of one file."""
        records, units = batch.records, batch.units
        chosen = np.flatnonzero(wanted[units.record])
        names = scanner.topics.names
        topics = {names[topic] for topic in set(units.topic[chosen].tolist())}
        obstructed = not self.evidence.obstructed_topics.isdisjoint(topics)
        fits = not obstructed and all(map(can_hold_files, topics))
        if self.database is not None or (self.queues_writable and fits):
            self._put_units(batch, chosen, names, base_offset)
        else:
            for row in chosen.tolist():
                own = row == 0 or units.record[row] != units.record[row - 1]
                place = base_offset + int(records.file_pos[units.record[row]])
                self._put_unit(_unit(batch, row, names), own_queue=own, properties=self._properties_at(place))
        self.index.put_batch(batch, wanted)
        sizes = records.total_size[wanted].astype(np.int64)
        self.dispatched.add_many(records.physical_offset[wanted], sizes, base_offset + records.file_pos[wanted])

    def _put_units(self, batch: ScanBatch, chosen: Longs, names: list[str], base_offset: int) -> None:
        """Units of a batch, queue by queue."""
        records, units = batch.records, batch.units
        record = units.record[chosen]
        packed = np.empty(len(chosen), CQ_UNIT.dtype)
        packed["physical_offset"] = records.physical_offset[record]
        packed["msg_size"], packed["tags_code"] = records.total_size[record], records.tags_code[record]
        keys = queue_keys(units.topic[chosen], units.queue_id[chosen])
        order = np.argsort(keys, kind="stable")
        is_own = np.diff(record, prepend=-1) != 0
        for rows in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else ():
            first = chosen[rows[0]]
            topic = names[units.topic[first]]
            queue = (self.database or self).queue(topic, int(units.queue_id[first]))
            if isinstance(queue, BatchQueue):
                for row in chosen[rows].tolist():
                    queue.put(_unit(batch, row, names))
                continue
            if isinstance(queue, Queue) and queue.ext is not None:
                own = rows[is_own[rows]]
                times = records.store_timestamp_ms[record[own]]
                bit_maps = self._bit_maps(
                    topic, len(own), map(self._properties_at, (records.file_pos[record[own]] + base_offset).tolist())
                )
                packed["tags_code"][own] = queue.ext.put(packed["tags_code"][own].astype(np.int64), times, bit_maps)
            queue.put_many(packed[rows], units.queue_offset[chosen[rows]])
            if self.second_queues is not None:
                second = self.second_queues.queue(topic, int(units.queue_id[first]))
                second.put_many(packed[rows], units.queue_offset[chosen[rows]])
        if len(record) and self.database is not None:
            self.database.dispatched_to = int(packed["physical_offset"][-1] + packed["msg_size"][-1])
        elif len(record):
            self.last_queued_offset = int(records.physical_offset[record[-1]])
            self.last_queued_ms = int(records.store_timestamp_ms[record[-1]])

    def read_delay_levels(self) -> None:
        """4.x: what is dispatched from here on knows the delay levels."""
        self.rules = DispatchRules.of(self.version, self.settings)
        self.runs = replace(self.runs, rules=self.rules)

    def create_delay_queues(self) -> None:
        """4.x: the delay service asks for the queue of every delay level, which creates it in memory."""
        for level in range(len(self.rules.delay_levels.millis)):
            self.queue(SCHEDULE_TOPIC, level)


def can_hold_files(topic: str) -> bool:
    """Whether a folder of that name can be made below consumequeue/; a slash makes one inside another."""
    return "\0" not in topic and all(
        len(part.encode("utf-8", "replace")) <= MAX_NAME_BYTES for part in topic.split("/")
    )


def _unit(batch: ScanBatch, row: int, names: list[str]) -> QueueUnit:
    """One row of a batch's units in the scalar form."""
    records, units, record = batch.records, batch.units, batch.units.record[row]
    return QueueUnit(
        names[units.topic[row]],
        int(units.queue_id[row]),
        int(units.queue_offset[row]),
        int(records.physical_offset[record]),
        int(records.total_size[record]),
        int(records.tags_code[record]),
        store_timestamp_ms=int(records.store_timestamp_ms[record]),
        message_count=int(units.message_count[row]),
    )
