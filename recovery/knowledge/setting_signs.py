"""The settings of a store's broker that leave traces in its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from parsers.checkpoints.checkpoint import read_checkpoint
from parsers.commitlog.record.tags import DelayLevels
from parsers.config.offsets import FILES as OFFSET_FILES
from parsers.consumequeue.batch import BATCH_UNIT
from parsers.consumequeue.ext import ExtUnit, decode_ext_unit
from parsers.consumequeue.layout import ext_offset, tags_code_kind
from parsers.damage.errors import Damage, StoreFormatError, unheard
from parsers.evidence.mapped import map_file
from parsers.index.open import open_index
from parsers.queues.queue import Queue
from parsers.queues.store_queues import StoreQueues
from parsers.rocksdb.layout import HALVES_TO, INDEXED_TO, TIMERS_TAKEN
from parsers.rocksdb.message_records import read_notes
from parsers.rocksdb.tables import SECOND_FORM, SINGLE_FORM
from parsers.store.places import DATABASE_APART, MESSAGE_DATABASE
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from parsers.timer.check import read_timercheck
from parsers.timer.log import TIMER_UNIT
from parsers.values.java import LONG_MIN
from parsers.values.topics import DATABASE_HALF_TOPIC, SCHEDULE_TOPIC, is_lmq
from recovery.knowledge.signs import SAMPLED_UNITS, Inferred, Sample, is_database
from recovery.rules.settings import StoreSettings
from recovery.scan.log_access import LogAccess

STORE_TYPE = "storeType"
ALL_OFFSETS, LIGHT_OFFSETS = OFFSET_FILES
INDEX_SETTING, HALVES_SETTING = "indexRocksDBEnable", "transRocksDBEnable"


def settings_told(store: Store) -> tuple[StoreSettings, list[Inferred]]:
    """The settings that leave traces; all others at the broker's defaults."""
    with StoreQueues(store, damage=unheard) as queues:
        facts = list(_traces(store, queues))
    return StoreSettings.from_config([(fact.what, fact.value) for fact in facts]), facts


def _traces(store: Store, queues: StoreQueues) -> Iterator[Inferred]:
    holds = queues.holders() == [store.queue_database]
    database = None if store.queue_database is None else store.queue_database.path.name
    if store.queue_database is not None and any(file.size for files in store.queues.values() for file in files):
        newer = "defaultRocksDB" if holds else "default"
        why = "there are queue files and a RocksDB database of queues: say storeType, which alone decides between them"
        yield Inferred(STORE_TYPE, newer, f"assumed: {why}", False)
    elif holds:
        yield Inferred(STORE_TYPE, "defaultRocksDB", f"{database}/ is a RocksDB database")
    if database == DATABASE_APART:
        yield Inferred("useSeparateStorePathForRocksdbCQ", "true", f"{database}/ is a RocksDB database")
    if not holds:
        queue_files = [file for files in store.queues.values() for file in files]
        yield from _file_size("mappedFileSizeConsumeQueue", queue_files)
    if is_database(store, SINGLE_FORM):
        why = f"config/{SINGLE_FORM}/ is a RocksDB database"
        yield Inferred("useSingleRocksDBForAllConfigs", "true", why)
    if is_database(store, SECOND_FORM):
        yield Inferred("configManagerVersion", "v2", f"config/{SECOND_FORM}/ is a RocksDB database")
    yield from _message_database(store)
    batch_files = [file for files in store.batch_queues.values() for file in files]
    if store.ext_queues:
        yield Inferred("enableConsumeQueueExt", "true", "consumequeue_ext/ has files")
        ext_files = [file for files in store.ext_queues.values() for file in files]
        yield from _file_size("mappedFileSizeConsumeQueueExt", ext_files)
        if _has_bit_maps(store, queues):
            yield Inferred("enableCalcFilterBitMap", "true", "units in consumequeue_ext/ have bit maps")
    yield from _file_size("mappedFileSizeCommitLog", store.commitlog)
    yield from _file_size("mapperFileSizeBatchConsumeQueue", batch_files)
    yield from _timer_log_size(store)
    if store.compaction_queues:
        yield from _compaction_sizes(store)
    yield from _geometry(store)
    yield from _delay_levels(store, queues)
    yield from _multi_dispatch(store, queues)


def _message_database(store: Store) -> Iterator[Inferred]:
    """What rocksdbstore tells: a broker that reads no index files has none, and flushed none. One that cannot be read
    tells nothing, which is said."""
    if store.message_database is None:
        return
    unread: list[Damage] = []
    notes = read_notes(store.message_database, damage=unread.append)
    for setting, note in ((INDEX_SETTING, INDEXED_TO), (HALVES_SETTING, HALVES_TO)):
        if unread and note not in notes:
            why = f"assumed: {MESSAGE_DATABASE}/, which would show it, cannot be read: {unread[0].reason}"
            yield Inferred(setting, "false", why, False)
    if HALVES_TO in notes:
        yield Inferred(HALVES_SETTING, "true", f"{MESSAGE_DATABASE}/ has taken in half messages")
    if TIMERS_TAKEN in notes:
        yield Inferred("timerRocksDBEnable", "true", f"{MESSAGE_DATABASE}/ has taken in timers")
    if (DATABASE_HALF_TOPIC, 0) in store.queues:
        yield Inferred("transWriteOriginTransHalfEnable", "false", f"there is a queue of {DATABASE_HALF_TOPIC}")
    if INDEXED_TO not in notes:
        return
    yield Inferred(INDEX_SETTING, "true", f"{MESSAGE_DATABASE}/ has an index")
    stored = None if store.checkpoint is None else read_checkpoint(store.checkpoint, damage=unheard)
    if not store.index and stored is not None and stored.index_msg_timestamp == 0:
        why = f"assumed: {MESSAGE_DATABASE}/ has an index, and no index file was ever flushed or is there"
        yield Inferred("indexFileWriteEnable", "false", why, False)
        yield Inferred("indexFileReadEnable", "false", why, False)


def _has_bit_maps(store: Store, queues: StoreQueues) -> bool:
    """Whether a unit at the head of a queue's newest ext file has one, or one that a sample of the queue leads to."""
    return any(unit.bitmap for key, files in store.ext_queues.items() for unit in _ext_units(files, queues.get(key)))


def _ext_units(files: Sequence[StoreFile], queue: Queue | None) -> Iterator[ExtUnit]:
    at, newest = 0, max(files, key=lambda file: file.base_offset or 0)
    for _ in range(SAMPLED_UNITS):
        unit = _ext_unit([newest], LONG_MIN + (newest.base_offset or 0) + at)
        if unit is None:
            break
        yield unit
        at += unit.size
    found = (_ext_unit(files, unit.tags_code) for unit in (queue.sample(SAMPLED_UNITS) if queue else ()))
    yield from (unit for unit in found if unit is not None)


def usual_size(files: Iterable[StoreFile]) -> int | None:
    """The size that most files have, of those at whose multiples all files start, if there are any; None without a file
    that has a byte."""
    listed = [file for file in files if file.size > 0]
    sizes = Counter(file.size for file in listed)
    fitting = [size for size in sizes if all((file.base_offset or 0) % size == 0 for file in listed)]
    return max(fitting or sizes, key=lambda size: (sizes[size], size), default=None)


def _file_size(name: str, files: Sequence[StoreFile]) -> Iterator[Inferred]:
    size = usual_size(files)
    if size is not None:
        listed = [file.size for file in files if file.size > 0]
        yield Inferred(name, str(size), f"{listed.count(size)} of {len(listed)} files have this size")
    else:
        yield Inferred(
            name, str(StoreSettings().as_config()[name]), "assumed: the broker's default, no file shows it", False
        )


def _timer_log_size(store: Store) -> Iterator[Inferred]:
    """The size of the timer log's files. A single one that was cut does not tell it: where it is written to its last
    byte, timercheck says whether it went on."""
    name, files = "mappedFileSizeTimerLog", [file for file in store.timer if file.kind == "timerlog" and file.size]
    if len(files) > 1:
        yield from _file_size(name, files)
        return
    for file in files:
        start = file.base_offset or 0
        flushed = max((check["last_flush_position"] for check in _timer_checks(store)), default=0)
        if flushed > start + file.size and any(map_file(file.path)[-TIMER_UNIT.size :]):
            why = f"its one file ends at {start + file.size}, and timercheck says that {flushed} is flushed"
            yield Inferred(name, str(StoreSettings().mapped_file_size_timer_log), f"assumed: the default; {why}", False)
        else:
            yield from _file_size(name, files)


def _timer_checks(store: Store) -> Iterator[dict[str, int]]:
    for file in store.timer:
        check = read_timercheck(file, damage=unheard) if file.kind == "timercheck" else None
        if check is not None:
            yield check


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
    opened = [found for found in open_index(store.index, damage=unheard) if found.geometry is not None]
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
    scheduled = {key: queue for key, queue in queues.items() if key[0] == SCHEDULE_TOPIC}
    log = LogAccess(store.commitlog if scheduled else ())
    seen = {
        queue_id + 1: delay
        for (topic, queue_id), queue in scheduled.items()
        if (delay := _delay_of_queue(log, store.ext_queues.get((topic, queue_id), []), queue))
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


def _delay_of_queue(log: LogAccess, ext: Sequence[StoreFile], queue: Queue) -> int | None:
    delays: Counter[int] = Counter()
    for unit in queue.sample(SAMPLED_UNITS):
        stored = _store_time(log, unit.physical_offset, unit.msg_size)
        if stored is not None:
            delays[_delivery_time(ext, unit.tags_code) - stored] += 1
    likely = [delay for delay, _ in delays.most_common(1) if delay > 0 and delay % 1000 == 0]
    return likely[0] if likely else None


def _delivery_time(ext: Sequence[StoreFile], tags_code: int) -> int:
    """The tags code, or that of the ext unit which it is the address of, where there is one."""
    unit = _ext_unit(ext, tags_code)
    return tags_code if unit is None else unit.tags_code


def _ext_unit(ext: Sequence[StoreFile], tags_code: int) -> ExtUnit | None:
    """The unit that a tags code is the address of; None where it is none, or nothing well-formed stands there."""
    if tags_code_kind(SCHEDULE_TOPIC, tags_code) != "ext_address":
        return None
    offset = ext_offset(tags_code)
    for file in ext:
        at = offset - (file.base_offset or 0)
        if 0 <= at < file.size:
            try:
                return decode_ext_unit(map_file(file.path), at)
            except StoreFormatError:
                return None
    return None


def _store_time(log: LogAccess, physical_offset: int, msg_size: int) -> int | None:
    """Of the delayed message that a unit leads to; None where it leads to none."""
    message = log.message(physical_offset) if msg_size > 0 else None
    return message.store_timestamp_ms if message and message.topic == SCHEDULE_TOPIC else None


def _multi_dispatch(store: Store, queues: StoreQueues) -> Iterator[Inferred]:
    """Light queues show in their folders. Where a store has no queue at all the log tells: a broker lists the offsets
    of further queues in a record only if it dispatches to them (CommitLog, LmqDispatch @4.9.3 … 5.5.1)."""
    why = "consumequeue/ has queues named %LMQ%…"
    light = any(is_lmq(topic) for topic, _ in queues)
    if not queues:
        listed = [message for message in Sample(store) if message.property_value("INNER_MULTI_QUEUE_OFFSET")]
        named = [(message.property_value("INNER_MULTI_DISPATCH") or "").split(",") for message in listed]
        light = any(is_lmq(name) for names in named for name in names)
        why = "no queue is left, and records list their offsets in queues named %LMQ%…"
    if light:
        yield Inferred("enableLmq", "true", why)
        yield Inferred("enableMultiDispatch", "true", why)
    elif _has_light_offsets(store):
        why = f"config/{LIGHT_OFFSETS} is there, which a broker has in place of {ALL_OFFSETS}, and that is not"
        yield Inferred("enableLmq", "true", why)


def _has_light_offsets(store: Store) -> bool:
    """LmqConsumerOffsetManager#configFilePath @4.9.3, 5.5.0: it writes one of the two files, and leaves the other."""
    names = {file.path.name.removesuffix(".bak") for file in store.config}
    return LIGHT_OFFSETS in names and ALL_OFFSETS not in names
