"""A damaged store's findings against its edits: is every edit inside a reported range, and nothing reported outside?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

from parsers.store.store import NotAStore
from recovery.verify.findings.finding import Finding, Place
from recovery.verify.verify import Verification, verify
from tests.support.log_folders import begins_late, is_of_log, log_setting
from tests.support.opened import opened
from tests.support.recovery_cases import Case, CaseSet
from tests.support.store_changes import Change, Files, changes_between, files_of, touches, uncovered
from tests.support.traceless import left_no_trace
from tests.support.traceless_log import record_around

NOTHING_SAID: Mapping[str, str] = MappingProxyType({})
NOTHING_LEFT = Verification((), (), ())
EXPLAINED_EDITS = {
    "commitlog": "unwritten",
    "consumequeue": "not dispatched yet",
    "checkpoint": "checkpoint not set yet",
}
"""Folder or file -> the one explained state that may answer an edit there, which then left zeros only."""
UNDECIDED = "log_begins_late"
"""Earned where the files are too small to tell that a cleaner deleted the log's first ones."""
LEFT_BY_RECOVERY = ("index_keys_missing", "not_dispatched", "queue_numbers_restarted")
"""Kinds that a start after a crash leaves: the index of older files is gone for good (IndexService#load), and 5.0.0 to
5.3.1, and 5.3.2 and later by one message, do not dispatch again what the queues lack. A queue of a deleted topic that
has got no new message has its former ones again, the others not."""
BEHIND_A_GAP = "log_file_out_of_place"
"""A file that is as it was, after one that an edit took."""
REST_OF_A_RECORD = "log_damaged"
"""Bytes that are as they were, of a record that an edit changed before them."""
FROM_THE_CRASH = ("not_dispatched_yet", "index_keys_missing", "queue_missing")
"""Kinds that a crashed store earns once `abort` or all queues are taken away: nothing then shows how far it came."""
OF_A_FORMER_LIFE = ("not_dispatched", "not_dispatched_yet", "queue_missing")
"""Kinds of messages of a deleted topic, once the messages are gone that show that it was created again."""
OF_AN_OFFSET = (
    "consumer_offset_above_max",
    "consumer_offset_below_min",
    "delay_offset_above_max",
    "delay_offset_below_min",
)
"""Kinds that an edit of the queue earns, or one that takes a log file, although the group's offset is as it was."""
OF_A_DELETED_TOPIC = "offsets of a deleted topic"
FORMER_LIVES = ("former life of a topic", "deleted topic")


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


def judge_case(cases: CaseSet, name: str, config: Mapping[str, str] = NOTHING_SAID) -> Verdict:
    """`config`: settings that `verify` is given."""
    case = cases.case(name)
    with cases.built(case) as root:
        return judge(cases, case, root, config)


def judge(cases: CaseSet, case: Case, root: Path, config: Mapping[str, str] = NOTHING_SAID) -> Verdict:
    """The store at `root`, which edits have made of the case's base."""
    base = cases.base(case["base"])
    verification = _verified(root, base, config)
    left = files_of(root)
    changes = list(changes_between(base, left))
    verdict = Verdict(case["id"], case["damageClass"], [found.kind for found in verification.findings])
    found = [place for finding in verification.findings for place in finding.places]
    for change in changes:
        explained = _explained(change, verification)
        unreported = [part for part in uncovered(change, found) if _differs(part, base, left)]
        unexplained = [rest for part in unreported for rest in _unanswered(part, explained, left)]
        missed = [
            part
            for part in unexplained
            if not (_is_not_compared(part, verification) or left_no_trace(part, base, root, left))
        ]
        verdict.found += not unreported
        verdict.explained += bool(unreported) and not unexplained
        verdict.traceless += bool(unexplained) and not missed
        verdict.missed += missed
    hidden = _hides_the_crash(case)
    from_the_crash = _not_reached_from(cases, case["base"]) if hidden else None
    earned_without = _earned_without(cases, case["base"], hidden) if hidden else ()
    for finding in verification.findings:
        excused = (
            from_the_crash is not None
            and finding.kind in FROM_THE_CRASH
            and (finding.span.physical_offset or 0) >= from_the_crash
        )
        excused |= finding in earned_without
        excused |= finding.kind == UNDECIDED and begins_late(base)
        excused |= _is_of(base, finding, within=finding.kind in LEFT_BY_RECOVERY)
        excused |= finding.kind in OF_A_FORMER_LIFE and _is_of_former_life(base, finding) and _damages_log(changes)
        excused |= finding.kind in OF_AN_OFFSET and (
            _moves_the_queue(finding, changes) or (_damages_log(changes) and _has_other_finding(base, finding))
        )
        excused |= finding.kind == REST_OF_A_RECORD and _is_rest(base, finding, changes)
        excused |= finding.kind == BEHIND_A_GAP and _leaves_the_gap(finding, changes)
        excused |= _is_of_deleted_folder(finding, case)
        if not excused and not touches(finding, changes) and not _is_of_changed_record(base, finding, changes):
            verdict.outside.append(finding)
    return verdict


def _is_of_deleted_folder(finding: Finding, case: Case) -> bool:
    """An edit deleted what the finding is about, as a whole: of a folder without a file no change of a file tells."""
    deleted = {edit["path"] for edit in case["edits"] if edit["op"] == "delete"}
    return any(place.file in deleted for place in finding.places)


def _is_of(base: Path, finding: Finding, *, within: bool) -> bool:
    """The undamaged base has the finding, of these bytes or of more; `within`: or one of its kind about more of the
    log: a broker started it after a crash, and then went on."""
    start, end = finding.span.physical_offset or 0, finding.span.end_physical_offset or 0
    own = [one for one in _earned(base) if one.kind == finding.kind]
    return any(all(_is_inside(place, one.places) for place in finding.places) for one in own if finding.places) or (
        within
        and any(
            (one.span.physical_offset or 0) <= start and end <= (one.span.end_physical_offset or 0)
            for one in own
            if (one.span.topic, one.span.queue_id) == (finding.span.topic, finding.span.queue_id)
        )
    )


def _is_inside(place: Place, others: Sequence[Place]) -> bool:
    end = place.file_pos + place.length
    return any(
        other.file == place.file and other.file_pos <= place.file_pos and end <= other.file_pos + other.length
        for other in others
    )


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


def _is_rest(base: Path, finding: Finding, changes: Sequence[Change]) -> bool:
    """All of the finding lies in one record of the undamaged base, and an edit is in that record, too."""
    place = finding.places[0]
    end = place.file_pos + place.length
    if not (base / place.file).is_file():
        return False
    record = record_around(Change(place.file, place.file_pos + 1, end, "bytes"), base)
    if record is None:
        return False
    start = record.physical_offset - int(Path(place.file).name)
    behind = start + record.total_size
    return (
        start <= place.file_pos
        and end <= behind
        and any(change.file == place.file and change.start < behind and start < change.end for change in changes)
    )


def _is_of_changed_record(base: Path, finding: Finding, changes: Sequence[Change]) -> bool:
    """The finding is about one message alone, and an edit changed its record."""
    begin, end = finding.span.physical_offset, finding.span.end_physical_offset or 0
    records = [record_around(change, base) for change in changes if change.what == "bytes" and is_of_log(change.file)]
    return any(each.physical_offset == begin and end <= begin + each.total_size for each in records if each)


def _leaves_the_gap(finding: Finding, changes: Sequence[Change]) -> bool:
    """The log file that ended where the finding begins is gone."""
    gone = [change for change in changes if change.what == "gone" and is_of_log(change.file)]
    begins = finding.span.physical_offset
    return any(
        int(Path(change.file).name) + change.end == begins for change in gone if Path(change.file).name.isdigit()
    )


def _has_other_finding(base: Path, finding: Finding) -> bool:
    """The undamaged base says it of the same queue or topic in another way: the offset is of a former life or a deleted
    topic, which the edits hide."""
    where = finding.span.topic, finding.span.queue_id, finding.span.queue_offset
    known = any((one.span.topic, one.span.queue_id, one.span.queue_offset) == where for one in _earned(base))
    deleted = {state.span.topic for state in _judged_once(base).explained if state.what == OF_A_DELETED_TOPIC}
    return known or finding.span.topic in deleted


def _moves_the_queue(finding: Finding, changes: Sequence[Change]) -> bool:
    """An edit took units of the queue, in its files or in the database of all, or messages that the log began with."""
    queue = f"consumequeue/{finding.span.topic}/{finding.span.queue_id}/"
    return any(
        change.file.startswith(queue)
        or (change.file.startswith("consumequeue/") and change.file.count("/") == 1)
        or (change.what == "gone" and is_of_log(change.file))
        for change in changes
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
    earned = [found for found in _earned_without(cases, base, ("abort",)) if found.kind in FROM_THE_CRASH]
    return min((found.span.physical_offset or 0 for found in earned), default=None)


@cache
def _earned_without(cases: CaseSet, base: str, hidden: tuple[str, ...]) -> tuple[Finding, ...]:
    """What the undamaged base earns once `abort`, or all queues, or both are taken away."""
    with cases.built({"base": base, "edits": [{"op": "delete", "path": path} for path in hidden]}) as root:
        return _verified(root, cases.unpacked / base).findings


def _differs(part: Change, base: Path, left: Files) -> bool:
    """A part of a change is none itself where its bytes are as they were."""
    if part.what != "bytes":
        return True
    return (base / part.file).read_bytes()[part.start : part.end] != left[part.file][part.start : part.end]


def _unanswered(part: Change, explained: Sequence[Place], left: Files) -> list[Change]:
    """What no explained state covers of a part of a change: one answers zeros alone, and files that are gone."""
    if part.what != "gone" and (part.file not in left or any(left[part.file][part.start : part.end])):
        return [part]
    return uncovered(part, explained)


def _explained(change: Change, verification: Verification) -> list[Place]:
    """Places of the states that may answer this change."""
    what = EXPLAINED_EDITS.get("commitlog" if is_of_log(change.file) else change.file.partition("/")[0])
    return [place for state in verification.explained if state.what == what for place in state.places]


def _is_not_compared(change: Change, verification: Verification) -> bool:
    """The store's queues are a RocksDB's, as far as can be told: those in files are not looked at, and it says so."""
    said = any(state.what == "not compared" for state in verification.explained)
    return said and change.file.startswith(("consumequeue/", "index/"))


def _verified(root: Path, base: Path, config: Mapping[str, str] = NOTHING_SAID) -> Verification:
    """The log lies where the undamaged base has it."""
    try:
        return verify(*opened(root, config={**log_setting(base), **config}))
    except NotAStore:
        return NOTHING_LEFT


def _hides_the_crash(case: Case) -> tuple[str, ...]:
    """Which of the two that show how far a crashed broker came the edits take away."""
    deleted = {edit["path"] for edit in case["edits"] if edit["op"] == "delete"}
    return tuple(sorted(deleted & {"abort", "consumequeue"}))
