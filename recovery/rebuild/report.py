"""What a rebuild did, with what it assumed, and where its bytes cannot be those of the broker."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from parsers.config.offsets import read_delay_offsets, read_offsets
from parsers.damage.errors import unheard
from parsers.queues.store_queues import StoreQueues
from parsers.store.sequence import holes
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from parsers.values.topics import SCHEDULE_TOPIC
from recovery.knowledge.inference import StoreKnowledge
from recovery.knowledge.signs import Inferred
from recovery.lives.life import RestartedQueue, TopicLife, TopicLives
from recovery.lives.numbering import Numbering, joined_numbering
from recovery.lives.topics_known import TopicsKnown
from recovery.rebuild.ext_files import ExtTotals
from recovery.rebuild.filter_bits import FilterBits
from recovery.rebuild.index_files import IndexTotals
from recovery.rebuild.queue_files import QueueTotals
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.scan.kernel import INVALID, ScanBatch
from recovery.scan.log_runs import LogGap

LONGEST_LIST = 1000


@dataclass(slots=True)
class ScanTotals:
    """What scanning a log, or a part of it, leaves for the report.

    `covered` counts the bytes of records and of everything between them: the size of a file once it is scanned.
    `numbering`: how the messages of each queue are numbered.
    """

    records: int = 0
    covered: int = 0
    numbering: Numbering = field(default_factory=dict)
    invalid: list[int] = field(default_factory=list)
    gaps: list[LogGap] = field(default_factory=list)

    def note_gap(self, gap: LogGap) -> None:
        self.covered += gap.length
        if gap.kind in ("damage", "stale"):
            self.gaps.append(gap)

    def count(self, batch: ScanBatch) -> None:
        self.records += batch.rows
        self.covered += int(batch.records.total_size.sum())
        self.note_invalid(batch.records.physical_offset[batch.records.state == INVALID][:LONGEST_LIST].tolist())

    def note_invalid(self, physical_offsets: Iterable[int]) -> None:
        self.invalid = [*self.invalid, *physical_offsets][:LONGEST_LIST]

    def add(self, behind: ScanTotals) -> None:
        """Take in what the next part left."""
        self.records, self.covered = self.records + behind.records, self.covered + behind.covered
        self.numbering = joined_numbering((self.numbering, behind.numbering))
        self.note_invalid(behind.invalid)
        self.gaps += behind.gaps


@dataclass(frozen=True, slots=True)
class ExpiredQueue:
    """A queue that the store has, or that groups have offsets of, and of whose messages the log holds none: no new file
    goes on with its numbers.

    `next_queue_offset`: the number that its next message gets as long as the store's own files stay; of a queue whose
    files are not there the least that it was: what a group has stored.
    """

    topic: str
    queue_id: int
    next_queue_offset: int


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """Totals of one rebuild.

    Attributes:
        to: the new folder, holding consumequeue/, batchconsumequeue/ and index/ as far as there is anything in them.
        inferred: where version and settings come from, fact by fact.
        records, units, keys: records of the log, units written, index entries written.
        queues: by topic and queue id.
        invalid: physical offsets of records that the broker takes for invalid (a DELAY that is no number): no units.
        gaps: byte ranges of the log that are neither records nor normal (damage, stale records).
        missing: physical offsets, first and end, between files of the log that no file holds.
        left_out: lives of topics that a deletion ended, whose messages are in no queue.
        undecided: lives of topics that may have been deleted; their messages are in the queues.
        ext: the ext units of the queues, where the broker writes some (enableConsumeQueueExt).
        ext_doubts: where their bit maps may be others than the broker's; `differences` has them too.
        expired: queues that would start again at 0 if the new folder took the place of the store's.
        differences: what cannot be byte-identical to the files a broker wrote, and why.
    """

    to: Path
    version: BrokerVersion
    settings: StoreSettings
    inferred: tuple[Inferred, ...]
    records: int
    units: int
    keys: int
    queues: tuple[QueueTotals, ...]
    index_files: tuple[IndexTotals, ...]
    invalid: tuple[int, ...] = ()
    gaps: tuple[LogGap, ...] = ()
    missing: tuple[tuple[int, int], ...] = ()
    left_out: tuple[TopicLife, ...] = ()
    undecided: tuple[TopicLife, ...] = ()
    expired: tuple[ExpiredQueue, ...] = ()
    ext: tuple[ExtTotals, ...] = ()
    ext_doubts: tuple[str, ...] = ()
    differences: tuple[str, ...] = field(default=())

    @property
    def taken(self) -> tuple[QueueTotals, ...]:
        """Queues of which the log has several messages of one number: the new files lead to the first of each, as
        dispatch of the whole log does, and the broker's own may lead to another. Where a topic may have been deleted
        between them, `undecided` says so. ConsumeQueue#putMessagePositionInfo; a DLedger leader cut off before."""
        doubtful = {life.topic for life in self.undecided}
        return tuple(queue for queue in self.queues if queue.behind and queue.topic not in doubtful)

    def document(self) -> dict[str, Any]:
        """The report as JSON-ready values."""
        return {
            "to": str(self.to),
            "version": str(self.version),
            "settings": self.settings.as_config(),
            "inferred": [asdict(fact) for fact in self.inferred],
            "records": self.records,
            "units": self.units,
            "keys": self.keys,
            "queues": [asdict(queue) for queue in self.queues],
            "index_files": [asdict(index) for index in self.index_files],
            "invalid_records": list(self.invalid),
            "gaps": [
                {
                    "file": gap.file.path.name,
                    "file_pos": gap.file_pos,
                    "length": gap.length,
                    "kind": gap.kind,
                    "reason": gap.reason,
                }
                for gap in self.gaps
            ],
            "missing": [list(found) for found in self.missing],
            "left_out": list(map(_life, self.left_out)),
            "undecided": list(map(_life, self.undecided)),
            "taken": [f"{queue.topic}/{queue.queue_id}" for queue in self.taken],
            "expired": [asdict(queue) for queue in self.expired],
            "ext": [asdict(queue) for queue in self.ext],
            "differences": list(self.differences),
        }


def _life(life: TopicLife) -> dict[str, Any]:
    return {
        "topic": life.topic,
        "life": life.life,
        "messages": life.messages,
        "first_physical_offset": life.first_physical_offset,
        "end_physical_offset": life.end_physical_offset,
        "why": life.ground.value,
    }


def _of_restarted(queue: RestartedQueue) -> str:
    what = "lost its files" if queue.lost_files else "lost its files, or its topic was deleted,"
    return (
        f"{queue.topic}/{queue.queue_id} {what} and starts again at 0: its {queue.former.messages} messages "
        f"before {queue.first_physical_offset} are left out, since later ones have their numbers"
    )


def report_of(
    store: Store,
    known: StoreKnowledge,
    to: Path,
    scanned: ScanTotals,
    queues: Iterable[QueueTotals],
    index_files: Iterable[IndexTotals],
    lives: TopicLives,
) -> RebuildReport:
    """The report on a rebuild of `store` into `to`."""
    queues = tuple(sorted(queues, key=lambda queue: (queue.topic, queue.queue_id, queue.is_batch)))
    index_files = tuple(index_files)
    return RebuildReport(
        to=to,
        version=known.version,
        settings=known.settings,
        inferred=known.facts,
        records=scanned.records,
        units=sum(queue.units for queue in queues),
        keys=sum(index.entries for index in index_files),
        queues=queues,
        index_files=index_files,
        invalid=tuple(scanned.invalid),
        gaps=tuple(scanned.gaps),
        missing=tuple(holes(store.commitlog)),
        left_out=lives.former,
        undecided=lives.undecided,
        expired=tuple(_expired(store, {(queue.topic, queue.queue_id) for queue in queues}, lives)),
        differences=(
            *([NOT_IN_FILES] if store.queue_database is not None and not store.queues else []),
            *map(_of_restarted, lives.restarted.values()),
            *differences(queues, store.log_start, tuple(scanned.gaps), bool(index_files)),
        ),
    )


def _expired(store: Store, rebuilt: Collection[QueueKey], lives: TopicLives) -> Iterator[ExpiredQueue]:
    """Queues that got no unit from the log, in order of topic and number: those with files in the store, and where the
    log has lost its beginning those of which offsets are stored, whose files were not copied or are lost."""
    if store.queue_database is not None:
        return
    following = _stored_offsets(store, lives) if store.log_start else {}
    with StoreQueues(store, damage=unheard) as queues:
        for key, queue in queues.items():
            following[key] = queue.ends(store.log_start)[1]
    for key, queue_offset in sorted(following.items()):
        if queue_offset > 0 and key not in rebuilt:
            yield ExpiredQueue(*key, queue_offset)


def _stored_offsets(store: Store, lives: TopicLives) -> dict[QueueKey, int]:
    """The highest offset that is stored of each queue of a topic that topics.json names."""
    named = TopicsKnown.of(store.config).names or frozenset()
    found: dict[QueueKey, int] = {}
    for _, offset in read_offsets(store.config, damage=unheard):
        if offset.topic in named and not lives.is_deleted(offset.topic):
            key = offset.topic, offset.queue_id
            found[key] = max(found.get(key, 0), offset.consumer_offset)
    for level, queue_offset in read_delay_offsets(store.config, damage=unheard).items():
        found[SCHEDULE_TOPIC, level - 1] = queue_offset
    return found


NOT_IN_FILES = (
    "this store keeps its queues in RocksDB, and has no queue files: those made here are for a broker that is moved to "
    "storeType=default"
)
INDEX_NAMES = (
    "index file names: a broker takes its clock when it creates a file; here it is the store time (UTC) of the record "
    "that made the file necessary"
)


def ext_differences(bits: FilterBits, ext: Collection[ExtTotals]) -> Iterator[str]:
    """Where ext units cannot be those of the broker, since bit maps are calculated with the filters of their time."""
    if ext and bits.why_not:
        yield f"the ext units have no bit maps: {bits.why_not}; a broker then evaluates SQL filters message by message"
    for topic in sorted({queue.topic for queue in ext if queue.older}):
        older = sum(queue.older for queue in ext if queue.topic == topic)
        yield (
            f"{topic}: {older:,} messages were stored before the newest filter of consumerFilter.json was made; their "
            "bit maps here are by the filters of that file, the broker's own by those of then"
        )
    refused = [queue for queue in ext if not queue.units]
    if refused:
        size = refused[0].bit_map_size
        yield f"{len(refused)} queues have no ext units: with {size} bytes of bit map none fits a file"


def differences(
    queues: tuple[QueueTotals, ...], first_offset: int, gaps: tuple[LogGap, ...], has_index: bool
) -> tuple[str, ...]:
    """Where §7.5 of the format notes says identity is impossible, for what this rebuild met."""
    found = [INDEX_NAMES] if has_index else []
    if first_offset > 0:
        found.append(
            f"the log starts at {first_offset}: the first file of a queue is pre-blank up to its first message where a "
            "broker that deleted older files has real units, and the first index file starts at another message"
        )
    if gaps:
        found.append(
            f"{len(gaps)} ranges of the log are no records: what a broker dispatched from there is not rebuilt"
        )
    shifted = [queue for queue in queues if queue.out_of_order]
    if shifted:
        names = ", ".join(f"{queue.topic}/{queue.queue_id}" for queue in shifted[:5])
        found.append(
            f"{len(shifted)} queues have holes in their offsets ({names}): later units are appended before their place"
        )
    return tuple(found)
