"""The version of a store's broker, within what its files tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import numpy as np

from parsers.commitlog.record.layout import MAGIC_V2, SYS_FLAG_TRANSACTION
from parsers.commitlog.record.message import Message
from parsers.config.topics import read_topics
from parsers.damage.errors import StoreFormatError, unheard
from parsers.evidence.mapped import map_file
from parsers.index.find import IndexQuery
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT, build_key
from parsers.index.open import OpenIndex, open_index
from parsers.rocksdb.tables import SECOND_FORM, SINGLE_FORM
from parsers.store.places import DATABASE_APART, MESSAGE_DATABASE, POP_DATABASE
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from parsers.values.java import index_key_hash
from parsers.values.topics import TIMER_TOPIC, TRANSACTION_TOPIC
from recovery.knowledge.signs import SAMPLED_UNITS, Sample, is_database
from recovery.rules.dispatch import COMMIT, PREPARED
from recovery.rules.versions import PROVEN, BrokerVersion
from recovery.scan.log_access import LogAccess

CANDIDATES = tuple(
    map(BrokerVersion.parse, ("5.3.3", "5.5.1", "4.9.8", "5.0.0", "5.1.4", "4.9.0", "4.7.0", "4.2.0", "3.2.6"))
)
"""Tried in this order when a version has to be taken: the first one that no evidence excludes."""


NEWEST_RECORDS = 9
"""So many tell how the broker ends properties: older ones may be of another version, and one alone may be damaged."""


CHECKPOINT_SIGNS = (
    (40, BrokerVersion(5, 5, 0), "logicsPhysicalOffset"),
    (32, BrokerVersion(5, 1, 1), "confirmPhyOffset"),
)
ASKED_FILES, ASKED_MESSAGES, NEWEST_ENTRIES = 4, 32, 64


def _has_queue(topic: str) -> Callable[[Store], bool]:
    return lambda store: any(name == topic for name, _ in store.queues)


PLACE_SIGNS: tuple[tuple[BrokerVersion, str, Callable[[Store], bool]], ...] = (
    (BrokerVersion(4, 3, 0), f"a queue of {TRANSACTION_TOPIC}", _has_queue(TRANSACTION_TOPIC)),
    (BrokerVersion(4, 5, 0), "a DLedger log", lambda store: store.log_is_dledgers),
    (
        BrokerVersion(5, 0, 0),
        "abort.bak or batchconsumequeue/",
        lambda store: bool(store.batch_queues) or any(marker.path.name == "abort.bak" for marker in store.markers),
    ),
    (
        BrokerVersion(5, 0, 0),
        f"a timer log or a queue of {TIMER_TOPIC}",
        lambda store: any(file.kind == "timerlog" for file in store.timer) or _has_queue(TIMER_TOPIC)(store),
    ),
    (BrokerVersion(5, 0, 0), "epochFileCheckpoint", lambda store: bool(store.epochs)),
    (BrokerVersion(5, 1, 0), "compaction/", lambda store: bool(store.compaction_logs)),
    (BrokerVersion(5, 3, 2), f"{POP_DATABASE}/", lambda store: store.pop_database is not None),
    (BrokerVersion(5, 4, 0), f"{MESSAGE_DATABASE}/", lambda store: store.message_database is not None),
)
"""What no broker before a version writes: that version, the sign, whether a store has it."""


def version_told(store: Store, sample: Sample) -> tuple[BrokerVersion, tuple[BrokerVersion, ...], str]:
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


def _bounds(store: Store, sample: Sample) -> Iterator[tuple[BrokerVersion, BrokerVersion, str]]:
    """(first version possible, first version impossible again, the evidence).

    Where the second is the earlier one, the versions between them are impossible.
    """
    if sample.has_magic(MAGIC_V2):
        yield BrokerVersion(5, 1, 0), NEVER, "the log has V2 records"
    newest = islice((message for message in reversed(sample) if message.properties_size > 0), NEWEST_RECORDS)
    ends = Counter(message.properties_stored.endswith(b"\x02") for message in newest)
    if ends[False] > ends[True]:
        yield BrokerVersion(4, 9, 1), BrokerVersion(5, 2, 0), "properties have no separator at their end"
    elif ends:
        yield BrokerVersion(5, 2, 0), BrokerVersion(4, 9, 1), "properties end in a separator"
    tagged = index_holds_tags(store, sample)
    if tagged is not None:
        since = BrokerVersion(5, 4, 0)
        yield (since, NEVER, "the index holds tags") if tagged else (EVER, since, "the index holds no tags")
    topics = [topic for _, topic in read_topics(store.config, damage=unheard)]
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
    yield from ((since, NEVER, f"{sign} is there") for since, sign, is_there in PLACE_SIGNS if is_there(store))
    if store.queue_database is not None:
        folder = store.queue_database.path.name
        since = BrokerVersion(5, 5, 0) if folder == DATABASE_APART else BrokerVersion(5, 2, 0)
        yield since, NEVER, f"{folder}/ is a RocksDB database"
    if is_database(store, SECOND_FORM):
        yield BrokerVersion(5, 3, 2), NEVER, f"config/{SECOND_FORM}/ is a RocksDB database"
    if is_database(store, SINGLE_FORM):
        yield BrokerVersion(5, 4, 0), NEVER, f"config/{SINGLE_FORM}/ is a RocksDB database"


def _index_counts_puts(store: Store) -> bool | None:
    """Whether the header of an index file counts the entries or the slots that they use; None where nothing tells."""
    for file in open_index(store.index[:ASKED_FILES], damage=unheard):
        if file.geometry is None or file.entries < 2:
            continue  # with an entry all slots are there, too
        slots = file.data[INDEX_HEADER.size : file.geometry.entries_at].view(INDEX_SLOT.dtype)
        used, counted = np.count_nonzero(slots), file.header["hash_slot_count"]
        if used < file.entries and counted in (used, file.entries):
            return bool(counted == file.entries)
    return None


def _old_bounds(store: Store, sample: Sample) -> Iterator[tuple[BrokerVersion, BrokerVersion, str]]:
    """What tells brokers before 4.7.1 from one another; a single message tells nothing, since it may be damaged."""
    transactions = Counter(message.sys_flag & SYS_FLAG_TRANSACTION for message in sample)
    if transactions[PREPARED] > 1:
        yield EVER, BrokerVersion(4, 3, 0), "half messages are in the log under their own topics"
    commits = [message for message in sample if message.sys_flag & SYS_FLAG_TRANSACTION == COMMIT]
    keyed = [message for message in commits if (message.property_value("KEYS") or "").strip()][:SAMPLED_UNITS]
    queries = [IndexQuery([file], damage=unheard) for file in store.index[:ASKED_FILES]]
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


def index_holds_tags(store: Store, sample: Iterable[Message]) -> bool | None:
    """Whether a message that the index knows is there by its tag too; None when nothing tells.

    The oldest are asked, of `sample` (in log order), and the newest that the index has: a broker that was brought to
    5.4.0 or later indexes tags from then on only. A single message without its tag tells nothing: it may be damaged.
    """
    if not store.index:
        return None
    seen = [*islice(_indexed_by_tag(sample, store), ASKED_MESSAGES), *_newest_by_tag(store)]
    without = {physical_offset for physical_offset, by_tag in seen if not by_tag}
    if any(by_tag for _, by_tag in seen):
        return True
    return False if len(without) > 1 else None


def _indexed_by_tag(sample: Iterable[Message], store: Store) -> Iterator[tuple[int, bool]]:
    """Each message with a tag that the index knows by UNIQ_KEY, and whether one of its time is there by the tag too."""
    queries = [IndexQuery([file], damage=unheard) for file in store.index[:ASKED_FILES]]
    for message in sample:
        tags, unique_id = message.property_value("TAGS"), message.property_value("UNIQ_KEY")
        if not tags or not unique_id:
            continue
        at = message.store_timestamp_ms
        window = {"begin_ms": at - 2000, "end_ms": at + 2000, "max_num": 64}
        for query in queries:
            known = query.find(message.topic, unique_id, **window)
            if any(hit.physical_offset == message.physical_offset for hit in known):
                yield message.physical_offset, bool(query.find(message.topic, f"T#{tags}", **window))


def _newest_by_tag(store: Store) -> list[tuple[int, bool]]:
    """Each message with a tag that the newest entries are of, and whether one of them is its tag's.

    Entries at the end may be of messages that the log has lost: the search goes back in growing steps.
    """
    log = LogAccess(store.commitlog)
    for file in reversed([file for file in open_index(store.index, damage=unheard) if file.entries]):
        last, step = file.entries, NEWEST_ENTRIES
        while last > 0:
            seen = list(_by_tag(log, file, max(1, last - NEWEST_ENTRIES + 1), last))
            if seen:
                return seen
            last, step = last - step, 2 * step
    return []


def _by_tag(log: LogAccess, file: OpenIndex, first: int, last: int) -> Iterator[tuple[int, bool]]:
    """Each message with a tag that the entries `first` to `last` are of, and whether one of them is its tag's."""
    view = INDEX_ENTRY.array(file.data.data, at=file.entry_at(first), count=last - first + 1)
    for place in np.unique(view["physical_offset"])[1:-1].tolist():  # entries of those at the ends may lie outside
        message = log.message(place)
        tags = message and message.property_value("TAGS")
        if message and tags:
            own = view["key_hash"][view["physical_offset"] == place]
            yield place, index_key_hash(build_key(message.topic, f"T#{tags}")) in own.tolist()
