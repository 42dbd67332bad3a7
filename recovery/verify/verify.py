"""Prove a store's files against each other: CommitLog × ConsumeQueue × Index × checkpoint × configuration × timers ×
copies of compacted topics.

The rules are pure functions in `recovery.verify.checks`; here the files of one store are turned into their columns and
the findings are put together. One cause is one finding: what a finding about the log covers is nobody else's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from parsers.damage.errors import TooLarge, UnreadableFile, unheard
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from parsers.values.topics import TIMER_TOPIC
from recovery.broker.store_folder import config_entries
from recovery.config.start import config_start
from recovery.knowledge.inference import StoreKnowledge
from recovery.knowledge.signs import Inferred
from recovery.lives.life import TopicLives
from recovery.lives.topic_lives import lives_beside
from recovery.rules.store_paths import taking_turns
from recovery.scan.intervals import Intervals
from recovery.verify.checks.checkpoint import check_checkpoint
from recovery.verify.checks.config import QueueEnds, check_config
from recovery.verify.checks.config_files import check_config_files
from recovery.verify.checks.dledger import check_dledger
from recovery.verify.checks.epochs import check_epochs
from recovery.verify.checks.files import check_files
from recovery.verify.checks.index.context import IndexContext, SettledInVain
from recovery.verify.checks.index.index import check_index
from recovery.verify.checks.lives import check_lives, with_doubts
from recovery.verify.checks.log.head import cleaner_traces, missing_head
from recovery.verify.checks.log.log import LOSSES, check_log, known_file_size, spans_of, with_sure_times
from recovery.verify.checks.log.newer import check_newer
from recovery.verify.checks.log.shape import LogShape
from recovery.verify.checks.log.tail import behind_missing_tail, missing_tail
from recovery.verify.checks.message_rows import check_message_rows
from recovery.verify.checks.queue.compared import Compared, LogFacts, QueueHead, QueueUnits, compare
from recovery.verify.checks.queue.database import check_database
from recovery.verify.checks.queue.ext_files import check_ext_files
from recovery.verify.checks.queue.light import light_queues_off
from recovery.verify.checks.queue.places import QueuePlaces
from recovery.verify.checks.timer_sides import LogSide
from recovery.verify.compaction_columns import judge_compaction
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, joined, with_places
from recovery.verify.first_pass import files_of, first_pass, left_of
from recovery.verify.log_ends import HEAD_LOST, LogEnds
from recovery.verify.queues_beside_log import QueuesBesideLog
from recovery.verify.settle.log_columns import LogColumns
from recovery.verify.settle.outline import Files, Outline
from recovery.verify.timer_columns import dates_timercheck, judge_timer


@dataclass(frozen=True, slots=True)
class Verification:
    """The findings of one store, worst first; states that only look like findings; and what was assumed to judge."""

    findings: tuple[Finding, ...]
    explained: tuple[Explained, ...]
    inferred: tuple[Inferred, ...]


class QueueSide(NamedTuple):
    """One queue that is not settled as a whole; `units`: all of it that is not settled."""

    compared: Compared
    units: QueueUnits
    head: QueueHead
    places: QueuePlaces


class QueueSides(NamedTuple):
    """The queues of a store beside its log: those that the first pass did not settle as a whole.

    `head_doubt`: the finding that the log may have lost its first files, None where a cleaner deleted them.
    """

    facts: LogFacts
    log: LogColumns
    lives: TopicLives
    queues: Mapping[QueueKey, QueueSide]
    head_doubt: Finding | None


def verify(store: Store, known: StoreKnowledge, *, settles: bool = True) -> Verification:
    """Every proven disagreement between the files of a store. Reads only.

    What a first pass finds in its place, byte for byte, is not looked at again, so that memory is bounded by what is
    out of place: about 200 bytes for each message, unit or entry. With `settles` False the rules see everything: the
    findings are the same.
    """
    files = files_of(store, known, settles=settles)
    return judged(store, known, files, first_pass(store, known, files))


def judged(store: Store, known: StoreKnowledge, files: Files, seen: Outline) -> Verification:
    """The findings of a store after the first pass over its log."""
    try:
        with StoreQueues(store, damage=unheard) as queues:
            judgement = _Verify(store, known, files, seen, queues).judge()
    except SettledInVain:
        return verify(store, known, settles=False)
    order = {"critical": 0, "error": 1, "warning": 2, "info": 3}
    findings = sorted(judgement.findings, key=lambda finding: order[finding.severity])
    return Verification(tuple(findings), judgement.explained, known.facts)


def queue_sides(store: Store, known: StoreKnowledge, files: Files, seen: Outline) -> QueueSides:
    """The queues beside the log after the first pass over it."""
    with StoreQueues(store, damage=unheard) as queues:
        return _Verify(store, known, files, seen, queues).sides()


class _Verify:
    """The rules over what the first pass left of one store."""

    def __init__(self, store: Store, known: StoreKnowledge, files: Files, seen: Outline, on_disk: StoreQueues) -> None:
        self._store, self._files, self._seen, self._on_disk = store, files, seen, on_disk
        self._makes_light = known.as_written is known
        self._known = known = known.as_written
        self._lives = lives_beside(store, on_disk, seen.numbering, known.topic_events)
        self._left = left_of(store, known, files, seen, self._lives)
        self._log = self._left.log
        self._shape = LogShape.of(
            store.commitlog,
            known.settings.mapped_file_size_commit_log,
            partial(taking_turns, store.root, known.settings, is_alone=not store.commitlog),
        )
        file_size = known_file_size(self._log, self._shape)
        self._queues = QueuesBesideLog(store, known, files, seen, self._left, self._log, file_size)

    def sides(self) -> QueueSides:
        """Each queue beside the log."""
        log = check_log(self._log, self._shape)
        ends = self._missing_ends(spans_of(log.findings, *LOSSES))
        facts, pairs = self._queues.pairs(spans_of((*log.findings, *ends.findings), *LOSSES))
        heads = {key: self._left.queues[key].head for key in pairs}
        queues = {
            key: QueueSide(
                compare(*pair, heads[key], self._queues.places(key), facts),
                pair[1],
                heads[key],
                self._queues.places(key),
            )
            for key, pair in pairs.items()
        }
        doubt = next((found for found in ends.findings if found.kind in HEAD_LOST), None)
        return QueueSides(facts, self._log, self._lives, queues, doubt)

    def judge(self) -> Judgement:
        log = check_log(self._log, self._shape, late_batches=not self._known.version.stamps_batches_in_lock)
        doubtful_times = spans_of(log.findings, "store_timestamp_disorder")
        self._log = with_sure_times(self._log, doubtful_times)
        self._queues = replace(self._queues, log=self._log)
        ends = self._missing_ends(spans_of(log.findings, *LOSSES))
        log = behind_missing_tail(log, ends, self._shape.file_size)
        lost = spans_of((*log.findings, *ends.findings), *LOSSES)
        spooled = self._files.spool
        in_files = {} if spooled is not None and spooled.is_stores else self._files.queues
        queues = [
            check_files(self._store, in_files, self._known.settings.consume_queue_file_size),
            *self._queues.judge(lost, doubtful_times, self._shape.place),
        ]
        queues.append(check_ext_files(self._store, self._known.settings.mapped_file_size_consume_queue_ext, queues))
        if spooled is not None:
            queues.append(check_database(self._store.root, spooled, self._log.start, doubtful_times))
        index = self._judge_index(lost, spans_of(log.findings, "store_timestamp_disorder", "record_crc_wrong"))
        queue_ends = self._queue_ends()
        config_files = self._config_files(queue_ends)
        judged = {place.file for finding in config_files.findings for place in finding.places}
        config = joined((config_files, check_config(self._store.config, queue_ends, judged)))
        lives = check_lives(self._lives)
        whole = joined(
            [
                log,
                check_dledger(self._store),
                check_epochs(self._store, self._log_ends.reached(ends)),
                ends,
                *queues,
                index,
                self._judge_checkpoint(ends, doubtful_times),
                config,
                lives,
                judge_timer(self._store, self._known, self._log_side(lost, queue_ends)),
                judge_compaction(self._store, self._known, lost),
                check_message_rows(self._store, self._log.start, self._log.end, lost),
                self._newer(),
                Judgement() if self._makes_light else light_queues_off(self._store),
            ]
        )
        findings = with_doubts(whole.findings, self._lives)
        return Judgement(tuple(map(self._with_log_files, findings)), whole.explained)

    def _newer(self) -> Judgement:
        """What the version cannot read, where it is said to be the broker's: a guess is made from the files."""
        if not self._known.version_is_said:
            return Judgement()
        return check_newer(self._store, self._shape, self._seen.newer, self._known.version)

    def _missing_ends(self, lost: Intervals) -> Judgement:
        """Head and tail of the log as far as queues and index know more of it."""
        if not self._files.compares_queues:
            return Judgement()
        starts, ends = self._log_ends.places_behind()
        behind = ~lost.hold(starts)
        tail = missing_tail(self._log, self._shape, starts[behind], ends[behind], self._queues.file_size)
        if not self._log.records:  # nothing shows which side is right
            tail = with_places(tail, self._queue_folders())
        size = self._known.settings.consume_queue_file_size
        traces = cleaner_traces(self._store, self._files.opened, self._log.start, size)
        return joined((missing_head(self._log, self._shape, self._log_ends.lowest_known(), traces), tail))

    @property
    def _log_ends(self) -> LogEnds:
        return LogEnds(self._log, self._shape, self._left, self._files)

    def _queue_folders(self) -> tuple[Place, ...]:
        """The folders of the queues that have units."""
        return tuple(
            place
            for key, queue in self._left.queues.items()
            if len(queue.units.physical_offset)
            for place in self._queues.places(key).whole
        )

    def _judge_index(self, lost: Intervals, doubtful_times: Intervals) -> Judgement:
        if not self._files.compares_index:
            return Judgement()
        context = IndexContext(
            messages=self._log.messages,
            keys=self._log.keys,
            start=self._log.start,
            end=self._log.end,
            latest_ms=self._log.latest_ms,
            lost=lost,
            dispatched_to=max(self._queues.dispatched_to(), self._queues.indexed_to()),
            doubtful_times=doubtful_times,
            clean_exit=not self._store.abort_present,
            counts_puts=self._known.version.counts_index_puts_as_slots,
            indexes_tags=self._known.version.indexes_tags,
        )
        return check_index(self._files.opened, self._left.index, context)

    def _judge_checkpoint(self, ends: Judgement, doubtful_times: Intervals) -> Judgement:
        return check_checkpoint(
            self._store.checkpoint,
            self._log,
            clean_exit=not self._store.abort_present,
            lost=self._log_ends.lost(ends, bool(len(doubtful_times.starts))),
            reached=self._log_ends.reached(ends),
            file_size=self._shape.file_size,
            sets_queue_time=self._files.spool is None or not self._files.spool.is_stores,
        )

    def _log_side(self, lost: Intervals, queue_ends: QueueEnds | None) -> LogSide:
        """What the timer files are compared with."""
        ends = None if queue_ends is None else queue_ends.ends.get((TIMER_TOPIC, 0))
        return LogSide(
            start=self._log.start,
            end=self._log.end,
            lost=lost,
            unforced=self._shape.file_size if self._store.abort_present else 0,
            queue_end=None if ends is None else ends[1],
            dates_check=dates_timercheck(self._store, self._known),
        )

    def _queue_ends(self) -> QueueEnds | None:
        if self._files.unread is not None:
            return None
        ends = {key: self._queues.ends_of(key, queue) for key, queue in self._on_disk.items()}
        firsts = self._lives.living_firsts()
        of_others = self._queues.of_others(self._seen.queues.keys() - ends.keys())
        for key, trace in self._seen.queues.items():  # what the log has, a damaged queue had: its readers may be there
            most_living = self._lives.living_end(key, trace.most + 1)
            if key in of_others:
                continue
            if most_living is not None and key not in self._store.batch_queues:
                least, most = ends.get(key, (0, 0))
                ends[key] = min(least, firsts.get(key, least)), max(most, most_living)
        living = frozenset(topic for topic in self._seen.topics if not self._lives.is_deleted(topic))
        return QueueEnds(ends, self._on_disk.keys(), living, self._lives)

    def _config_files(self, queue_ends: QueueEnds | None) -> Judgement:
        """The files of config/, with the queues' folders as witnesses; where none is left, with the log."""
        ends = {} if queue_ends is None else queue_ends.ends
        queues = {key: ends.get(key, (0, 0)) for key, files in self._store.queues.items() if files} or ends
        try:
            config = config_start(
                config_entries(self._store.root),
                queues,
                self._known.version,
                self._known.settings,
                was_killed=self._store.abort_present,
            )
        except (TooLarge, UnreadableFile) as error:
            return Judgement((), (Explained("not compared", str(error)),))
        return check_config_files(config, queues)

    def _with_log_files(self, finding: Finding) -> Finding:
        """Places in the log that rules gave by physical offset alone get their file."""
        if all(place.file for place in finding.places):
            return finding
        places = (place if place.file else self._shape.place(place.file_pos, place.length) for place in finding.places)
        return replace(finding, places=tuple(places))
