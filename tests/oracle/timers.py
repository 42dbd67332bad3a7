"""Timers: TimerMessageStore of one version writes some, and says which of them it would deliver of damaged copies."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from parsers.store.store import open_store
from parsers.timer.check import TIMER_CHECK
from parsers.timer.log import TIMER_UNIT, read_timerlog
from parsers.timer.wheel import TIMER_SLOT, read_wheel
from parsers.values.topics import TIMER_TOPIC
from recovery.fates.delay_states import STATES, DelayState
from recovery.fates.delays import TIMER, delays
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import Forecast, forecast
from recovery.rules.versions import BrokerVersion
from recovery.verify.findings.finding import Finding
from tests.oracle.answers import Differences
from tests.oracle.base import Base, Exit, Plan
from tests.oracle.damage import Damage
from tests.oracle.edits import Edit, create, delete, write, zero
from tests.oracle.judge import FreshCases, Judged, case_of
from tests.support.copies import copy_tree
from tests.support.java_lab import recover_all, run_lab
from tests.support.opened import opened
from tests.support.recovery_cases import Case
from tests.support.verify_judge import judge_case

PREFIX = "timers-"
HALTED = 9
TOPICS = ("TopicA", TIMER_TOPIC)
LOG, WHEEL, CHECK = "timerlog", "timerwheel", "config/timercheck"
LOG_SIZES = (7 * TIMER_UNIT.size + 16, 40 * TIMER_UNIT.size + 30, 8_192)
ENDED = (DelayState.DELIVERED, DelayState.ROLLED)
Told = dict[str, Any]


def write_timer_base(version: str, seed: int, exit: Exit, folder: Path) -> Base:
    """Some hundred messages, half of them timers: due in seconds, minutes, or beyond the window of the wheel."""
    chance = random.Random(f"timers {version} {seed}")
    settings = {
        "mappedFileSizeTimerLog": str(chance.choice(LOG_SIZES)),
        "mappedFileSizeCommitLog": str(chance.choice((16_384, 65_536))),
        "timerRollWindowSlot": "7200",
        **_wheel_settings(random.Random(f"wheel {version} {seed}")),
    }
    plan = Plan(version, seed, exit, chance.choice((60, 150, 300)), 0, settings)
    root = folder / f"{PREFIX}{plan.name}"
    root.mkdir(parents=True)
    pairs = [f"{name}={value}" for name, value in settings.items()]
    done = run_lab(version, "timers", str(root), exit, str(seed), str(plan.messages), *pairs)
    if done != (HALTED if exit == "halt" else 0):
        raise RuntimeError(f"TimerMessageStore of {version} did not write {root.name}: it ended with {done}")
    (root / "lock").unlink(missing_ok=True)
    topics = {topic: {"topicName": topic, "readQueueNums": 1, "writeQueueNums": 1, "perm": 6} for topic in TOPICS}
    (root / "config" / "topics.json").write_text(json.dumps({"topicConfigTable": topics}))
    groups = {"offsetTable": {"TopicA@readers": {"0": 0}}}
    (root / "config" / "consumerOffset.json").write_text(json.dumps(groups))
    return Base(plan, root, [], None)


def _wheel_settings(chance: random.Random) -> dict[str, str]:
    """How long a slot is and how many of them a timer waits in before it rolls, where a setting says so."""
    precision = chance.choice((1000, 1000, 500, 200, 100))
    slots = chance.choice((7_200, 7_200, 3_600, 90_000)) * 1000 // precision
    return {"timerPrecisionMs": str(precision), "timerRollWindowSlot": str(slots)}


def is_of_timers(name: str) -> bool:
    """Whether a base of that name was written here."""
    return name.startswith(PREFIX)


def judge_timer_damages(base: Base, damages: Sequence[tuple[str, Damage]]) -> Iterator[Judged]:
    """Each damaged copy (id, damage): which timers a start would deliver, TimerMessageStore's answer and ours."""
    unpacked = base.root.parent
    whole = "undamaged", Damage("timers.none", [])
    cases = FreshCases(unpacked, unpacked, {name: case_of(base, name, damage) for name, damage in (whole, *damages)})
    with tempfile.TemporaryDirectory(prefix="timers-", dir=unpacked) as folder:
        started = {Path(folder) / name: name for name in cases.names()}
        for root, name in started.items():
            with cases.built(cases.case(name)) as built:
                copy_tree(built, root)
        settings = {root: {**cases.case(name)["configOverrides"], "lab.timers": "1"} for root, name in started.items()}
        truths = recover_all(settings, base.plan.version)
    told = {name: truths.get(root) for root, name in started.items()}
    for name, _ in damages:
        yield _judged(cases, base, name, told)


def _judged(cases: FreshCases, base: Base, name: str, told: dict[str, Told | None]) -> Judged:
    case, truth, undamaged = cases.case(name), told[name], told["undamaged"]
    if truth is None or undamaged is None or "driverError" in truth:
        return Judged(case, {"forecast": {"no answer of the store classes": (None, truth)}})
    case["truth"] = truth
    verdict = judge_case(cases, name, _sizes(case))
    outside = {f"outside {found.kind}": (found, None) for found in verdict.outside if not _is_of_edits(found, case)}
    differs: dict[str, Differences] = {"verify": outside, "forecast": {}}
    with cases.built(case) as root:
        starts = truth.get("loadTimers") is True
        started = forecast(*_opened(root, case), with_advice=False)
        said, timers = _starts(started), started.played.timers
        if starts and timers is not None and timers.next_offset != truth["queueOffset"]:
            differs["forecast"] = {"where timers go on": (timers, truth["queueOffset"])}
        if said is not starts:
            differs["forecast"] = {"the broker starts": (said, {key: truth.get(key) for key in WHY})}
        if starts:
            differs["delays"] = dict(_delays(root, case, truth, base, named=bool(verdict.kinds)))
    before = None if undamaged.get("loadTimers") is not True else _delivered(undamaged, cases, "undamaged")
    if starts and before is not None and not verdict.kinds:
        now = _delivered(truth, cases, name)
        if before != now:
            differs["verify"]["no finding, and other timers are delivered"] = (
                sorted(before - now),
                sorted(now - before),
            )
    return Judged(case, differs)


def _is_of_edits(found: Finding, case: Case) -> bool:
    """Units that an edit took are told by the slots that led to them and by the messages they were of; slots that one
    took by the units of rolls."""
    edited = {edit["path"].partition("/")[0] for edit in case["edits"]}
    return bool({"timer_slot_wrong": {LOG, WHEEL}, "timer_check_wrong": {LOG}}.get(found.kind, set()) & edited)


WHY = ("refused", "load", "loadTimers", "error", "exception", "hang")


def _starts(told: Forecast) -> bool:
    document = forecast_document(told)
    start = document["start"]
    return bool(document["load"]["ok"] and (start is None or start["returns"]))


def _opened(root: Path, case: Case) -> Any:
    return opened(root, BrokerVersion.parse(case["version"]), config=_sizes(case))


def _sizes(case: Case) -> dict[str, str]:
    return {name: case["configOverrides"][name] for name in ("mappedFileSizeCommitLog", "mappedFileSizeTimerLog")}


def _rows(root: Path, case: Case) -> list[tuple[int, int, DelayState]]:
    """Physical offset, queue offset and state of each timer message."""
    found = delays(*_opened(root, case), lambda damage: None)
    fates, columns = found.fates, found.held.columns
    rows = np.flatnonzero(fates.level == TIMER)
    record = fates.record[rows]
    places = zip(columns.physical_offset[record].tolist(), columns.queue_offset[record].tolist(), strict=True)
    return [(*place, STATES[code]) for place, code in zip(places, fates.state[rows].tolist(), strict=True)]


def _delivered(truth: Told, cases: FreshCases, name: str) -> set[int]:
    """Physical offsets of the timer messages that a start delivers, deletes or writes anew: its slots lead to them, or
    they are still to be taken in."""
    case = cases.case(name)
    with cases.built(case) as root:
        return _to_come(truth, _rows(root, case))


def _to_come(truth: Told, rows: list[tuple[int, int, DelayState]]) -> set[int]:
    reached = {offset for _, _, _, offset, _, is_message in truth["reached"] if is_message}
    return reached | {place for place, number, _ in rows if number >= truth["queueOffset"]}


def _delays(root: Path, case: Case, truth: Told, base: Base, *, named: bool) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Pending timers are delivered by a start, unless a finding says what is wrong; others are not, after a shutdown in
    order."""
    rows = _rows(root, case)
    to_come = _to_come(truth, rows)
    lost = sorted(place for place, _, state in rows if state is DelayState.PENDING and place not in to_come)
    if lost and not named:
        yield "pending, and no start delivers them", (lost, truth["readMs"])
    again = sorted((place, state) for place, _, state in rows if state in ENDED and place in to_come)
    if again and not named and base.plan.exit == "clean":
        yield "ended, and a start delivers them again", (again, truth["readMs"])


def draw_timer_damages(base: Base, count: int, chance: random.Random) -> list[tuple[str, Damage]]:
    """So many damages, each with the name of its case; the first is none."""
    drawn = [Damage("timers.none", []), *(_draw(base, chance) for _ in range(count - 1))]
    return [(f"{base.root.name}-{number:03d}", damage) for number, damage in enumerate(drawn)]


def _draw(base: Base, chance: random.Random) -> Damage:
    damages = {**_log_damages(base, chance), **_wheel_damages(base, chance), **_check_damages(chance)}
    chosen = chance.choice(sorted(damages))
    marker = chance.choice(([{"op": "create", "path": "abort"}], [{"op": "delete", "path": "abort"}], []))
    return Damage(f"timers.{chosen}", [*damages[chosen], *marker])


def _log_damages(base: Base, chance: random.Random) -> dict[str, list[Edit]]:
    files = [file for file in open_store(base.root).timer if file.kind == "timerlog"]
    places = [
        (batch["file"][row].as_py(), batch["position"][row].as_py())
        for batch in read_timerlog(files)
        for row in range(len(batch))
    ]
    if not places:
        return {}
    file, position = chance.choice(places)
    name, size = f"{LOG}/{file}", files[0].size
    at = position - int(file)
    last, field = f"{LOG}/{files[-1].name}", chance.choice(TIMER_UNIT.fields[:-1])
    number = chance.choice((0, 7, position, 1 << 40, (1 << 31) - 1)) % (1 << (8 * field.width - 1))
    return {
        "log.last_truncated": [{"op": "truncate", "path": last, "length": size // 2}],
        "log.unit_zeroed": [zero(name, at, TIMER_UNIT.size)],
        "log.tail_zeroed": [zero(name, at, size - at)],
        f"log.{field.name}": [write(name, at + TIMER_UNIT.offsets[field.name], f"{number:0{2 * field.width}x}")],
        "log.last_zeroed": [zero(last, 0, size)],
        "log.last_missing": [delete(last)],
        "log.file_missing": [delete(name)],
        "log.all_missing": [delete(LOG)],
        "log.empty_file_behind": [create(f"{LOG}/{int(files[-1].name) + size:020d}", size)],
    }


def _wheel_damages(base: Base, chance: random.Random) -> dict[str, list[Edit]]:
    (wheel,) = (file for file in open_store(base.root).timer if file.kind == "timerwheel")
    slots = read_wheel(wheel)["slot"].to_pylist()
    if not slots:
        return {"wheel.missing": [delete(WHEEL)]}
    at = chance.choice(slots) * TIMER_SLOT.size
    field = chance.choice(TIMER_SLOT.fields[:3])
    number = chance.choice((0, 7, (1 << 64) - 1, TIMER_UNIT.size * chance.randrange(80)))
    return {
        "wheel.missing": [delete(WHEEL)],
        "wheel.zeroed": [zero(WHEEL, 0, wheel.size)],
        "wheel.slot_zeroed": [zero(WHEEL, at, TIMER_SLOT.size)],
        f"wheel.{field.name}": [write(WHEEL, at + TIMER_SLOT.offsets[field.name], f"{number:016x}")],
        "wheel.truncated": [{"op": "truncate", "path": WHEEL, "length": wheel.size - TIMER_SLOT.size}],
    }


def _check_damages(chance: random.Random) -> dict[str, list[Edit]]:
    field = chance.choice(TIMER_CHECK.fields[:4])
    number = chance.choice((0, 1, 10, 1 << 40))
    return {
        "check.missing": [delete(CHECK)],
        f"check.{field.name}": [write(CHECK, TIMER_CHECK.offsets[field.name], f"{number:016x}")],
        "queue.missing": [delete(f"consumequeue/{TIMER_TOPIC}")],
    }
