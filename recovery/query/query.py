"""Ask a store's files as its broker would: by key, unique id, message id, and by time.

`StoreQuery` opens the files once for many questions.
Source: IndexService#queryOffset, DefaultMessageStore#queryMessage, #lookMessageByOffset @4.9.7 … 5.5.1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from parsers.commitlog.batches.read import MessageFilter, read_commitlog
from parsers.commitlog.record.host import decode_message_id
from parsers.commitlog.record.message import Message
from parsers.commitlog.record.properties import last_value
from parsers.damage.errors import Damage, DamageSink, StoreFormatError, report, unheard
from parsers.index.find import IndexHit, IndexQuery
from parsers.index.open import open_index
from parsers.queues.queue import BatchQueue
from parsers.queues.store_queues import StoreQueues
from parsers.rocksdb.database import Database
from parsers.rocksdb.layout import INDEXED_AT, INDEXED_TO
from parsers.rocksdb.message_records import read_notes
from parsers.store.store import Store
from parsers.store.store_file import QueueKey, StoreFile
from parsers.values.java import LONG_MAX
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.topic_lives import StoreLives
from recovery.query.by_time.queue import search_of
from recovery.query.by_time.time_search import Boundary, QueueSearch, offset_at
from recovery.query.database_index import TAG_KEY, database_offsets
from recovery.query.index_cover import Reach, Uncovered, reach_of, uncovered, uncovered_behind
from recovery.scan.log_access import LogAccess

FoundBy = Literal["unique_id", "key", "tag", "message_id", "hash_only", "scan"]
Life = Literal["living", "former"]
NEVER_QUEUED = ("prepared", "rollback")


@dataclass(frozen=True, slots=True)
class KeyQuestion:
    """A query by key: at most `max_num` messages stored within [begin_ms, end_ms]."""

    topic: str
    key: str
    max_num: int = 32
    begin_ms: int = 0
    end_ms: int = LONG_MAX


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message a question led to. `hash_only`: the index entry's hash fits, the message does not have the key."""

    message: Message
    physical_offset: int
    found_by: FoundBy


@dataclass(frozen=True, slots=True)
class TimeQuestion:
    topic: str
    queue_id: int
    at_ms: int
    boundary: Boundary = "lower"


class StoreQuery:
    """A store opened for questions. What is damaged on the way is handed to `damage`, never raised."""

    def __init__(self, store: Store, known: StoreKnowledge, *, damage: DamageSink = unheard) -> None:
        self._store, self._version, self._damage = store, known.version, damage
        self._database = store.message_database if known.settings.answers_keys_from_database else None
        self._log = LogAccess(store.commitlog)
        self._index = IndexQuery(store.index, damage=damage)
        self._queues = StoreQueues(store, damage=damage)
        self._searches: dict[QueueKey, QueueSearch | None] = {}
        self._lives = StoreLives(store, known)

    def query_offsets(self, question: KeyQuestion) -> list[int]:
        """`IndexService#queryOffset`: physical offsets newest first, other keys of the same hash among them.

        `database_offsets` of a broker that answers from rocksdbstore.
        """
        if self._database is None:
            return [hit.physical_offset for hit in self.index_hits(question)]
        try:
            return database_offsets(
                self._opened_database,
                question.topic,
                question.key,
                max_num=question.max_num,
                begin_ms=question.begin_ms,
                end_ms=question.end_ms,
            )
        except StoreFormatError as error:
            report(error, self._damage)
            return []

    def index_hits(self, question: KeyQuestion) -> list[IndexHit]:
        """The entries of index files behind `query_offsets`."""
        return self._index.find(
            question.topic, question.key, max_num=question.max_num, begin_ms=question.begin_ms, end_ms=question.end_ms
        )

    def find_by_key(
        self, question: KeyQuestion, *, hash_only: bool = False, offsets: Sequence[int] | None = None
    ) -> list[FoundMessage]:
        """Messages that have the key (in KEYS, as UNIQ_KEY, or as tag `T#…`), in the order of the index: newest first.

        `hash_only`: keep those, too, whose index entry merely has the same hash; a broker hands them to its clients,
        which look at the keys themselves. Offsets that lead to no record are left out. Where none leads to one, a
        broker asks up to twice more, always the same: only the time of a record that it read narrows the question.
        `offsets`: what `query_offsets` gave for this question, for a caller who has asked.
        """
        found: list[FoundMessage] = []
        for physical_offset in self.query_offsets(question) if offsets is None else offsets:
            message = self._log.message(physical_offset)
            if message is not None:
                by = _found_by(message, question)
                if hash_only or by != "hash_only":
                    found.append(FoundMessage(message, physical_offset, by))
        self._tell_missed()
        return found

    def find_by_unique_id(self, question: KeyQuestion, offsets: Sequence[int] | None = None) -> list[FoundMessage]:
        """The messages whose UNIQ_KEY is the key, newest first: retries and commits share the first record's id."""
        return [hit for hit in self.find_by_key(question, offsets=offsets) if hit.found_by == "unique_id"]

    def scan(self, question: KeyQuestion) -> list[FoundMessage]:
        """What `find_by_key` would give if every message were in the index: the log itself is read, newest first."""
        by_tag = question.key.startswith(TAG_KEY)
        where = MessageFilter(
            topics=[question.topic],
            key=None if by_tag else question.key,
            since_ms=question.begin_ms or None,
            until_ms=question.end_ms + 1 if question.end_ms < LONG_MAX else None,
        )
        offsets: deque[int] = deque(maxlen=question.max_num)
        for batch in read_commitlog(self._store.commitlog, columns=["physical_offset", "tags"], where=where):
            rows = zip(batch["physical_offset"].to_pylist(), batch["tags"].to_pylist(), strict=True)
            offsets.extend(at for at, tags in rows if not by_tag or question.key == f"{TAG_KEY}{tags}")
        found = ((at, self._log.message(at)) for at in reversed(offsets))
        return [FoundMessage(message, at, "scan") for at, message in found if message is not None]

    def index_reach(self) -> Reach | None:
        """From which message to which the index goes; None without an entry."""
        if self._database is None:
            return reach_of(open_index(self._store.index, damage=unheard))
        notes, first = self._notes(self._database), self._log.message(self._log.min_physical_offset)
        if first is None or not {INDEXED_TO, INDEXED_AT} <= notes.keys():
            return None
        return Reach(self._log.min_physical_offset, first.store_timestamp_ms, notes[INDEXED_TO], notes[INDEXED_AT])

    def uncovered(self, topic: str | None = None) -> Uncovered | None:
        """The messages with keys, of one topic or of all, that no query by key can find; None where there are none."""
        if self._database is not None:
            return uncovered_behind(
                self._store.commitlog, self._log, self._notes(self._database).get(INDEXED_TO), topic
            )
        return uncovered(self._store.commitlog, self._log, open_index(self._store.index, damage=unheard), topic)

    @cached_property
    def _opened_database(self) -> Database:
        """Raises StoreFormatError."""
        assert self._database is not None
        return Database(self._database.path)

    def _notes(self, database: StoreFile) -> dict[tuple[str, bytes], int]:
        return read_notes(database, damage=self._damage)

    def life_of(self, message: Message) -> Life | None:
        """Whether a message is in its queue, or of a former life of its topic: one that a deletion ended.

        None where nothing tells: of a BatchCQ, and of records that get no unit.
        """
        queue = self._queues.get((message.topic, message.queue_id))
        if isinstance(queue, BatchQueue) or message.transaction_type in NEVER_QUEUED:
            return None
        pointer = None if queue is None else queue.pointer(message.queue_offset)
        if pointer is not None and pointer.physical_offset == message.physical_offset:
            return "living"
        own = self._lives().life_at((message.topic, message.queue_id), message.physical_offset)
        return "former" if own is not None and own.state == "deleted" else None

    def find_by_message_id(self, message_id: str) -> list[FoundMessage]:
        """The record at the offset that an offset message id names, if it has this id; at most one.

        Raises ValueError for a text that is no such id.
        """
        _, physical_offset = decode_message_id(message_id)
        message = self._log.message(physical_offset)
        if message is None or message.message_id != message_id.upper():
            return []
        return [FoundMessage(message, physical_offset, "message_id")]

    def offset_at(self, question: TimeQuestion) -> int | None:
        """The queue offset the broker's search by time gives; None when the store has no such queue."""
        key = question.topic, question.queue_id
        if key not in self._searches:
            self._searches[key] = self._search_of(key)
        search = self._searches[key]
        found = None if search is None else offset_at(search, question.at_ms, self._version, question.boundary)
        self._tell_missed()
        return found

    def queues_of(self, topic: str) -> list[int]:
        """The ids of the queues that the store has of a topic."""
        return sorted(queue_id for name, queue_id in self._queues if name == topic)

    def limits(self, topic: str, queue_id: int) -> tuple[int, int]:
        """The first message number that a queue still has, and its next one; both 0 where the store has no such
        queue."""
        queue = self._queues.get((topic, queue_id))
        return (0, 0) if queue is None else queue.ends(self._log.min_physical_offset)

    def _tell_missed(self) -> None:
        """Hand on that an answer rests on a message that no file of the log holds."""
        missed, self._log.missed = self._log.missed, None
        if missed is not None and self._damage is not None:
            reason = f"the answer rests on a message at physical offset {missed}, which no file of the log holds"
            self._damage(Damage(self._store.root, 0, 0, "TruncatedRecord", reason))

    def _search_of(self, key: QueueKey) -> QueueSearch | None:
        queue = self._queues.get(key)
        return None if queue is None else search_of(queue, self._log)


def _found_by(message: Message, question: KeyQuestion) -> FoundBy:
    if message.topic != question.topic:
        return "hash_only"
    properties = message.properties()
    if last_value(properties, "UNIQ_KEY") == question.key:
        return "unique_id"
    if question.key in (last_value(properties, "KEYS") or "").split(" "):
        return "key"
    return "tag" if question.key == f"{TAG_KEY}{last_value(properties, 'TAGS')}" else "hash_only"
