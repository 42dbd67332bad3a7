"""What the files cannot say about a start, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from recovery.broker.store_folder import QueueKey
from recovery.config.files import DELAYS
from recovery.rules.versions import PROVEN
from recovery.start.restart import Restart

NAMED = 5
"""Queues that a sentence names."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A question that stays open."""

    what: str
    why: str


def unknowns(played: Restart, not_listed: int) -> Iterator[Unknown]:
    """Everything about this start that is not decided; `not_listed` losses were only counted."""
    memory, version = played.memory, played.memory.version
    for each in played.not_played:
        yield Unknown(each.what, each.why)
    if version not in PROVEN:
        proven = ", ".join(map(str, PROVEN))
        yield Unknown(f"whether {version} does exactly this", f"its source was read; recorded starts are of {proven}")
    if any(file.entry is None for file in memory.index.files):
        yield Unknown("names of the index files that are written", "they are the broker's clock at that moment")
    if memory.check.largest_unbounded and played.out_of_heap is None:
        size = memory.check.largest_unbounded
        yield Unknown(
            "whether load() ends with OutOfMemoryError instead",
            f"a damaged record says it has {size} bytes, which {version} allocates: it depends on the broker's heap",
        )
    yield from _about_config(played)
    yield from _about_database(played)
    if memory.settings.timer_rocksdb_enable and version.keeps_messages_in_database:
        why = "with timerRocksDBEnable a start goes on where rocksdbstore is with them, which is not played"
        yield Unknown("which timers are delivered again", why)
    if memory.compacted:
        why = "what dispatch adds to them, and what a pass drops then, is not played: see `rocketlens compaction`"
        yield Unknown("the copies of compacted topics once the broker runs", why)
    for folder, why in memory.evidence.other.items():
        yield Unknown(f"what becomes of {folder}/", why)
    if played.is_left_to_others and memory.version.has_dledger:
        yield from _about_dledger(played)
    if not_listed:
        yield Unknown(f"{not_listed} more losses", "the list ends here; they are counted in `lost_counts`")
    yield from _about_settings(played)


def _about_config(played: Restart) -> Iterator[Unknown]:
    """What the files of config/ leave open."""
    memory, config = played.memory, played.config
    if config is None:
        return
    if not config.has_files:
        where = "the store has no config/" if memory.evidence.config is None else "config/ holds no file of a broker"
        why = (
            f"{where}: a copy of the store may have left it out. A broker that starts without these files knows no "
            "topic, no group and no offset of before: put them back first"
        )
        yield Unknown("what the broker around the store does, and which topics, groups and offsets it has", why)
    for load in config.loads:
        if load.file is DELAYS and load.rows and memory.version.saves_delay_offsets_before_loading:
            why = (
                f"{memory.version} writes {DELAYS.name} without offsets where load() takes more than 10 s, and then "
                "takes that file: keep a copy of it before the start; 5.1.2 and later do not do so"
            )
            yield Unknown("whether all delayed messages in the log are delivered again", why)
        if load.used is load.backup:
            why = f"the broker takes {load.backup.name}, which holds what the file held before it"
            yield Unknown(f"what the last write of config/{load.file.name} changed", why)
        if load.used is None and (config.losses.of(load.file.rows) or load.is_cut_to_nothing):
            why = "no copy of it can be read; only what other files tell of it is listed as lost"
            yield Unknown(f"all that config/{load.file.name} held", why)


def _about_database(played: Restart) -> Iterator[Unknown]:
    """What the database of queues leaves open, and what of it two settings or threads decide."""
    version = played.memory.version
    memory, folder = played.memory, played.memory.evidence.database
    double = memory.settings.rocksdb_cq_double_write_enable
    if double and memory.second_queues is not None:
        gives = "answers pulls; the files give" if memory.files_give_offsets else "answers pulls and gives"
        why = f"this forecast is of the database, which {gives} messages their numbers"
        yield Unknown("the queue files beside the database", why)
    if double and memory.evidence.second_database is not None:
        what = "the database beside the queue files"
        if memory.version.combines_queue_stores:
            why = "this forecast is of the queue files, which give messages their numbers and answer pulls"
            yield Unknown(what, why)
        else:
            why = "the files alone decide this start: it gets what is dispatched from then on, if it opens"
            yield Unknown(what, why)
    if memory.settings.light_queues_in_database(version) and memory.database is None:
        why = "combineCQUseRocksdbForLmq has them in the database beside the queue files, whose units are not played"
        yield Unknown("where queues of light topics end", why)
    if folder is None or memory.database is None:
        return
    if folder.unreadable:
        why = f"parts of it cannot be read: {'; '.join([*dict.fromkeys(folder.unreadable)][:3])}"
        what = "what the queues have, which messages are in none, and what a broker does when it meets the damage"
        yield Unknown(what, why)
    if played.loaded and memory.database.undecided:
        why = (
            "they ended behind the log: one thread of the broker puts units into them again while another one cuts them"
            if version.truncates_database_by_its_limits
            else f"they end behind the log, and {version} cuts those of topics that it knows: config/ does not tell it"
        )
        yield Unknown(f"where {_queues(memory.database.undecided)} end", why)
    if played.loaded and memory.database.left_behind:
        why = f"they end behind the log, and {version} cuts only queues that its topics have: they keep their numbers"
        yield Unknown(f"what a pull of {_queues(memory.database.left_behind)} gets", why)
    if played.loaded and memory.database.refused:
        why = "their first message is not before the log's end: they keep numbers of messages that are gone"
        yield Unknown(f"what a pull of {_queues(memory.database.refused)} gets", why)
    if memory.settings.enable_lmq or memory.settings.enable_multi_dispatch:
        why = "in a database enableLmq alone decides which light queues get units, from 5.3.2 on; it is not played"
        yield Unknown("the light queues", why)


def _queues(keys: list[QueueKey]) -> str:
    names = ", ".join(f"{topic}/{queue_id}" for topic, queue_id in keys[:NAMED])
    return f"{len(keys)} queues ({names}{', …' if len(keys) > NAMED else ''})"


def _about_dledger(played: Restart) -> Iterator[Unknown]:
    """The node alone is played up to the end of load()."""
    memory = played.memory
    yield Unknown(
        "the log's end once a leader is chosen", "a follower cuts its log to the leader's and takes what it has"
    )
    yield Unknown("what is lost", "what this node gives up may come again from another replica")
    why = "messages are dispatched as far as a majority of the replicas has them"
    yield Unknown("where dispatch goes on, and the queues after it", why)
    if not memory.queues_are_known:
        yield Unknown(
            "the queues' ends",
            "they are in a database: what a DLedger node dispatches into it and takes out of it is not played",
        )


def _about_settings(played: Restart) -> Iterator[Unknown]:
    memory, settings = played.memory, played.memory.settings
    for name in settings.unknown_to(memory.version):
        yield Unknown(f"what {name} does", f"{memory.version} does not have this setting")
    if settings.enable_controller_mode:
        yield Unknown("the confirmed offset", "the controller and the other replicas decide it")
    elif memory.evidence.epochs.stops_broker:
        why = f"with enableControllerMode=true it stops at a number that is none: {memory.evidence.epochs.refused[-1]}"
        yield Unknown("whether the broker starts", why)
    elif memory.evidence.epochs.epochs:
        why = "there are epochs: with enableControllerMode=true the controller and the other replicas decide it"
        yield Unknown("how much of the log counts as confirmed, and is dispatched", why)
    if settings.enable_consume_queue_ext and not memory.ext_units_are_known:
        yield Unknown(
            "consumequeue_ext/, and the bytes of queue files that get units",
            f"a unit's tags code is an address there, which bit maps move: {memory.filters.undecided}",
        )
    wrong = [e for e in memory.evidence.index if not e.is_folder and e.size != memory.index.geometry.file_size]
    if wrong:
        yield Unknown(
            "the index",
            f"{len(wrong)} index files do not have the {memory.index.geometry.file_size} bytes that maxHashSlotNum "
            f"{settings.max_hash_slot_num} and maxIndexNum {settings.max_index_num} give; with other values every slot "
            "is misread",
        )
