"""A case's `truth` as far as it can be compared with a played start, and the two compared field by field.

Left out, as the README beside the cases says: times of loading, names of index files that did not exist before, the
size of `abort`, and `logics` and `index` of the checkpoint afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.support.recovery_cases import Case
from tests.support.recovery_told import NEW_INDEX_FILE, Told

UNREACHABLE = "topicQueueTableError"
"""The recorder does not get at the next queue offsets of a broker with files and database together."""


BESIDE = ("consumequeue/", "logicsPhysicalOffset")


def truth_of(case: Case) -> Told:
    """The case's truth in the same form, with what cannot be compared taken out."""
    truth = case["truth"]
    known = set(truth.get("filesBefore", ()))
    if truth.get("hang"):
        return {"hang": True}
    told: Told = {
        "load": truth.get("load"),
        "exception": (truth.get("exception") or "").partition(":")[0] or None,
        "filesAfter": _comparable(truth["filesAfter"], known),
    }
    for name in ("start", "dispatchedInLoad", "reputStartPositions", "dispatchedInReput", "dispatchBehindBytes"):
        if name in truth:
            told[name] = truth[name]
    if "reputFromOffsetWhenQuiet" in truth:
        told["reputFromOffsetWhenQuiet"] = truth["reputFromOffsetWhenQuiet"]
    if "abortAfter" in truth:
        told["abortAfter"] = truth["abortAfter"]
    if truth.get("start") and "checkpointAfter" in truth:
        told["checkpointAfter"] = {k: v for k, v in truth["checkpointAfter"].items() if k not in ("logics", "index")}
    for when in ("afterLoad", "quiet"):
        for name, value in truth.get(when, {}).items():
            if name != UNREACHABLE:
                told[f"{when}.{name}"] = _comparable_state(name, value, known)
    drop_slot_counts(told)
    return told


def retention_truth(case: Case) -> Told:
    """Of a retention case: the states before and after each round of the cleaners, and the files at the end."""
    truth = case["truth"]
    known = set(truth["filesBefore"])
    states = {"before": truth["before"]}
    states |= {f"{number}.{when}": state for number, each in enumerate(truth["rounds"]) for when, state in each.items()}
    told = {"filesAfter": _comparable(truth["filesAfter"], known)}
    for when, state in states.items():
        told |= of_round(when, {name: _comparable_state(name, value, known) for name, value in state.items()})
    return told


def differences(told: Told, truth: Told) -> dict[str, tuple[Any, Any]]:
    """field -> (ours, truth), for every field of the truth that differs.

    Of a queue whose end two threads of the broker decide, as the forecast says of it, bounds are judged: it ends no
    later than was noted of it, and has no unit of a message before the log's end that we do not give it.
    What becomes of queue files beside a database that decides, the forecast does not say, nor what their flush notes.
    """
    ends: Mapping[str, int] = told.get("undecided", {})
    log_end = truth.get("quiet.commitLogMax", 0)

    def judged(name: str, value: Any) -> tuple[Any, Any]:
        ours = told.get(name)
        if told.get("filesBeside") and isinstance(value, dict) and isinstance(ours, dict):
            ours, value = ({k: v for k, v in each.items() if not k.startswith(BESIDE)} for each in (ours, value))
        if not name.endswith(".queues") or not ends or value is None or ours is None:
            return ours, value
        outside = {key: _outside(value[key], ours[key], ends[key], log_end) for key in ends if key in value}
        left, right = ({k: queue for k, queue in rows.items() if k not in ends} for rows in (ours, value))
        return left, right | {key: wrong for key, wrong in outside.items() if wrong}

    pairs = {name: judged(name, value) for name, value in truth.items()}
    return {name: both for name, both in pairs.items() if both[0] != both[1]}


def _outside(recorded: Told, ours: Told, noted_end: int, log_end: int) -> Told:
    """What a recorded queue has beyond the bounds; empty where nothing."""
    strange = {place for place in recorded.get("units", ()) if place < log_end} - set(ours.get("units", ()))
    beyond = {"max": recorded["max"]} if recorded["max"] > noted_end else {}
    return beyond | ({"units": sorted(strange)} if strange else {})


def _comparable(files: Mapping[str, int], known: set[str]) -> Told:
    """Sizes by path; new index files have a name that nobody can know, `abort` a size that does not matter."""
    kept = {path: size for path, size in files.items() if not path.startswith("index/") or path in known}
    created = [size for path, size in files.items() if path.startswith("index/") and path not in known]
    kept |= {"abort": 0} if "abort" in kept else {}
    return {**kept, NEW_INDEX_FILE: created}


def _comparable_state(name: str, value: Any, known: set[str]) -> Any:
    if name == "files":
        return _comparable(value, known)
    if name == "queues":
        return {key: _with_places(queue) for key, queue in value.items()}
    if name == "index":
        return [{**row, "file": row["file"] if f"index/{row['file']}" in known else NEW_INDEX_FILE} for row in value]
    return value


def _with_places(queue: Told) -> Told:
    """Of each unit in a database (queue offset, physical offset, size) where its record starts."""
    return {**queue, "units": sorted(unit[1] for unit in queue["units"])} if "units" in queue else queue


def of_round(when: str, state: Told) -> Told:
    """The fields of one moment of a round."""
    drop_slot_counts({"afterLoad.index": state["index"]} if "Consume" not in when else {})
    return {f"{when}.{name}": value for name, value in state.items()}


def drop_slot_counts(told: Told) -> None:
    """The recorder kept IndexHeader's AtomicInteger and printed it at the end: afterLoad shows the quiet value."""
    for row in told.get("afterLoad.index", ()):
        row.pop("HashSlotCount")
