"""Where the evidence for a message's story comes from: a store's files, or the tables of a lake."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from parsers.commitlog.batches.read import MessageFilter, read_commitlog
from parsers.damage.errors import DamageSink, unheard
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.values.topics import (
    BROKERS_OWN,
    DLQ_PREFIX,
    RETRY_PREFIX,
    SCHEDULE_TOPIC,
    is_dead_letter,
    is_retry,
    retry_topic_of,
)
from parsers.values.utc import epoch_ms
from pipelines.answers.journey.held_back import held_back_in_lake
from pipelines.answers.journey.step import StoredRecord, message_life
from pipelines.answers.journey.steps import Commit, KeptOffset, Pull, Trail
from pipelines.answers.journey.traced import TraceEvent
from pipelines.answers.lives.life_rows import lives_of_rows
from pipelines.answers.offsets.event import OffsetEvent, order_of
from pipelines.answers.offsets.events import offset_event_of
from pipelines.answers.offsets.passed_over import passing_events
from pipelines.answers.offsets.saved import OffsetsAt
from pipelines.answers.traces import of_message, trace_batches
from pipelines.lake.lake import Lake
from rebalance.diagnosis.intervals import OwnershipInterval
from rebalance.facts import Fact, OffsetCommitted, OffsetPersisted, PullSeen
from rebalance.facts.broker import ChannelFact
from rebalance.facts.consumer import ClientFact
from recovery.lives.life import TopicLives
from recovery.lives.offset_lives import QueueEnds, doubtful_offsets
from recovery.lives.topic_lives import StoreLives
from recovery.query.query import KeyQuestion, StoreQuery

COLUMNS = (
    "topic",
    "queue_id",
    "queue_offset",
    "physical_offset",
    "store_timestamp",
    "born_timestamp",
    "born_host",
    "message_id",
    "unique_id",
    "reconsume_times",
    "transaction_type",
    "keys",
    "properties",
)
RETRY_TOPIC = "RETRY_TOPIC"
LAKE_RECORDS = f"""
SELECT broker, {", ".join(COLUMNS)} FROM commitlog_messages
WHERE message_id = upper($id) OR unique_id = $id
   OR unique_id = (SELECT any_value(unique_id) FROM commitlog_messages WHERE message_id = upper($id))
ORDER BY physical_offset
"""
LAKE_TOPICS = "SELECT DISTINCT topic FROM queues"
LAKE_UNIT = """
SELECT physical_offset FROM consumequeue_units
WHERE broker = $broker AND topic = $topic AND queue_id = $queue_id AND queue_offset = $queue_offset
"""
LAKE_INDEX = "SELECT DISTINCT file FROM index_entries WHERE broker = $broker AND physical_offset = $place ORDER BY file"
LAKE_OFFSETS = """
SELECT epoch_ms(written_at) AS written_ms, "group", queue_id, consumer_offset FROM offset_snapshots
WHERE broker = $broker AND topic = $topic AND kind <> 'pull' ORDER BY written_at
"""
LAKE_LIVES = """
SELECT * REPLACE (epoch_ms(begins_at) AS begins_at) FROM topic_lives WHERE broker = $broker AND topic = $topic
"""
LAKE_ENDS = """
SELECT queue_id, coalesce(max_queue_offset - messages, 0) AS first, max_queue_offset AS behind FROM queues
WHERE broker = $broker AND topic = $topic
"""
LAKE_MOVES = """
SELECT * REPLACE (epoch_ms(earliest) AS earliest, epoch_ms(latest) AS latest) FROM offset_events
WHERE broker = $broker AND topic = $topic
"""
LAKE_OWNERS = """
SELECT * REPLACE (epoch_ms(begin_earliest) AS begin_earliest, epoch_ms(begin_latest) AS begin_latest,
                  epoch_ms(end_earliest) AS end_earliest, epoch_ms(end_latest) AS end_latest)
FROM ownership_intervals WHERE topic = $topic AND queue_id = $queue_id
"""


LAKE_TRACES = """
SELECT * EXCLUDE ("at", stored_at), epoch_ms("at") AS at_ms FROM trace_events
WHERE list_has_any(string_split(upper(message_id), ','), $ids)
   OR list_has_any(string_split(upper(offset_message_id), ','), $ids)
ORDER BY stored_at, record_number
"""


def trail_in_store(
    store: Store, query: StoreQuery, message_id: str, lives: StoreLives, damage: DamageSink
) -> Trail | None:
    """The message with this offset id or unique id, and what the store says of it; None where the log has none."""
    asked = message_id
    by_place = _by_message_id(query, message_id)
    if by_place is not None:
        asked = by_place.unique_id or ""
    records = [by_place] if by_place is not None and not asked else list(_records(store, asked))
    if not records:
        return None
    with StoreQueues(store, damage=unheard) as queues:
        records = _with_groups(records, {topic for topic, _ in queues})
        placed = [each for each in records if by_place and each.physical_offset == by_place.physical_offset]
        message = (placed or [_original(records)])[0]
        keys = [message.unique_id] if message.unique_id else []
        queue = queues.get((message.topic, message.queue_id))
        unit = None if queue is None else queue.pointer(message.queue_offset)
        end = 0 if queue is None else queue.ends(0)[1]
    return Trail(
        message,
        records,
        None if unit is None else unit.physical_offset,
        _index_files(query, message, keys) if store.index else None,
        life=message_life(lives(), (message.topic, message.queue_id), message.physical_offset, end),
        traces=list(traces_in(store, message, damage)),
    )


def _by_message_id(query: StoreQuery, message_id: str) -> StoredRecord | None:
    try:
        found = query.find_by_message_id(message_id)
    except ValueError:
        return None
    if not found:
        return None
    message = found[0].message
    return StoredRecord(
        topic=message.topic,
        queue_id=message.queue_id,
        queue_offset=message.queue_offset,
        physical_offset=message.physical_offset,
        stored_ms=message.store_timestamp_ms,
        born_host=message.born_host.text,
        message_id=message.message_id,
        unique_id=message.property_value("UNIQ_KEY"),
        reconsume_times=message.reconsume_times,
        transaction_type=message.transaction_type,
        born_ms=message.born_timestamp_ms,
        has_retry_topic=message.property_value(RETRY_TOPIC) is not None,
    )


def _records(store: Store, unique_id: str) -> Iterator[StoredRecord]:
    """One pass over the log: an id says nothing about the topics its copies went to."""
    for batch in read_commitlog(store, columns=COLUMNS, where=MessageFilter(key=unique_id)):
        for row in batch.to_pylist():
            if row["unique_id"] == unique_id:
                yield _record(row)


def _record(row: Mapping[str, Any]) -> StoredRecord:
    named_otherwise = ("store_timestamp", "born_timestamp", "keys", "properties")
    fields = {name: row[name] for name in COLUMNS if name not in named_otherwise}
    stored_ms, born_ms = epoch_ms(row["store_timestamp"]), epoch_ms(row["born_timestamp"])
    is_pushed = any(pair["name"] == RETRY_TOPIC for pair in row["properties"] or ())
    return StoredRecord(**fields, stored_ms=stored_ms, born_ms=born_ms, has_retry_topic=is_pushed)


def _with_groups(records: Sequence[StoredRecord], topics: Collection[str]) -> list[StoredRecord]:
    """`topics`: all that the broker is known to have."""
    pushed = {record.topic for record in records if record.has_retry_topic}
    return [replace(record, group=_group_of(record.topic, record.topic in pushed, topics)) for record in records]


def _group_of(topic: str, is_pushed: bool, topics: Collection[str]) -> str | None:
    keeps_copies = is_retry(topic) or is_dead_letter(topic)
    return retry_topic_of(topic, is_pushed=is_pushed, topics=topics).group if keeps_copies else None


def _original(records: Sequence[StoredRecord]) -> StoredRecord:
    """The record consumers were meant to get first: after delay or transaction, before retries."""
    plain = [r for r in records if not r.topic.startswith((RETRY_PREFIX, DLQ_PREFIX, SCHEDULE_TOPIC, *BROKERS_OWN))]
    return (plain or records)[0]


def _index_files(query: StoreQuery, message: StoredRecord, keys: Iterable[str]) -> list[str]:
    files: dict[str, None] = {}
    for key in keys:
        for hit in query.index_hits(KeyQuestion(message.topic, key)):
            if hit.physical_offset == message.physical_offset:
                files[f"index/{hit.file.path.name}"] = None
    return list(files)


def kept_offsets(
    store: Store, lives: TopicLives, copies: Iterable[OffsetsAt], message: StoredRecord
) -> Iterator[KeptOffset]:
    """What each kept copy says of the message's queue, for the groups that have the topic in some copy."""
    topic = message.topic
    with StoreQueues(store, damage=unheard) as queues:
        ends = {key: queue.ends(0) for key, queue in queues.items() if key[0] == topic}
    of_topic = [
        (copy.written_ms, {group: offsets for (group, named), offsets in copy.offsets.items() if named == topic})
        for copy in copies
    ]
    yield from _kept(of_topic, lives, ends, message)


def _kept(
    copies: Sequence[tuple[int, Mapping[str, Mapping[int, int]]]],
    lives: TopicLives,
    ends: QueueEnds,
    message: StoredRecord,
) -> Iterator[KeptOffset]:
    """`copies`: when each was written (epoch ms), and by group the offsets that it has of the message's topic."""
    topic, queue_id = message.topic, message.queue_id
    groups = sorted({group for _, of_topic in copies for group in of_topic})
    for written_ms, of_topic in copies:
        named = {(group, topic): of_topic.get(group, {}) for group in groups}
        doubts = {d.group: d.life for d in doubtful_offsets(lives, named, ends) if d.queue_id == queue_id}
        for group in groups:
            yield KeptOffset(written_ms, group, named[group, topic].get(queue_id), doubts.get(group))


def commits_in(facts: Sequence[Fact], message: StoredRecord) -> Iterator[Commit]:
    """Commits on the message's queue, seen by brokers or logged by clients."""
    clients = _clients_by_connection(facts)
    for fact in facts:
        if not isinstance(fact, OffsetCommitted | OffsetPersisted):
            continue
        if (fact.queue.topic, fact.queue.queue_id) == (message.topic, message.queue_id):
            place = f"{fact.evidence.file}:{fact.evidence.record}"
            yield Commit(
                fact.at_ms, fact.group, _client_of(fact, clients), fact.queue_offset, place, fact.queue.broker_name
            )


def pulls_in(facts: Sequence[Fact], message: StoredRecord) -> Iterator[Pull]:
    """Pulls from the message's queue, seen by captures."""
    clients = _clients_by_connection(facts)
    for fact in facts:
        if not isinstance(fact, PullSeen) or fact.queue_offset is None:
            continue
        if (fact.queue.topic, fact.queue.queue_id) == (message.topic, message.queue_id):
            place = f"{fact.evidence.file}:{fact.evidence.record}"
            client = _client_of(fact, clients)
            yield Pull(fact.at_ms, fact.group, client, fact.remote, fact.queue_offset, place, fact.queue.broker_name)


def _clients_by_connection(facts: Iterable[Fact]) -> dict[tuple[str, str], str]:
    """(broker, `ip:port` of the client) -> the client id that heartbeats on this connection name.

    Addresses on which several ids were heard are left out: a port is used again, and nothing shows which client had it
    then.
    """
    told: dict[tuple[str, str], set[str]] = {}
    for fact in facts:
        if isinstance(fact, ChannelFact) and fact.remote and fact.client_id:
            told.setdefault((fact.source, fact.remote), set()).add(fact.client_id)
    return {name: next(iter(ids)) for name, ids in told.items() if len(ids) == 1}


def _client_of(fact: ChannelFact | ClientFact, clients: Mapping[tuple[str, str], str]) -> str | None:
    if fact.client_id is not None or isinstance(fact, ClientFact) or fact.remote is None:
        return fact.client_id
    return clients.get((fact.source, fact.remote))


def traces_in(store: Store, message: StoredRecord, damage: DamageSink) -> Iterator[TraceEvent]:
    """What clients wrote of the message; a body that cannot be read is damage."""
    ids = [each for each in (message.unique_id, message.message_id) if each]
    for batch in of_message(trace_batches(store, damage), *ids):
        for row in batch.to_pylist():
            yield {**row, "at_ms": epoch_ms(row["at"])}


def trail_in_lake(lake: Lake, message_id: str) -> Trail | None:
    """Collect the evidence for one message from the lake's tables, with the offsets and owners they hold."""
    rows = lake.query(LAKE_RECORDS, id=message_id).to_pylist()
    if not rows:
        return None
    topics = {row["topic"] for row in lake.query(LAKE_TOPICS).to_pylist()}
    records = _with_groups([_record(row) for row in rows], topics)
    asked = [record for record in records if record.message_id == message_id.upper()]
    message = (asked or [_original(records)])[0]
    broker = next(row["broker"] for row, record in zip(rows, records, strict=True) if record is message)
    of_queue = {"topic": message.topic, "queue_id": message.queue_id}
    of_topic = {"broker": broker, "topic": message.topic}
    units = lake.query(LAKE_UNIT, broker=broker, queue_offset=message.queue_offset, **of_queue).to_pylist()
    files = lake.query(LAKE_INDEX, broker=broker, place=message.physical_offset).to_pylist()
    owners = lake.query(LAKE_OWNERS, **of_queue).to_pylist()
    lives = lives_of_rows(lake.query(LAKE_LIVES, **of_topic).to_pylist())
    known = lake.query(LAKE_ENDS, **of_topic).to_pylist()
    ends = {(message.topic, row["queue_id"]): (row["first"], row["behind"]) for row in known}
    key = message.topic, message.queue_id
    moved = sorted(map(offset_event_of, lake.query(LAKE_MOVES, **of_topic).to_pylist()), key=order_of)
    return Trail(
        message,
        records,
        units[0]["physical_offset"] if units else None,
        [row["file"] for row in files] if lake.rows("index_files") else None,
        kept=list(_kept(_copies(lake.query(LAKE_OFFSETS, **of_topic).to_pylist()), lives, ends, message)),
        intervals=[OwnershipInterval(**{k: v for k, v in row.items() if k != "source"}) for row in owners],
        traces=_lake_traces(lake, message),
        held=held_back_in_lake(lake, broker, records),
        passed=movements_over(message, moved, lives),
        broker=broker,
        looked_at=["the lake's snapshots of offsets and its ownership intervals"],
        life=message_life(lives, key, message.physical_offset, ends.get(key, (0, 0))[1]),
    )


def movements_over(message: StoredRecord, moved: Sequence[OffsetEvent], lives: TopicLives) -> dict[str, OffsetEvent]:
    """By group the movement that took its offset over a message of the topic's present life; `moved`: by time."""
    of_topic = lives.topics.get(message.topic, ())
    if of_topic and message.physical_offset < of_topic[-1].first_physical_offset:
        return {}
    return passing_events(moved, lives, message.topic, message.queue_id, message.queue_offset)


def _lake_traces(lake: Lake, message: StoredRecord) -> list[TraceEvent]:
    """Trace records of a lake that name the message by its unique id or its message id, in either case of letters."""
    ids = [each.upper() for each in (message.unique_id, message.message_id) if each]
    return lake.query(LAKE_TRACES, ids=ids).to_pylist() if lake.rows("trace_events") else []


def _copies(rows: Iterable[Mapping[str, Any]]) -> list[tuple[int, dict[str, dict[int, int]]]]:
    """Snapshots of the offsets of one topic, in the order in which they were written."""
    copies: dict[int, dict[str, dict[int, int]]] = {}
    for row in rows:
        of_group = copies.setdefault(row["written_ms"], {}).setdefault(row["group"], {})
        of_group[row["queue_id"]] = row["consumer_offset"]
    return list(copies.items())
