"""A damaged store's findings against its edits: is every edit inside a reported range, and nothing reported outside?

The bytes that differ from the base store are the edits; a byte that was rewritten with its old value is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from parsers.checkpoint import CHECKPOINT
from parsers.commitlog.message import Message, decode_message
from parsers.commitlog.read import read_commitlog
from parsers.consumequeue.ext import CQ_EXT_UNIT
from parsers.consumequeue.layout import CQ_UNIT, MAX_EXT_ADDRESS
from parsers.errors import StoreFormatError
from parsers.index.layout import INDEX_ENTRY
from parsers.index.open import open_index
from parsers.java import LONG_MIN
from parsers.store import NotAStore, classify
from parsers.topics import SCHEDULE_TOPIC
from recovery.rules.versions import BrokerVersion
from recovery.verify.findings.finding import Finding, Place
from recovery.verify.settle.index_entries import read_places
from recovery.verify.verify import Verification, verify
from tests.support.bit_flips import field_of_each_byte
from tests.support.log_folders import is_numbered_log_file, is_of_log, log_files, log_setting
from tests.support.opened import opened
from tests.support.recovery_cases import Case, CaseSet

MARKERS = ("abort", "abort.bak", "lock")
NEIGHBOURHOOD = 64
ONE_CHANGE = 8
"""Differing bytes so near each other are one change: the equal ones between them are so by chance."""
NOTHING_LEFT = Verification((), (), ())
EXPLAINED_EDITS = {
    "commitlog": "unwritten",
    "consumequeue": "not dispatched yet",
    "checkpoint": "checkpoint not set yet",
}
"""Folder or file -> the one explained state that may answer an edit there, which then left zeros only."""
KNOWN_TO_NOBODY = {
    "flag",
    "born_timestamp_ms",
    "born_host",
    "store_host",
    "reconsume_times",
    "prepared_transaction_offset",
}
"""Fields of a message that have no CRC and no second place in the store (docs/damage.md)."""
KNOWN_TO_THE_UNIT = {"queue_id", "queue_offset"}
KNOWN_TO_THE_KEY = {"key_hash", "physical_offset", "time_diff_s"}
"""Fields of an index entry that only the keys of its message can prove."""
UNDECIDED = "log_begins_late"
"""Earned where the files are too small to tell that a cleaner deleted the log's first ones."""
LEFT_BY_RECOVERY = ("index_keys_missing", "not_dispatched", "queue_numbers_restarted")
"""Kinds that a start after a crash leaves: the index of older files is gone for good (IndexService#load), and 5.0.0 to
5.3.1, and 5.3.2 and later by one message, do not dispatch again what the queues lack. A queue of a deleted topic that
has got no new message has its former ones again, the others not."""
FROM_THE_CRASH = ("not_dispatched_yet", "index_keys_missing", "queue_missing")
"""Kinds that a crashed store earns once `abort` or all queues are taken away: nothing then shows how far it came."""
OF_A_FORMER_LIFE = ("not_dispatched", "queue_missing")
"""Kinds of messages of a deleted topic, once the messages are gone that show that it was created again."""
FORMER_LIVES = ("former life of a topic", "deleted topic")

UNFORCED_MS = 15_000
"""A log is forced to disk every 10 s at least; what was dispatched since may be lost to the log."""
CHECKPOINT_INTERVAL_MS = 65_000
"""The checkpoint is written every 60 s at least."""
TIMES_SET, INDEX_TIME = 3, 2
"""The checkpoint begins with so many times."""

Files = dict[str, bytes]


@dataclass(frozen=True)
class Change:
    file: str
    start: int
    end: int
    what: Literal["new", "gone", "size", "bytes"]


@dataclass
class Verdict:
    """One case: edits inside findings, inside explained states, without a trace, none of these; findings that no edit
    touches."""

    name: str
    damage_class: str
    kinds: list[str] = field(default_factory=list)
    found: int = 0
    explained: int = 0
    traceless: int = 0
    missed: list[Change] = field(default_factory=list)
    outside: list[Finding] = field(default_factory=list)


def judge_case(cases: CaseSet, name: str) -> Verdict:
    case = cases.case(name)
    with cases.built(case) as root:
        base = cases.unpacked / case["base"]
        verification = _verified(root, base)
        changes = list(changes_between(base, root))
        verdict = Verdict(name, case["damageClass"], [found.kind for found in verification.findings])
        found = [place for finding in verification.findings for place in finding.places]
        for change in changes:
            explained = _explained(change, verification)
            if covered(change, found):
                verdict.found += 1
            elif covered(change, found + explained) and (
                _is_zero(change, root, found) or (change.what == "gone" and covered(change, explained))
            ):
                verdict.explained += 1
            elif _is_not_compared(change, verification) or _left_no_trace(change, base, root, found + explained):
                verdict.traceless += 1
            else:
                verdict.missed.append(change)
    hidden = _hides_the_crash(case)
    from_the_crash = _not_reached_from(cases, case["base"]) if hidden else None
    for finding in verification.findings:
        excused = (
            from_the_crash is not None
            and finding.kind in FROM_THE_CRASH
            and (finding.span.physical_offset or 0) >= from_the_crash
        )
        excused |= hidden and finding in _earned_without_abort(cases, case["base"])
        excused |= finding.kind == UNDECIDED and _begins_late(base)
        excused |= finding.kind in LEFT_BY_RECOVERY and _is_of(base, finding)
        excused |= finding.kind in OF_A_FORMER_LIFE and _is_of_former_life(base, finding) and _damages_log(changes)
        if not excused and not touches(finding, changes):
            verdict.outside.append(finding)
    return verdict


def _begins_late(root: Path) -> bool:
    """The first files of the log are not there."""
    bases = [int(path.name) for path in log_files(root) if path.name.isdigit()]
    return min(bases, default=0) > 0


def _is_of(base: Path, finding: Finding) -> bool:
    """The undamaged base has the finding: a broker started it after a crash, and then went on."""
    start, end = finding.span.physical_offset or 0, finding.span.end_physical_offset or 0
    own = [one.span for one in _earned(base) if one.kind == finding.kind]
    return any((one.physical_offset or 0) <= start and end <= (one.end_physical_offset or 0) for one in own)


def _is_of_former_life(base: Path, finding: Finding) -> bool:
    """The topic was deleted and created again, which the base shows by messages that the edits took."""
    start, end = finding.span.physical_offset or 0, finding.span.end_physical_offset or 0
    former = [state.span for state in _judged_once(base).explained if state.what in FORMER_LIVES]
    return any(
        life.topic == finding.span.topic
        and (life.physical_offset or 0) <= start
        and end <= (life.end_physical_offset or 0)
        for life in former
    )


def _damages_log(changes: Sequence[Change]) -> bool:
    return any(is_of_log(change.file) for change in changes)


@cache
def _judged_once(base: Path) -> Verification:
    return _verified(base, base)


def _earned(base: Path) -> tuple[Finding, ...]:
    return _judged_once(base).findings


def _not_reached_from(cases: CaseSet, base: str) -> int | None:
    """The first message that the undamaged base's dispatch had not reached, told once `abort` is taken away."""
    earned = [found for found in _earned_without_abort(cases, base) if found.kind in FROM_THE_CRASH]
    return min((found.span.physical_offset or 0 for found in earned), default=None)


@cache
def _earned_without_abort(cases: CaseSet, base: str) -> tuple[Finding, ...]:
    """What the undamaged base earns once `abort` is taken away."""
    with cases.built({"base": base, "edits": [{"op": "delete", "path": "abort"}]}) as root:
        return _verified(root, cases.unpacked / base).findings


def _explained(change: Change, verification: Verification) -> list[Place]:
    """Places of the states that may answer this change."""
    what = EXPLAINED_EDITS.get("commitlog" if is_of_log(change.file) else change.file.partition("/")[0])
    return [place for state in verification.explained if state.what == what for place in state.places]


def _is_not_compared(change: Change, verification: Verification) -> bool:
    """The store's queues are a RocksDB's, as far as can be told: those in files are not looked at, and it says so."""
    said = any(state.what == "not compared" for state in verification.explained)
    return said and change.file.startswith(("consumequeue/", "index/"))


def _is_zero(change: Change, root: Path, reported: Sequence[Place]) -> bool:
    """Outside of what is reported, the change left nothing but zeros."""
    if change.what == "gone":
        return False
    left = bytearray((root / change.file).read_bytes())
    for place in reported:
        if place.file == change.file:
            end = min(len(left), place.file_pos + place.length)
            left[place.file_pos : end] = bytes(max(0, end - place.file_pos))
    return not any(left[change.start : change.end])


def _verified(root: Path, base: Path) -> Verification:
    """The log lies where the undamaged base has it."""
    try:
        return verify(*opened(root, config=log_setting(base)))
    except NotAStore:
        return NOTHING_LEFT


def _hides_the_crash(case: Case) -> bool:
    return any(edit["op"] == "delete" and edit["path"] in ("abort", "consumequeue") for edit in case["edits"])


def changes_between(base: Path, root: Path) -> Iterable[Change]:
    """What differs, neighbouring bytes together; markers and modification times are not looked at."""
    before, after = _files_once(base), _files(root)
    for name in sorted(name for name in before.keys() | after.keys() if name.partition("/")[0] not in MARKERS):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            present = new if old is None else old
            yield Change(name, 0, max(1, len(present or b"")), "new" if old is None else "gone")
        elif old != new:
            yield from _byte_changes(name, old, new)


def _files(root: Path) -> Files:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@cache
def _files_once(root: Path) -> Files:
    return _files(root)


def _byte_changes(name: str, old: bytes, new: bytes) -> Iterable[Change]:
    common = min(len(old), len(new))
    differs = np.flatnonzero(np.frombuffer(old[:common], np.uint8) != np.frombuffer(new[:common], np.uint8))
    for run in np.split(differs, np.flatnonzero(np.diff(differs) > ONE_CHANGE) + 1):
        if len(run):
            yield Change(name, int(run[0]), int(run[-1]) + 1, "bytes")
    if len(old) != len(new):
        yield Change(name, common, max(len(old), len(new)), "size")


def covered(change: Change, places: Sequence[Place]) -> bool:
    """The change lies inside the places taken together; a place of no length is a whole file or folder."""
    inside = []
    for place in places:
        whole = place.length == 0 and (change.file == place.file or change.file.startswith(f"{place.file}/"))
        if whole or (change.what == "gone" and change.file.startswith(f"{place.file}/")):
            return True
        if place.file == change.file:
            if change.what != "bytes" and place.file_pos <= change.start:
                return True
            inside.append((place.file_pos, place.file_pos + place.length))
    at = change.start
    for start, end in sorted(inside):
        at = end if start <= at < end else at
    return at >= change.end


def touches(finding: Finding, changes: Sequence[Change]) -> bool:
    """The finding is about bytes that an edit changed, or right beside them, or about a message whose record it was."""
    return any(_near(place, change) for place in finding.places for change in changes) or any(
        _takes(change, finding.span.physical_offset) for change in changes
    )


def _takes(change: Change, physical_offset: int | None) -> bool:
    name = Path(change.file).name
    if not is_of_log(change.file) or not name.isdigit() or physical_offset is None:
        return False
    return change.start <= physical_offset - int(name) < change.end


def _near(place: Place, change: Change) -> bool:
    if place.file != change.file:
        return change.file.startswith(f"{place.file}/") or place.file.startswith(f"{change.file}/")
    end = place.file_pos + place.length
    return place.length == 0 or (place.file_pos < change.end + NEIGHBOURHOOD and change.start < end + NEIGHBOURHOOD)


def _left_no_trace(change: Change, base: Path, root: Path, places: Sequence[Place]) -> bool:
    """The edit cannot be told from the store any more: what is left is a store that a broker could have left.

    The whole folder config/ gone. Log and queues gone, and nothing else left to ask; the log, and with it a queue or an
    index file. The confirmPhyOffset or logicsPhysicalOffset set to another offset of the log, or to a negative one,
    which is none yet; any masterFlushedOffset; a time set to another one of the log's, or to one that a cleaned log may
    have had, or, of a broker that ended without shutting down, the queues' or the index's to one of messages that a
    loss of power took. Fields of a message that nothing else in the store knows of. A unit at the end of its queue
    zeroed whose record the same damage took. A whole index file of a crashed broker zeroed: its messages are gone or
    were not dispatched yet. A log file in another of the log's folders than it was in. Ext units
    that no unit leads to. A log file without a record
    taken away, or a queue file without a unit of a message that is left; one without a unit added behind a full one, or
    one with units of expired messages only: a cleaner keeps the last file of a queue. Units of expired messages changed
    into others of expired messages, whose records nobody has. The only index file some unwritten entries shorter: no
    file is left to tell how many entries one has.
    """
    left = _files(root)
    if change.file.startswith("config/"):
        return change.what == "gone" and not any(name.startswith("config/") for name in left)
    has_log = any(map(is_of_log, left))
    if not has_log and not any(name.startswith("consumequeue/") for name in left):
        return change.what in ("gone", "new")
    if change.file.startswith(("index/", "consumequeue/")) and not has_log:
        return change.what == "gone" or _never_reached_the_disk(change, base, left)
    if change.file == "checkpoint":
        return change.what == "bytes" and (
            _offsets_not_beyond_the_log(change, left) or _times_of_the_log(change, base, root)
        )
    if is_of_log(change.file):
        if change.what in ("gone", "new") and _is_elsewhere(change, base, left):
            return True
        return _was_zero(change, base) or (change.what == "bytes" and _nobody_knows(change, base, root))
    if change.file.startswith("consumequeue_ext/"):
        return not _has_ext_units(change, base, left)
    if change.file.startswith("consumequeue/") and change.what in ("gone", "new"):
        if change.what == "new":
            return _follows_full_file(change, left) or _is_all_expired(left[change.file], left)
        return _was_expired(change, base, left)
    if change.file.startswith("consumequeue/") and change.what == "bytes":
        if _stays_expired(change, base, left, places):
            return True
        return _is_zero(change, root, places) and not any(
            _same_record(place, base, root) for place in _unreported(change, base, places)
        )
    if change.file.startswith("index/") and change.what == "bytes" and _is_of_expired_entry(change, base, root):
        return True
    if change.file.startswith("index/") and change.what == "size":
        return _lacks_unwritten_entries(change, base, left)
    return _never_reached_the_disk(change, base, left)


def _never_reached_the_disk(change: Change, base: Path, left: Files) -> bool:
    """An index file of a broker that crashed, without any byte."""
    crashed = "abort" in left or "halt" in base.name
    return change.file.startswith("index/") and crashed and change.what == "bytes" and not any(left[change.file])


def _is_of_expired_entry(change: Change, base: Path, root: Path) -> bool:
    """Key hash, offset or seconds of entries whose messages are expired, before as after."""
    start = _log_start(_files(root))
    fields = set(field_of_each_byte(classify(root, root / change.file))[change.start : change.end])
    if not fields <= KNOWN_TO_THE_KEY:
        return False
    offsets = []
    for store in (base, root):
        (file,) = open_index([classify(store, store / change.file)])
        numbers = np.arange(
            (change.start - file.entry_at(0)) // INDEX_ENTRY.size,
            1 + (change.end - 1 - file.entry_at(0)) // INDEX_ENTRY.size,
        )
        offsets.append(read_places(file, numbers))
    return bool((np.concatenate(offsets) < start).all())


def _lacks_unwritten_entries(change: Change, base: Path, left: Files) -> bool:
    whole, cut = (base / change.file).read_bytes(), left[change.file]
    is_only = sum(name.startswith("index/") for name in left) == 1
    return is_only and (len(whole) - len(cut)) % INDEX_ENTRY.size == 0 and not any(whole[len(cut) :])


def _was_expired(change: Change, base: Path, left: Files) -> bool:
    """The file had units of expired messages only, or none."""
    return _is_all_expired((base / change.file).read_bytes(), left)


def _is_all_expired(queue_file: bytes, left: Files) -> bool:
    units = CQ_UNIT.array(queue_file)
    return bool((units["physical_offset"] < _log_start(left)).all())


def _log_start(left: Files) -> int:
    return min((int(Path(name).name) for name in left if is_numbered_log_file(name)), default=0)


def _has_ext_units(change: Change, base: Path, left: Files) -> bool:
    """Units of the queue lead to the changed bytes, before or after."""
    _, topic, queue_id, name = change.file.split("/")
    folder = f"consumequeue/{topic}/{queue_id}/"
    start = _log_start(left)
    for files in (_files_once(base), left):
        for file in (content for path, content in files.items() if path.startswith(folder)):
            units = CQ_UNIT.array(file)
            units = units[(units["tags_code"] <= MAX_EXT_ADDRESS) & (units["physical_offset"] >= start)]
            at = (units["tags_code"].astype(np.int64) ^ LONG_MIN) - int(name)
            if ((at < change.end) & (at + CQ_EXT_UNIT.size > change.start)).any():
                return True
    return False


def _follows_full_file(change: Change, left: Files) -> bool:
    """The file holds no unit, and the one before it is full: a broker that was to write its first unit made it."""
    folder, _, name = change.file.rpartition("/")
    before = left.get(f"{folder}/{int(name) - len(left[change.file]):020d}") if name.isdigit() else None
    return before is not None and not any(left[change.file]) and any(before[-CQ_UNIT.size :])


def _stays_expired(change: Change, base: Path, left: Files, places: Sequence[Place]) -> bool:
    """Every changed unit that no place reports was of an expired message, and is again."""
    start = _log_start(left)
    files = [CQ_UNIT.array(content) for content in ((base / change.file).read_bytes(), left[change.file])]
    slots = _unreported_slots(change, places)
    return all(
        0 <= units["physical_offset"][slot] < start and units["msg_size"][slot] > 0 for units in files for slot in slots
    )


def _is_elsewhere(change: Change, base: Path, left: Files) -> bool:
    """The log has the file once, with the bytes that it had, in one folder or another."""
    name = Path(change.file).name
    before = [path.read_bytes() for path in log_files(base) if path.name == name]
    return before == [content for file, content in left.items() if is_of_log(file) and Path(file).name == name]


def _was_zero(change: Change, base: Path) -> bool:
    return change.what == "gone" and not any((base / change.file).read_bytes())


def _nobody_knows(change: Change, base: Path, root: Path) -> bool:
    file = root / change.file
    fields = set(field_of_each_byte(classify(file.parents[1], file))[change.start : change.end])
    before, after = _record_around(change, base), _record_around(change, root)
    if fields == {"properties"} and before is not None and after is not None:
        return _dispatched_alike(before, after, opened(base)[1].version)
    if fields == {"sys_flag"} and before is not None and after is not None:
        return {before.transaction_type, after.transaction_type} <= {"none", "commit"}  # dispatched alike
    if fields & KNOWN_TO_THE_UNIT and before is not None and _has_no_unit(before, base, root):
        fields -= KNOWN_TO_THE_UNIT
    return fields <= KNOWN_TO_NOBODY


def _record_around(change: Change, root: Path) -> Message | None:
    """The record that the changed bytes belong to, None where damage before it hides where it starts."""
    content, at = (root / change.file).read_bytes(), 0
    try:
        while at < change.start:
            message = decode_message(content, at)
            at += message.total_size
    except StoreFormatError:
        return None
    return message


def _dispatched_alike(before: Message, after: Message, version: BrokerVersion) -> bool:
    """Queue and index get the same of both; nothing of a message that was rolled back, and of a delayed one no tags,
    unless the index has them."""
    if before.transaction_type == "rollback":
        return True
    read = {"KEYS", "UNIQ_KEY"} if before.transaction_type == "prepared" else {"KEYS", "UNIQ_KEY", "TAGS", "DELAY"}
    read -= {"TAGS"} if before.topic == SCHEDULE_TOPIC and not version.indexes_tags else set()
    return all(before.property_value(name) == after.property_value(name) for name in read)


def _has_no_unit(message: Message, base: Path, root: Path) -> bool:
    """The record had no unit yet, its topic was deleted since, or the same damage took it."""
    folder = f"consumequeue/{message.topic}/{message.queue_id}"
    sizes = {path.stat().st_size for path in (base / folder).glob("*")}
    place = message.queue_offset * CQ_UNIT.size
    for size in sizes:
        file = root / folder / f"{place - place % size:020d}"
        unit = file.read_bytes()[place % size :][: CQ_UNIT.size] if file.is_file() else b""
        if any(unit) and CQ_UNIT.unpack(unit)["physical_offset"] == message.physical_offset:
            return False
    return True


def _offsets_not_beyond_the_log(change: Change, left: Files) -> bool:
    """Only the checkpoint's offsets changed, and those into this log do not lie beyond it; the master's may."""
    ends = [int(Path(name).name) + len(data) for name, data in left.items() if is_numbered_log_file(name)]
    row = CHECKPOINT.unpack(left["checkpoint"])
    offsets = [row[name] for name in ("confirm_physical_offset", "logics_physical_offset")]
    is_theirs = CHECKPOINT.offsets["master_flushed_offset"] <= change.start and change.end <= CHECKPOINT.size
    return is_theirs and all(offset <= max(ends, default=0) for offset in offsets)


def _times_of_the_log(change: Change, base: Path, root: Path) -> bool:
    """Only times of the checkpoint changed, to some between those of the first message and the last that there was."""
    fields = range(change.start // 8, -(-change.end // 8))
    is_cut = any(not path.stat().st_size for path in log_files(root))  # an empty file may have had later messages
    lost_ms = UNFORCED_MS if is_cut or ((root / "abort").exists() and 0 not in fields) else 0
    expired_ms = CHECKPOINT_INTERVAL_MS if _begins_late(root) else 0
    store, _ = opened(root, config=log_setting(base))
    batches = read_commitlog(store, columns=["store_timestamp"], on_damage="collect")
    stored = [time // 1000 for batch in batches for time in batch["store_timestamp"].cast(pa.int64()).to_pylist()]
    row = list(CHECKPOINT.unpack((root / "checkpoint").read_bytes()).values())
    return fields.stop <= TIMES_SET and all(
        (at == INDEX_TIME and row[at] == 0)  # until an index file is full
        or min(stored, default=0) - expired_ms <= row[at] <= max(stored, default=0) + lost_ms
        for at in fields
    )


def _unreported(change: Change, base: Path, places: Sequence[Place]) -> Iterable[int]:
    """Physical offsets of the base's units in the changed range that no place reports."""
    units = CQ_UNIT.array((base / change.file).read_bytes())
    for slot in _unreported_slots(change, places):
        if units["msg_size"][slot] > 0:
            yield int(units["physical_offset"][slot])


def _unreported_slots(change: Change, places: Sequence[Place]) -> list[int]:
    """The units that lie in the changed range and in no place."""
    slots = range(change.start // CQ_UNIT.size, -(-change.end // CQ_UNIT.size))
    starts = {slot: slot * CQ_UNIT.size for slot in slots}
    return [
        slot for slot, at in starts.items() if not covered(Change(change.file, at, at + CQ_UNIT.size, "bytes"), places)
    ]


def _same_record(physical_offset: int, base: Path, root: Path) -> bool:
    for path in log_files(base):
        at = physical_offset - int(path.name) if path.name.isdigit() else -1
        damaged = root / path.relative_to(base)
        if 0 <= at < path.stat().st_size and damaged.is_file():
            try:
                return decode_message(path.read_bytes(), at) == decode_message(damaged.read_bytes(), at)
            except StoreFormatError:
                return False
    return False
