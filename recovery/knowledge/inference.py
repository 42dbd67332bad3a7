"""Version and settings of a store told from its own files, each fact with its evidence.

A broker writes neither into its store; what dispatch needs of them leaves traces. What leaves none is assumed, and said
to be. Given values are taken as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from parsers.commitlog.layout import MAGIC_V2, SYS_FLAG_TRANSACTION
from parsers.commitlog.message import Message, decode_message
from parsers.commitlog.tags import DelayLevels
from parsers.config.topics import read_topics
from parsers.consumequeue.batch import BATCH_UNIT
from parsers.consumequeue.ext import decode_ext_unit
from parsers.consumequeue.layout import ext_offset, tags_code_kind
from parsers.errors import StoreFormatError
from parsers.index.find import IndexQuery
from parsers.index.layout import INDEX_HEADER, INDEX_SLOT
from parsers.index.open import open_index
from parsers.mapped import map_file
from parsers.queues import Queue, StoreQueues
from parsers.rocksdb.tables import SECOND_FORM
from parsers.store import Store, StoreFile
from parsers.topics import SCHEDULE_TOPIC, is_lmq
from recovery.knowledge.index_tags import ASKED_FILES, index_holds_tags
from recovery.knowledge.topic_events import TopicEvent
from recovery.rules.dispatch import COMMIT, PREPARED, DispatchRules
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import PROVEN, BrokerVersion
from recovery.scan.log_runs import log_runs
from recovery.scan.record_walk import walk

CANDIDATES = tuple(
    map(
        BrokerVersion.parse,
        ("5.3.3", "5.5.1", "4.9.8", "5.0.0", "5.1.4", "4.9.0", "4.7.0", "4.2.0", "3.2.6"),
    )
)
"""Tried in this order when a version has to be taken: the first one that no evidence excludes."""

SAMPLED_RECORDS, SAMPLED_UNITS, NEWEST_FILES = 400, 64, 2
NEWEST_RECORDS = 9
"""So many tell how the broker ends properties: older ones may be of another version, and one alone may be damaged."""
STORE_TYPE = "storeType"
SINGLE_FORM = "metadata"
"""Folder of config/ with all tables in one database, since 5.4.0 with useSingleRocksDBForAllConfigs."""
CHECKPOINT_SIGNS = (
    (40, BrokerVersion(5, 5, 0), "logicsPhysicalOffset"),
    (32, BrokerVersion(5, 1, 1), "confirmPhyOffset"),
)


@dataclass(frozen=True, slots=True)
class Inferred:
    """One fact: RocketMQ's name of the setting (or `version`, `queue.type`), its value, and how it is known.

    `certain` is False where the value is only assumed.
    """

    what: str
    value: str
    why: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class StoreKnowledge:
    """Version and settings of a store's broker, and where they come from.

    `version_is_said` is False where the version was inferred from the files; `may_be` then has every version that they
    leave open, of those that are tried and those whose starts were recorded. `topic_events`: what a log of the broker
    says of its topics.
    """

    version: BrokerVersion
    settings: StoreSettings
    batch_topics: frozenset[str]
    facts: tuple[Inferred, ...]
    version_is_said: bool = False
    topic_events: tuple[TopicEvent, ...] = ()
    may_be: tuple[BrokerVersion, ...] = ()

    @property
    def rules(self) -> DispatchRules:
        return DispatchRules.of(self.version, self.settings, self.batch_topics)


def infer(
    store: Store, *, version: BrokerVersion | None = None, settings: StoreSettings | None = None
) -> StoreKnowledge:
    """Everything dispatch needs to know. Given settings are complete: nothing of them is inferred then."""
    facts: list[Inferred] = []
    sample = list(_sample(store)) if version is None else []
    version_is_said = version is not None
    may_be: tuple[BrokerVersion, ...] = ()
    if version is None:
        version, may_be, why = _version(store, sample)
        facts.append(Inferred("version", str(version), why, False))
    if settings is None:
        settings, found = _settings(store)
        facts += found
    topics = frozenset(topic for topic, _ in store.batch_queues)
    if topics:
        facts.append(
            Inferred("queue.type=BatchCQ", ", ".join(sorted(topics)), "they have folders in batchconsumequeue/")
        )
    return StoreKnowledge(version, settings, topics, tuple(facts), version_is_said, may_be=may_be)


def _sample(store: Store) -> Iterator[Message]:
    """The first records of the first and the last log file that has any, or of the log's first run of records."""
    found = list(_first_records(store))
    if not found:
        with closing(log_runs(store.commitlog, lambda gap: None)) as runs:
            for run in islice(runs, 1):
                found = [decode_message(run.data.data, at) for at in run.positions[:SAMPLED_RECORDS].tolist()]
    yield from found


def _first_records(store: Store) -> Iterator[Message]:
    newest = islice(filter(_positions, reversed(store.commitlog)), NEWEST_FILES)
    for file in {file.path: file for file in (*store.commitlog[:1], *reversed([*newest]))}.values():
        for at in _positions(file):
            yield decode_message(map_file(file.path), at)


def _positions(file: StoreFile) -> list[int]:
    """Where the first records of a log file start; none in a file made in advance."""
    try:
        buffer = map_file(file.path)
    except StoreFormatError:
        return []
    positions = np.empty(SAMPLED_RECORDS, np.int64)
    count, _ = walk(np.frombuffer(buffer, np.uint8), 0, file.base_offset or 0, file.header_size, positions)
    return list(positions[:count].tolist())


def _version(store: Store, sample: Sequence[Message]) -> tuple[BrokerVersion, tuple[BrokerVersion, ...], str]:
    """The first candidate that goes against the fewest of the files' bounds; all versions that do; the sentence for it.

    An upgrade, or one damaged place, may leave a bound that the others contradict: they outweigh it.
    """
    bounds, known = list(_bounds(store, sample)), sorted({*CANDIDATES, *PROVEN})
    against = {
        each: [why for least, below, why in bounds if not _within(each, least, below)] for each in (*CANDIDATES, *known)
    }
    fewest = min(map(len, against.values()))
    taken = next(each for each in against if len(against[each]) == fewest)
    may_be = tuple(each for each in known if len(against[each]) == fewest)
    reasons = "; ".join(why for _, _, why in bounds if why not in against[taken]) or "nothing in the files tells"
    outweighed = "".join(f"; outweighed: {why}" for why in against[taken])
    return taken, may_be, f"assumed within what the files tell: {reasons}{outweighed}"


NEVER = BrokerVersion(99, 0, 0)
EVER = BrokerVersion(0, 0, 0)


def _within(version: BrokerVersion, least: BrokerVersion, below: BrokerVersion) -> bool:
    return least <= version < below if least < below else version >= least or version < below


def _bounds(store: Store, sample: Sequence[Message]) -> Iterator[tuple[BrokerVersion, BrokerVersion, str]]:
    """(first version possible, first version impossible again, the evidence).

    Where the second is the earlier one, the versions between them are impossible.
    """
    if any(message.magic_code == MAGIC_V2 for message in sample):
        yield BrokerVersion(5, 1, 0), NEVER, "the log has V2 records"
    newest = [message for message in sample if message.properties_size > 0][-NEWEST_RECORDS:]
    ends = Counter(message.properties_stored.endswith(b"\x02") for message in newest)
    if ends[False] > ends[True]:
        yield BrokerVersion(4, 9, 1), BrokerVersion(5, 2, 0), "properties have no separator at their end"
    elif ends:
        yield BrokerVersion(5, 2, 0), BrokerVersion(4, 9, 1), "properties end in a separator"
    tagged = index_holds_tags(store, sample)
    if tagged is not None:
        since = BrokerVersion(5, 4, 0)
        yield (since, NEVER, "the index holds tags") if tagged else (EVER, since, "the index holds no tags")
    topics = [topic for _, topic in read_topics(store.config, on_damage="collect")]
    if topics and all(topic.attributes is None for topic in topics):
        yield EVER, BrokerVersion(5, 0, 0), "config/topics.json knows no attributes of topics"
    counts_puts = _index_counts_puts(store)
    if counts_puts:
        yield EVER, BrokerVersion(4, 7, 1), "the headers of the index count every put as a slot"
        yield from _old_bounds(store, sample)
    elif counts_puts is not None:
        yield BrokerVersion(4, 7, 1), NEVER, "the headers of the index count slots in use"
    if store.checkpoint is not None:
        yield from _checkpoint_bounds(store.checkpoint)
    if any(marker.path.name == "abort.bak" for marker in store.markers) or store.batch_queues:
        yield BrokerVersion(5, 0, 0), NEVER, "abort.bak or batchconsumequeue/ is there"
    if store.queue_database is not None:
        yield BrokerVersion(5, 2, 0), NEVER, "consumequeue/ is a RocksDB database"
    if _is_database(store, SECOND_FORM):
        yield BrokerVersion(5, 3, 2), NEVER, f"config/{SECOND_FORM}/ is a RocksDB database"


def _is_database(store: Store, folder: str) -> bool:
    """Whether this folder of config/ is one database of all tables: `SECOND_FORM` with configManagerVersion=v2."""
    return (store.root / "config" / folder / "CURRENT").is_file()


def _index_counts_puts(store: Store) -> bool | None:
    """Whether the header of an index file counts the entries or the slots that they use; None where nothing tells."""
    for file in open_index(store.index[:ASKED_FILES], on_damage="collect"):
        if file.geometry is None or file.entries < 2:
            continue  # with an entry all slots are there, too
        slots = file.data[INDEX_HEADER.size : file.geometry.entries_at].view(INDEX_SLOT.dtype)
        used, counted = np.count_nonzero(slots), file.header["hash_slot_count"]
        if used < file.entries and counted in (used, file.entries):
            return bool(counted == file.entries)
    return None


def _old_bounds(store: Store, sample: Sequence[Message]) -> Iterator[tuple[BrokerVersion, BrokerVersion, str]]:
    """What tells brokers before 4.7.1 from one another; a single message tells nothing, since it may be damaged."""
    transactions = Counter(message.sys_flag & SYS_FLAG_TRANSACTION for message in sample)
    if transactions[PREPARED] > 1:
        yield EVER, BrokerVersion(4, 3, 0), "half messages are in the log under their own topics"
    commits = [message for message in sample if message.sys_flag & SYS_FLAG_TRANSACTION == COMMIT]
    keyed = [message for message in commits if (message.property_value("KEYS") or "").strip()][:SAMPLED_UNITS]
    queries = [IndexQuery([file], on_damage="collect") for file in store.index[:ASKED_FILES]]
    if queries and len(keyed) > 1 and not any(_is_indexed(message, query) for message in keyed for query in queries):
        yield EVER, BrokerVersion(4, 0, 0), "the index holds no record that commits a transaction"


def _is_indexed(message: Message, query: IndexQuery) -> bool:
    key, at = (message.property_value("KEYS") or "").split()[0], message.store_timestamp_ms
    hits = query.find(message.topic, key, begin_ms=at - 2000, end_ms=at + 2000, max_num=64)
    return any(hit.physical_offset == message.physical_offset for hit in hits)


def _checkpoint_bounds(file: StoreFile) -> Iterator[tuple[BrokerVersion, BrokerVersion, str]]:
    try:
        data = bytes(map_file(file.path)[:48])
    except StoreFormatError:
        return
    for at, since, name in CHECKPOINT_SIGNS:
        if any(data[at : at + 8]):
            yield since, NEVER, f"the checkpoint has {name}"


def _settings(store: Store) -> tuple[StoreSettings, list[Inferred]]:
    """The settings that leave traces; all others at the broker's defaults."""
    with StoreQueues(store, on_damage="collect") as queues:
        facts = list(_traces(store, queues))
    return StoreSettings.from_config([(fact.what, fact.value) for fact in facts]), facts


def _traces(store: Store, queues: StoreQueues) -> Iterator[Inferred]:
    holds = queues.holders() == [store.queue_database]
    if store.queue_database is not None and any(file.size for files in store.queues.values() for file in files):
        newer = "defaultRocksDB" if holds else "default"
        why = "consumequeue/ has queue files and a RocksDB database: say storeType, which alone decides between them"
        yield Inferred(STORE_TYPE, newer, f"assumed: {why}", False)
    elif holds:
        yield Inferred(STORE_TYPE, "defaultRocksDB", "consumequeue/ is a RocksDB database")
    if not holds:
        queue_files = [file for files in store.queues.values() for file in files]
        yield from _file_size("mappedFileSizeConsumeQueue", queue_files)
    if _is_database(store, SINGLE_FORM):
        why = f"config/{SINGLE_FORM}/ is a RocksDB database"
        yield Inferred("useSingleRocksDBForAllConfigs", "true", why)
    if _is_database(store, SECOND_FORM):
        yield Inferred("configManagerVersion", "v2", f"config/{SECOND_FORM}/ is a RocksDB database")
    batch_files = [file for files in store.batch_queues.values() for file in files]
    if store.ext_queues:
        yield Inferred("enableConsumeQueueExt", "true", "consumequeue_ext/ has files")
        ext_files = [file for files in store.ext_queues.values() for file in files]
        yield from _file_size("mappedFileSizeConsumeQueueExt", ext_files)
    yield from _file_size("mappedFileSizeCommitLog", store.commitlog)
    yield from _file_size("mapperFileSizeBatchConsumeQueue", batch_files)
    if store.compaction_queues:
        yield from _compaction_sizes(store)
    yield from _geometry(store)
    yield from _delay_levels(store, queues)
    yield from _multi_dispatch(store, queues)


def _file_size(name: str, files: Iterable[StoreFile]) -> Iterator[Inferred]:
    """The size that most files have, of those at whose multiples all files start, if there are any."""
    listed = [file for file in files if file.size > 0]
    sizes = Counter(file.size for file in listed)
    if sizes:
        fitting = [size for size in sizes if all((file.base_offset or 0) % size == 0 for file in listed)]
        size = max(fitting or sizes, key=lambda size: (sizes[size], size))
        yield Inferred(name, str(size), f"{sizes[size]} of {sizes.total()} files have this size")
    else:
        yield Inferred(
            name, str(StoreSettings().as_config()[name]), "assumed: the broker's default, no file shows it", False
        )


def _compaction_sizes(store: Store) -> Iterator[Inferred]:
    """The sizes of compacted queues' files; a byte less than a log's file has leads to its size.

    Source: CompactionLog#getCompactionLogSize @5.3.3.
    """
    for name, by_queue, less, least in (
        ("compactionCqMappedFileSize", store.compaction_queues, 0, BATCH_UNIT.size),
        ("compactionMappedFileSize", store.compaction_logs, 1, 1),
    ):
        for fact in _file_size(name, [file for files in by_queue.values() for file in files]):
            yield replace(fact, value=str(max(int(fact.value) - less, least))) if fact.certain else fact


def _geometry(store: Store) -> Iterator[Inferred]:
    opened = [found for found in open_index(store.index, on_damage="collect") if found.geometry is not None]
    if not opened:
        why = "assumed: the broker's default, no index file shows it"
        defaults = StoreSettings()
        yield Inferred("maxHashSlotNum", str(defaults.max_hash_slot_num), why, False)
        yield Inferred("maxIndexNum", str(defaults.max_index_num), why, False)
        return
    geometry, count = Counter(found.geometry for found in opened if found.geometry).most_common(1)[0]
    why = f"{count} of {len(opened)} index files are laid out so"
    yield Inferred("maxHashSlotNum", str(geometry.hash_slots), why)
    yield Inferred("maxIndexNum", str(geometry.max_entries), why)


def _delay_levels(store: Store, queues: StoreQueues) -> Iterator[Inferred]:
    """The delay of each level from the units of its queue: delivery time less the message's store time."""
    scheduled = {queue_id: queue for (topic, queue_id), queue in queues.items() if topic == SCHEDULE_TOPIC}
    seen = {
        queue_id + 1: delay
        for queue_id, queue in scheduled.items()
        if (delay := _delay_of_queue(store, queue, queue_id))
    }
    if not seen:
        if scheduled:
            yield Inferred("messageDelayLevel", DelayLevels.DEFAULT, "assumed: the broker's default", False)
        return
    default = DelayLevels.parse().millis
    count = max(len(default), max(seen))
    millis = [
        seen.get(level) or (default[level - 1] if level <= len(default) else 1000) for level in range(1, count + 1)
    ]
    levels = ", ".join(map(str, sorted(seen)))
    yield Inferred(
        "messageDelayLevel",
        " ".join(f"{ms // 1000}s" for ms in millis),
        f"levels {levels} from the units of their queues, the others at the broker's default",
    )


def _delay_of_queue(store: Store, queue: Queue, queue_id: int) -> int | None:
    delays: Counter[int] = Counter()
    ext = store.ext_queues.get((SCHEDULE_TOPIC, queue_id), [])
    logs = {file.base_offset or 0: file for file in store.commitlog}
    for unit in queue.sample(SAMPLED_UNITS):
        stored = _store_time(logs, unit.physical_offset, unit.msg_size)
        if stored is not None:
            delays[_delivery_time(ext, unit.tags_code) - stored] += 1
    likely = [delay for delay, _ in delays.most_common(1) if delay > 0 and delay % 1000 == 0]
    return likely[0] if likely else None


def _delivery_time(ext: Sequence[StoreFile], tags_code: int) -> int:
    """The tags code, or that of the ext unit which it is the address of, where there is one."""
    if tags_code_kind(SCHEDULE_TOPIC, tags_code) != "ext_address":
        return tags_code
    offset = ext_offset(tags_code)
    for file in ext:
        at = offset - (file.base_offset or 0)
        if 0 <= at < file.size:
            try:
                unit = decode_ext_unit(map_file(file.path), at)
            except StoreFormatError:
                return tags_code
            return tags_code if unit is None else unit.tags_code
    return tags_code


def _store_time(logs: dict[int, StoreFile], physical_offset: int, msg_size: int) -> int | None:
    base = max((base for base in logs if base <= physical_offset), default=None)
    if base is None or msg_size <= 0:
        return None
    try:
        message = decode_message(map_file(logs[base].path), physical_offset - base)
    except StoreFormatError:
        return None
    return message.store_timestamp_ms if message.topic == SCHEDULE_TOPIC else None


def _multi_dispatch(store: Store, queues: StoreQueues) -> Iterator[Inferred]:
    """Light queues show in their folders. Where a store has no queue at all the log tells: a broker lists the offsets
    of further queues in a record only if it dispatches to them (CommitLog, LmqDispatch @4.9.3 … 5.5.1)."""
    why = "consumequeue/ has queues named %LMQ%…"
    light = any(is_lmq(topic) for topic, _ in queues)
    if not queues:
        listed = [message for message in _sample(store) if message.property_value("INNER_MULTI_QUEUE_OFFSET")]
        named = [(message.property_value("INNER_MULTI_DISPATCH") or "").split(",") for message in listed]
        light = any(is_lmq(name) for names in named for name in names)
        why = "no queue is left, and records list their offsets in queues named %LMQ%…"
    if light:
        yield Inferred("enableLmq", "true", why)
        yield Inferred("enableMultiDispatch", "true", why)
