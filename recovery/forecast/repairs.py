"""Repairs that may save something of a store before it is started, from the least destructive on.

Each is a change of settings or of the listing, applied in memory only; whether it helps is seen by playing it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from operator import itemgetter

from parsers.values.topics import is_lmq
from recovery.broker.store_folder import Entry, Evidence
from recovery.config.start import StoreFailure
from recovery.forecast.config_repairs import config_repairs
from recovery.forecast.outcome import Outcome
from recovery.forecast.repair import Repair
from recovery.forecast.returns import without_folder
from recovery.forecast.stray_files import below, with_names_back, without_strays
from recovery.rules.passing_settings import PassedBy
from recovery.rules.settings import FORMER_NAMES, RENAMED_IN, StoreSettings
from recovery.start.restart import Restart

LIGHT_QUEUES = "combineCQUseRocksdbForLmq"


def repairs(played: Restart, outcome: Outcome) -> Iterator[Repair]:
    """Repairs that fit what this start does, the least destructive first."""
    if played.config is not None:
        yield from config_repairs(played.config, played.memory.evidence)
    if played.memory.evidence.index_obstructed:
        yield _with_index_folder(played.memory.evidence)
    if played.memory.evidence.log_is_dledgers:
        yield from _of_node(played, outcome)
        return
    if not outcome.starts:
        yield from _to_start(played)
        return
    if outcome.lost_messages:
        yield from _to_keep_messages(played)
    if outcome.lost_units:
        yield from _to_dispatch_again(played)
    if outcome.lost_index:
        yield from _to_keep_index(played)


def _with_index_folder(store: Evidence) -> Repair:
    return Repair(
        "move the file `index` out of the store",
        "it is in the place of a folder, so that no index file can be made",
        "nothing: it never was a part of the index",
        files=("index",),
        store=dataclasses.replace(store, index_obstructed=False),
    )


def _of_node(played: Restart, outcome: Outcome) -> Iterator[Repair]:
    """For a DLedger log, which DLedger itself recovers, whether the last exit counts as orderly or not."""
    store = played.memory.evidence
    if outcome.lost_units and store.abort and not store.abort_file.is_folder:
        yield Repair(
            "remove the file `abort` before the start",
            "after a crash this version drops units of messages that it has; DLedger ends the log by its entries alone",
            "nothing: the queues are cut to the log, and no index file is deleted",
            files=("abort",),
            store=dataclasses.replace(store, abort=False),
        )


def _to_start(played: Restart) -> Iterator[Repair]:
    store, settings = played.memory.evidence, played.memory.settings
    yield from _from_queue_files(played)
    yield from _for_light_queues(played)
    yield from _other_sizes(played)
    yield from without_folder(played)
    if played.load_error and played.load_error.passed_by:
        yield _passing(played.load_error.passed_by, played.load_error.evidence)
    if not store.checkpoint_opens:
        yield Repair(
            "move the folder `checkpoint` out of the store",
            "it is in the place of a file",
            "nothing matches: after a crash the whole log is dispatched again",
            files=("checkpoint",),
            store=dataclasses.replace(store, checkpoint=None, checkpoint_opens=True),
        )
    yield from _padded(store, settings)
    yield from with_names_back(store, settings)
    yield from without_strays(store, settings, played.memory.version)
    yield from _without_empty_queue_file(played)
    yield from _without_files_behind_a_gap(store, settings)


def _other_sizes(played: Restart) -> Iterator[Repair]:
    """The sizes that most files have. Up to 4.5.1 a broker.conf knows these settings by other names."""
    store, settings = played.memory.evidence, played.memory.settings
    queue_files = [entry for entries in store.queues.values() for entry in entries]
    wanted = (
        ("mappedFileSizeCommitLog", store.commitlog, settings.mapped_file_size_commit_log),
        ("mappedFileSizeConsumeQueue", queue_files, settings.consume_queue_file_size),
        ("mappedFileSizeTimerLog", _of_one_size(store.timer_log), settings.mapped_file_size_timer_log),
    )
    config = {name: str(size) for name, entries, now in wanted if (size := _common_size(entries)) and size != now}
    former = {} if played.memory.version >= RENAMED_IN else {name: old for old, name in FORMER_NAMES.items()}
    if config:
        yield Repair(
            "start with the file sizes that the files have: "
            + ", ".join(f"{former.get(name, name)}={size}" for name, size in config.items()),
            "; ".join(f"most files of this kind have {size} bytes, not {name}" for name, size in config.items()),
            "nothing",
            config=config,
        )


def _of_one_size(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The files, where there are several of one size: a single one, or one of them, may have been cut short."""
    return entries if len(entries) > 1 and len({entry.size for entry in entries}) == 1 else ()


def _common_size(entries: Sequence[Entry]) -> int | None:
    """The size that most files have."""
    sizes = Counter(entry.size for entry in entries if not entry.is_folder and entry.size)
    return sizes.most_common(1)[0][0] if sizes else None


def _padded(store: Evidence, settings: StoreSettings) -> Iterator[Repair]:
    """A file cut short is given its size again; the bytes that are gone stay gone."""
    log_size, queue_size = settings.mapped_file_size_commit_log, settings.consume_queue_file_size
    short = _cut_short(store.commitlog, log_size)
    short += [entry for entries in store.queues.values() for entry in _cut_short(entries, queue_size)]
    cut = {key: _grow(entries, queue_size) for key, entries in store.queues.items()}
    if not short:
        return
    yield Repair(
        "extend the files that were cut short with zeros to their full size (truncate -s)",
        ", ".join(f"{below(store, entry)} has {entry.size} bytes" for entry in short),
        "what was cut off stays lost; the log or queue ends in the file unless a later file goes on; a message that "
        "was cut in its properties is served without their end",
        files=tuple(below(store, entry) for entry in short),
        store=dataclasses.replace(store, commitlog=_grow(store.commitlog, log_size), queues=cut),
    )


def _cut_short(entries: Sequence[Entry], size: int) -> list[Entry]:
    """Files with less than `size` bytes, where no other file begins within these."""
    named = sorted(((entry.number, entry) for entry in entries if entry.number is not None), key=itemgetter(0))
    ends = zip_longest(named, (number for number, _ in named[1:]))
    return [
        entry
        for (begin, entry), following in ends
        if 0 < entry.size < size and (following is None or following >= begin + size)
    ]


def _grow(entries: Sequence[Entry], size: int) -> tuple[Entry, ...]:
    short = {entry.path for entry in _cut_short(entries, size)}
    return tuple(dataclasses.replace(entry, size=size) if entry.path in short else entry for entry in entries)


def _without_empty_queue_file(played: Restart) -> Iterator[Repair]:
    """5.0.0 to before 5.5.0: a newest queue file without a unit stops the load."""
    store = played.memory.evidence
    empty = [
        (key, entries[-1]) for key, entries in store.queues.items() if entries and not any(entries[-1].bytes()[:20])
    ]
    if empty and played.load_error:
        gone = {key for key, _ in empty}
        yield Repair(
            "move the newest queue files that hold no unit out of the store",
            ", ".join(f"{below(store, entry)} is empty" for _, entry in empty),
            "nothing: dispatch creates them again",
            files=tuple(below(store, entry) for _, entry in empty),
            store=dataclasses.replace(
                store, queues={k: entries[:-1] if k in gone else entries for k, entries in store.queues.items()}
            ),
        )


def _without_files_behind_a_gap(store: Evidence, settings: StoreSettings) -> Iterator[Repair]:
    size = settings.mapped_file_size_commit_log
    numbered = [entry for entry in store.commitlog if entry.number is not None]
    steps = [(behind.number or 0) - (before.number or 0) for before, behind in pairwise(numbered)]
    gap = next((at for at, step in enumerate(steps, 1) if step != size), None)
    if gap is not None:
        yield Repair(
            "move the log files behind the gap out of the store",
            f"after {numbered[gap - 1].name} comes {numbered[gap].name}: dispatch cannot pass the missing file",
            "",
            files=tuple(below(store, entry) for entry in numbered[gap:]),
            store=dataclasses.replace(store, commitlog=tuple(numbered[:gap])),
        )


def _to_keep_messages(played: Restart) -> Iterator[Repair]:
    memory = played.memory
    if memory.log_end_passed_by is not None:
        yield _passing(memory.log_end_passed_by, memory.log_ends_because or "")
    if memory.commitlog.left_out:
        yield from _other_sizes(played)
        yield from _padded(memory.evidence, memory.settings)


def _to_dispatch_again(played: Restart) -> Iterator[Repair]:
    memory, store = played.memory, played.memory.evidence
    why = "messages of the log have no unit in their queue"
    if memory.database is not None:
        yield from _from_queue_files(played)
        yield from _to_fill_database(played, why)
        return
    if memory.version.may_recheck_dispatch_start and not memory.settings.recheck_reput_offset_from_cq:
        yield _setting("recheckReputOffsetFromCq", "true", why, "start() waits until dispatch has caught up")
    if not store.abort:
        yield Repair(
            "create an empty file `abort` before the start",
            f"{why}; after an abnormal exit messages are dispatched again",
            "the newest index file is deleted and built again from where dispatch starts",
            files=("abort",),
            store=dataclasses.replace(store, abort=True),
        )
    yield _rebuild(played, why)


def _from_queue_files(played: Restart) -> Iterator[Repair]:
    """Where a database is to answer, and the queue files beside it give messages their numbers."""
    store, memory = played.memory.evidence, played.memory
    if memory.files_give_offsets:
        config = {"combineCQPreferCQType": "default"}
        if memory.version.needs_database_for_light_queues and not _has_light_queues(played):
            config[LIGHT_QUEUES] = "true"
        yield Repair(
            f"start with {' and '.join(f'{name}={value}' for name, value in config.items())}, so that the queue files "
            "answer",
            "the queue files, which give messages their numbers, have what the database lacks",
            "the database does not get by this what it lacks of messages that are in the files",
            config=config,
            store=dataclasses.replace(store, database=None, second_database=store.database),
        )


def _for_light_queues(played: Restart) -> Iterator[Repair]:
    """Where queues are kept in files and in a database, and the broker's service of light topics does not start so.

    Light queues that the files have may not all be in the database, which alone would have them then.
    """
    if played.config is None or played.config.store_fails is not StoreFailure.LIGHT:
        return
    why = "with queues in files and in a database the service of light topics stops the broker"
    if not _has_light_queues(played):
        yield Repair(
            f"start with {LIGHT_QUEUES}=true from now on",
            why,
            "nothing: there is no queue of a light topic (%LMQ%…) yet, and new ones are kept in the database alone",
            config={LIGHT_QUEUES: "true"},
        )
    yield Repair(
        "start with rocksdbCQDoubleWriteEnable=false, so that the queue files alone are kept",
        why,
        "the database gets no units any more: it has to be filled from the log before it is used again",
        config={"rocksdbCQDoubleWriteEnable": "false"},
        store=dataclasses.replace(played.memory.evidence, database=None, second_database=None),
    )


def _has_light_queues(played: Restart) -> bool:
    return any(is_lmq(topic) for topic, _ in played.memory.evidence.queues)


def _to_fill_database(played: Restart, why: str) -> Iterator[Repair]:
    """After a crash a database is filled from the newest file on that it has noted, from 0 on an empty one.

    recheckReputOffsetFromCq is no way: where it begins is not decided, see `not_played`.
    """
    store = played.memory.evidence
    if not store.abort:
        config = _all_files_matched(played)
        also = "" if not config else f", and set {', '.join(f'{name}={value}' for name, value in config.items())}"
        yield Repair(
            f"create an empty file `abort` before the start{also}",
            f"{why}; after an abnormal exit messages are dispatched again, from the first file that the database lacks",
            "index files with entries newer than the checkpoint's index time are deleted and built again",
            config=config,
            files=("abort",),
            store=dataclasses.replace(store, abort=True),
        )


def _to_keep_index(played: Restart) -> Iterator[Repair]:
    memory, why = played.memory, "keys of messages are in no index file"
    if memory.evidence.abort and not memory.settings.message_index_safe:
        yield _setting("messageIndexSafe", "true", why, "recovery reads from where the index was last known complete")
    yield _rebuild(played, why)


def _rebuild(played: Restart, why: str) -> Repair:
    """Force a dispatch of the whole log: every version starts at the oldest file when nothing matches."""
    memory = played.memory
    return Repair(
        "create an empty file `abort` and move `checkpoint` away, so that the whole log is dispatched again",
        f"{why}; no file matches a checkpoint that is not there",
        "the whole log is read; all index files are deleted and built again",
        config=_all_files_matched(played),
        files=("abort", "checkpoint"),
        store=dataclasses.replace(memory.evidence, abort=True, checkpoint=None, checkpoint_opens=True),
    )


def _all_files_matched(played: Restart) -> dict[str, str]:
    """The setting without which the search for a file to recover from ends before the oldest file, where it does."""
    memory = played.memory
    files = len(memory.evidence.commitlog)
    is_limited = memory.version.limits_matched_files and files > memory.settings.commit_log_recover_max_num
    return {"commitLogRecoverMaxNum": str(files)} if is_limited else {}


def _passing(passed_by: PassedBy, evidence: str) -> Repair:
    return _setting(passed_by.setting, passed_by.to, evidence, passed_by.costs)


def _setting(name: str, value: str, evidence: str, costs: str) -> Repair:
    return Repair(f"start once with {name}={value}", evidence, costs, config={name: value})
