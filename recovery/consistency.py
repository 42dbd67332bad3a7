"""Prove a store's files against each other: CommitLog × ConsumeQueue × Index × checkpoint × configuration.

The rules are pure functions in `recovery.checks`; here the files of one store are turned into their columns and the
findings are put together. One cause is one finding: what a finding about the log covers is nobody else's.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from parsers.batchqueue import summarize_batch_queue
from parsers.consumequeue.summary import summarize_queue
from parsers.index.open import open_index
from parsers.store import QueueKey, Store
from recovery.checks.batch_queues import check_batch_queue
from recovery.checks.checkpoint import check_checkpoint
from recovery.checks.columns import read_log
from recovery.checks.config import QueueEnds, check_config
from recovery.checks.files import check_files
from recovery.checks.finding import Explained, Finding, Judgement, joined
from recovery.checks.index import IndexContext, check_index
from recovery.checks.index_entries import last_written
from recovery.checks.index_kernel import entries_behind
from recovery.checks.intervals import Intervals, Longs
from recovery.checks.log import LOSSES, LogShape, check_log, missing_head, missing_tail, spans_of
from recovery.checks.queue_columns import NO_MESSAGES, NO_UNITS, on_grid, queue_files, queue_messages, read_units
from recovery.checks.queues import LogFacts, QueueMessages, QueueUnits, agree, check_queue, misdirected_units
from recovery.inference import Inferred, StoreKnowledge, infer
from recovery.scan import LogScanner
from recovery.settings import StoreSettings
from recovery.versions import BrokerVersion

ROCKSDB_QUEUES = "RocksDB consume queue"


@dataclass(frozen=True, slots=True)
class Verification:
    """The findings of one store, worst first; states that only look like findings; and what was assumed to judge."""

    findings: tuple[Finding, ...]
    explained: tuple[Explained, ...]
    inferred: tuple[Inferred, ...]


def verify(
    store: Store, settings: StoreSettings | None = None, *, version: BrokerVersion | None = None
) -> Verification:
    """Every proven disagreement between the files of a store. Reads only.

    Version and settings that are not given are inferred from the files. Memory: about 100 bytes for each message.
    """
    known = infer(store, version=version, settings=settings)
    judgement = _Verify(store, known).judge()
    order = {"critical": 0, "error": 1, "warning": 2, "info": 3}
    findings = sorted(judgement.findings, key=lambda finding: order[finding.severity])
    return Verification(tuple(findings), judgement.explained, known.facts)


class _Verify:
    """One run over one store. What is independent runs on a thread aside: units beside the log, index beside queues."""

    def __init__(self, store: Store, known: StoreKnowledge) -> None:
        self._store, self._known = store, known
        with ThreadPoolExecutor(max_workers=1) as aside:
            units = aside.submit(self._read_units)
            self._log = read_log(store.commitlog, LogScanner(known.rules))
        self._units = units.result()
        self._shape = LogShape.of(store.commitlog, known.settings.mapped_file_size_commit_log)
        self._index = open_index(store.index, on_damage="collect")

    def _read_units(self) -> dict[QueueKey, QueueUnits]:
        size = self._known.settings.consume_queue_file_size
        return {key: read_units(on_grid(files, size)) for key, files in self._store.queues.items()}

    @cached_property
    def _messages(self) -> dict[QueueKey, QueueMessages]:
        return queue_messages(self._log)

    def judge(self) -> Judgement:
        log = check_log(self._log, self._shape)
        ends = self._missing_ends(spans_of(log.findings, *LOSSES))
        lost = spans_of((*log.findings, *ends.findings), *LOSSES)
        size = self._known.settings.consume_queue_file_size
        with ThreadPoolExecutor(max_workers=1) as aside:
            index = aside.submit(self._judge_index, lost, spans_of(log.findings, "store_timestamp_disorder"))
            queues = [check_files(self._store, self._units, size), *self._queues(lost)]
        config = check_config(self._store.config, self._queue_ends())
        parts = [log, ends, *queues, index.result(), self._judge_checkpoint(ends), config]
        whole = joined(parts)
        return Judgement(tuple(map(self._with_log_files, whole.findings)), whole.explained)

    def _missing_ends(self, lost: Intervals) -> Judgement:
        """Head and tail of the log as far as queues and index know more of it."""
        if self._other_log:
            return Judgement()
        starts, ends = self._places_behind(self._log.end)
        behind = ~lost.hold(starts)
        tail = missing_tail(self._log, self._shape, starts[behind], ends[behind])
        return joined((missing_head(self._log, self._shape, self._lowest_known()), tail))

    def _places_behind(self, end: int) -> tuple[Longs, Longs]:
        """Starts and ends of the messages that units and entries name at or behind `end`; entries know no ends."""
        starts, ends = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for found in self._units.values():
            behind = (found.physical_offset >= end) & ~found.is_hole
            starts.append(found.physical_offset[behind])
            ends.append(starts[-1] + found.msg_size[behind])
        for file in self._index:
            if file.geometry is not None:
                starts.append(entries_behind(file.data, file.slots, last_written(file), end))
                ends.append(starts[-1] + 1)
        return np.concatenate(starts), np.concatenate(ends)

    def _lowest_known(self) -> int | None:
        """The lowest physical offset that a queue or the index begins with."""
        firsts = [
            int(found.physical_offset[real][0])
            for found in self._units.values()
            if (real := ~found.is_pre_blank & ~found.is_hole).any()
        ]
        firsts += [file.header["begin_physical_offset"] for file in self._index[:1] if file.entries]
        return min(firsts, default=None)

    @property
    def _other_log(self) -> bool:
        """The log or the queues are kept in another form: nothing to compare them with here."""
        return self._has("DLedger") or self._has(ROCKSDB_QUEUES)

    def _has(self, what: str) -> bool:
        return any((file.why or "").startswith(what) for file in self._store.not_understood)

    def _queues(self, lost: Intervals) -> Iterator[Judgement]:
        if self._other_log:
            why = "the log is a DLedger's or the queues are a RocksDB's: they are not compared here"
            yield Judgement((), (Explained("not compared", why),))
            return
        facts = self._facts(lost)
        pairs = {
            key: (self._messages.get(key, NO_MESSAGES), self._units.get(key, NO_UNITS))
            for key in sorted(self._messages.keys() | self._units.keys())
        }
        differing = {key: pair for key, pair in pairs.items() if not agree(*pair)}
        misdirected = [misdirected_units(*pair, facts) for pair in differing.values()]
        facts = facts._replace(misdirected=np.unique(np.concatenate([np.empty(0, np.int64), *misdirected])))
        for key, pair in differing.items():
            files = queue_files(self._store, key, self._known.settings.consume_queue_file_size)
            yield check_queue(*pair, files, facts)
        for key, batch_files in self._store.batch_queues.items():
            yield check_batch_queue(key, batch_files, self._log, lost)

    def _facts(self, lost: Intervals) -> LogFacts:
        messages = self._log.messages
        return LogFacts(
            physical_offset=messages.physical_offset,
            sys_flag=messages.sys_flag,
            topic=messages.topic,
            queue_id=messages.queue_id,
            queue_offset=messages.queue_offset,
            total_size=messages.total_size,
            topics=self._log.topics,
            start=self._log.start,
            end=self._log.end,
            lost=lost,
            dispatched_to=self._dispatched_to(),
            misdirected=np.empty(0, np.int64),
            clean_exit=not self._store.abort_present,
        )

    def _dispatched_to(self) -> int:
        """The end of the last message of the log that any queue has. Without queues: how far the index had come after
        an unclean exit, else the log's end."""
        ends = [self._log.start]
        for found in self._units.values():
            real = ~found.is_pre_blank & ~found.is_hole & (found.physical_offset < self._log.end)
            ends += (found.physical_offset + found.msg_size)[real][-1:].tolist()
        if self._units:
            return max(ends)
        indexed = [file.header["end_physical_offset"] for file in self._index if self._store.abort_present]
        return max(indexed, default=self._log.end)

    def _judge_index(self, lost: Intervals, doubtful_times: Intervals) -> Judgement:
        if self._other_log or not self._known.settings.message_index_enable:
            return Judgement()
        context = IndexContext(
            messages=self._log.messages,
            keys=self._log.keys,
            start=self._log.start,
            end=self._log.end,
            lost=lost,
            dispatched_to=self._dispatched_to(),
            doubtful_times=doubtful_times,
            clean_exit=not self._store.abort_present,
            counts_puts=self._known.version.counts_index_puts_as_slots,
        )
        return check_index(self._index, context)

    def _judge_checkpoint(self, ends: Judgement) -> Judgement:
        if self._has("DLedger"):
            return Judgement()
        clean_exit = not self._store.abort_present
        return check_checkpoint(
            self._store.checkpoint,
            self._log,
            clean_exit=clean_exit,
            version=self._known.version,
            log_is_cut=self._log_is_cut(ends),
        )

    def _log_is_cut(self, ends: Judgement) -> bool:
        """The log lost its first or last messages, which the checkpoint may rightly speak of."""
        cut = any(finding.kind in ("log_head_missing", "log_tail_missing") for finding in ends.findings)
        sizes = self._shape.sizes
        return (
            cut
            or any(gap.physical_offset >= self._log.end and gap.kind == "damage" for gap in self._log.gaps)
            or (bool(sizes) and sizes[-1] < self._shape.file_size)
        )

    def _queue_ends(self) -> QueueEnds | None:
        if self._has(ROCKSDB_QUEUES):
            return None
        ends: dict[QueueKey, tuple[int, int]] = {}
        for key, files in self._store.queues.items():
            summary = summarize_queue(files, commitlog_min=self._log.start, on_damage="collect")
            ends[key] = summary.min_queue_offset, summary.max_queue_offset
        for key, messages in self._messages.items():  # what the log has, a damaged queue had: its readers may be there
            least, most = ends.get(key, (0, 0))
            ends[key] = least, max(most, int(messages.queue_offset.max()) + 1)
        for key, files in self._store.batch_queues.items():
            summary = summarize_batch_queue(files, commitlog_min=self._log.start, on_damage="collect")
            ends[key] = summary.min_queue_offset, summary.max_queue_offset
        return QueueEnds(
            ends,
            frozenset(self._log.topics[code] for code in np.flatnonzero(np.bincount(self._log.units.topic)).tolist()),
        )

    def _with_log_files(self, finding: Finding) -> Finding:
        """Places in the log that rules gave by physical offset alone get their file."""
        if all(place.file for place in finding.places):
            return finding
        named = [
            self._shape.place(place.file_pos, place.length) if not place.file else place for place in finding.places
        ]
        return replace(finding, places=tuple(named))
