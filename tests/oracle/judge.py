"""One damaged store through every command that the store classes can judge."""

from __future__ import annotations

import json
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from parsers.store.store import NotAStore
from recovery.rebuild.rebuild import rebuild
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.oracle.answers import Differences, judge_answers, judge_queues
from tests.oracle.base import Base
from tests.oracle.damage import Damage
from tests.support.copies import copy_tree
from tests.support.java_lab import recover_all
from tests.support.log_folders import SETTINGS
from tests.support.opened import opened
from tests.support.recovery_cases import Case, CaseSet
from tests.support.recovery_judge import judge
from tests.support.verify_judge import Verdict, judge_case

COMMANDS = ("decode", "queues", "find", "offset-at", "verify", "forecast", "rebuild", "delays")


INDEX_SIZES = ("maxHashSlotNum", "maxIndexNum")


@dataclass(frozen=True)
class FreshCases(CaseSet):
    """Cases in memory, their bases already unpacked."""

    fresh: dict[str, Case] = field(default_factory=dict, compare=False)

    def names(self) -> list[str]:
        return sorted(self.fresh)

    def case(self, name: str) -> Case:
        return self.fresh[name]


@dataclass(frozen=True, slots=True)
class Judged:
    """One case: command -> what differs; a command that could not be judged is not listed."""

    case: Case
    differs: dict[str, Differences]

    @property
    def agrees(self) -> bool:
        return not any(self.differs.values())


def judge_damages(base: Base, damages: Sequence[tuple[str, Damage]]) -> Iterator[Judged]:
    """Start the store classes on a copy for each damage (id, damage), then ask us about the same bytes."""
    unpacked = base.root.parent
    cases = FreshCases(unpacked, unpacked, {name: case_of(base, name, damage) for name, damage in damages})
    with tempfile.TemporaryDirectory(prefix="started-", dir=unpacked) as folder:
        started = {Path(folder) / name: name for name in cases.names()}
        for root, name in started.items():
            with cases.built(cases.case(name)) as built:
                cases.case(name)["abortPresent"] = (built / "abort").exists()
                copy_tree(built, root)
        seed = str(base.plan.seed)
        settings = {root: {**cases.case(name)["configOverrides"], "lab.ask": seed} for root, name in started.items()}
        truths = recover_all(settings, base.plan.version)
        for root, name in started.items():
            yield _judged(cases, base, name, root, truths.get(root))


def case_of(base: Base, name: str, damage: Damage) -> Case:
    """The case as it is kept, but for what the store classes say of it."""
    return {
        "id": name,
        "version": base.plan.version,
        "base": base.root.name,
        "damageClass": damage.name,
        "description": damage.name,
        "configOverrides": {**base.plan.settings, **damage.settings},
        "edits": damage.edits,
    }


def _judged(cases: FreshCases, base: Base, name: str, started: Path, truth: dict[str, Any] | None) -> Judged:
    case = cases.case(name)
    if truth is None or "driverError" in truth:
        return Judged(case, {"forecast": {"no answer of the store classes": (None, truth)}})
    answers = truth.pop("answers", None)
    found, left = truth.pop("queuesFound", None), truth.pop("queuesLeft", None)
    case["truth"] = json.loads(json.dumps(truth).replace(str(started), "<store>"))
    differs = {
        "verify": _asked(lambda: _verify(judge_case(cases, name))),
        "forecast": _asked(lambda: dict(judge(cases, name)[1])),
        "rebuild": _asked(lambda: _rebuilt(cases, base, case)),
    }
    version = BrokerVersion.parse(case["version"])
    if found is not None:
        case["queuesFound"] = found
    if found is not None and left is not None and truth.get("load") is True:
        differs["queues"] = _asked(
            lambda: _queues(cases, case, version, found) | judge_queues(started, version, left, _log(case))
        )
    if answers is not None:
        try:
            differs |= judge_answers(started, version, answers, _log(case))
            if case["configOverrides"].get("duplicationEnable") == "true":
                differs.pop("find", None)  # the broker then gives out confirmed messages only
            if any(case["configOverrides"][name] != base.plan.settings[name] for name in INDEX_SIZES):
                differs.pop(
                    "find", None
                )  # the broker then looks in other slots than those that the files were written with
            if _shares_an_index_file(truth):
                differs = {name: told for name, told in differs.items() if name not in ("find", "forecast")}
        except Exception:  # noqa: BLE001 - a command that ends so is a difference, and told as one
            differs["decode"] = _failure()
    return Judged(case, differs)


def _shares_an_index_file(truth: dict[str, Any]) -> bool:
    """Two index files were made within one millisecond, so that they have one name and one file: that cannot be told
    beforehand."""
    names = [file["file"] for file in truth.get("quiet", {}).get("index", ())]
    return len(set(names)) < len(names)


def _asked(command: Callable[[], Differences]) -> Differences:
    try:
        return command()
    except Exception:  # noqa: BLE001 - a command that ends so is a difference, and told as one
        return _failure()


def _failure() -> Differences:
    return {"it failed": (traceback.format_exc(limit=-4), None)}


def _queues(cases: FreshCases, case: Case, version: BrokerVersion, found: dict[str, Any]) -> Differences:
    """The damaged store before its start."""
    with cases.built(case) as root:
        return {f"found {name}": both for name, both in judge_queues(root, version, found, _log(case)).items()}


def _log(case: Case) -> dict[str, str]:
    """Where the log lies."""
    return {name: value for name, value in case["configOverrides"].items() if name in SETTINGS}


def _verify(verdict: Verdict) -> Differences:
    missed: Differences = {f"missed {change}": (verdict.kinds, None) for change in verdict.missed}
    return missed | {f"outside {finding.kind}": (finding, None) for finding in verdict.outside}


def _rebuilt(cases: FreshCases, base: Base, case: Case) -> Differences:
    """Where the log is whole: what we write is what the base has, or is made of the undamaged base's log.

    Where all queues are gone, too, nothing tells any more which topics were deleted.
    """
    if any("commitlog" in edit["path"] + edit.get("to", "") for edit in case["edits"]):
        return {}
    forgets = any("lab.forget" in life.lab for life in base.plan.lives)
    if forgets and any(edit["path"] == "consumequeue" for edit in case["edits"]):
        return {}
    settings, version = StoreSettings.from_config(base.plan.settings), BrokerVersion.parse(base.plan.version)
    with tempfile.TemporaryDirectory(dir=cases.unpacked) as folder, cases.built(case) as root:
        try:
            rebuild(*opened(root, version, settings), Path(folder) / "damaged")
        except NotAStore:
            return {}
        ours = _hashes(Path(folder) / "damaged")
        theirs = _hashes(base.root)
        if not base.plan.is_as_dispatched:
            rebuild(*opened(base.root, version, settings), Path(folder) / "base")
            theirs = _hashes(Path(folder) / "base")
        names = ours.keys() | theirs.keys()
        return {name: (ours.get(name), theirs.get(name)) for name in names if ours.get(name) != theirs.get(name)}


def _hashes(root: Path) -> dict[str, str]:
    """Hash by path for queue files; index files by their place in the order of names, which are creation times."""
    kinds = ("consumequeue", "consumequeue_ext")
    queues = sorted(path for kind in kinds for path in (root / kind).rglob("*") if path.is_file())
    found = {path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest() for path in queues}
    for number, path in enumerate(sorted((root / "index").glob("*"))):
        found[f"index/{number}"] = sha256(path.read_bytes()).hexdigest()
    return found
