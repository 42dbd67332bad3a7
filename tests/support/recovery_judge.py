"""A start that was recorded from the store classes against the same start as we play it."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recovery.broker.memory import BrokerMemory
from recovery.broker.store_folder import read_evidence
from recovery.retention.cleaner import Cleaner, Clock, DiskUse, trigger
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.start.restart import memory_before_load, restart
from tests.support.recovery_cases import Case, CaseSet
from tests.support.recovery_told import Told, files_of, files_then, noted_end, state_of, told_of
from tests.support.recovery_truth import differences, drop_slot_counts, of_round, retention_truth, truth_of

LAB_HEAP_BYTES = 512 << 20
LAB_DEFAULTS = {"cleanResourceInterval": "3600000", "diskMaxUsedSpaceRatio": "95", "fileReservedTime": "87600"}
LAB_DISK = DiskUse(19, 19)


def judge(cases: CaseSet, name: str) -> tuple[list[str], Told]:
    """The fields that the case's truth decides, and those in which we differ: field -> (ours, truth)."""
    case = cases.case(name)
    cleaning = case["damageClass"].startswith("retention")
    truth = (retention_truth if cleaning else truth_of)(case)
    with cases.built(case) as root:
        told = (play_retention if cleaning else play)(case, root)
        wrong = differences(told, truth)
        if not cleaning:
            compiled = play(case, root, compiled=True)
            wrong |= {f"compiled {name}": both for name, both in differences(compiled, _countable(told)).items()}
    return list(truth), wrong


def play(case: Case, root: Path, *, compiled: bool = False) -> Told:
    """What we say this start does, keyed as the truth is: `field` or `afterLoad.field`, `quiet.field`.

    `compiled` takes records in runs and counts index entries; else they are checked and written one by one.
    """
    settings = StoreSettings.from_config(effective_settings(case))
    version = BrokerVersion.parse(case["version"])
    before = files_of(root)
    states: dict[str, Told] = {}

    def look(memory: BrokerMemory) -> None:
        states["afterLoad"] = state_of(memory, before, hashes=False)
        for queue in () if memory.database is None else memory.database.queues.values():
            queue.ask_first()  # as the recorder did

    evidence = read_evidence(root, settings)
    memory = memory_before_load(
        evidence, version, settings, heap_bytes=LAB_HEAP_BYTES, with_index_entries=compiled is False
    )
    played = restart(memory, after_load=look)
    told: Told = {"hang": True} if played.hang else told_of(played, before)
    told["filesBeside"] = played.memory.second_queues is not None
    if played.memory.database is not None:
        told["undecided"] = {
            f"{topic}/{queue_id}": noted_end(played.memory.database, (topic, queue_id))
            for topic, queue_id in played.memory.database.undecided
        }
    if played.started:
        states["quiet"] = state_of(played.memory, before, hashes=True)
    if not played.hang:
        told |= {f"{when}.{name}": value for when, state in states.items() for name, value in state.items()}
        drop_slot_counts(told)
    return _countable(told) if compiled else told


def play_retention(case: Case, root: Path) -> Told:
    """A retention case: the store is started, then each round runs the log's cleaner and the queues' cleaner."""
    settings = StoreSettings.from_config(effective_settings(case))
    version = BrokerVersion.parse(case["version"])
    before, now_ms = files_of(root), time.time_ns() // 1_000_000
    memory = memory_before_load(read_evidence(root, settings), version, settings, with_index_entries=True)
    restart(memory)
    told = of_round("before", state_of(memory, before, hashes=False, abort=True))
    hour_offset = timedelta(
        hours=(case["truth"]["localHour"] - datetime.fromtimestamp(now_ms / 1000, UTC).hour + 11) % 24 - 11
    )
    clock, cleaner = Clock(now_ms, hour_offset), Cleaner(memory)
    decided = trigger(version, settings, clock, LAB_DISK, manual=False)
    for number in range(len(case["truth"]["rounds"])):
        cleaner.clean_commitlog(decided, now_ms)
        told |= of_round(f"{number}.afterCleanCommitLog", state_of(memory, before, hashes=False, abort=True))
        cleaner.clean_queues()
        told |= of_round(f"{number}.afterCleanConsumeQueue", state_of(memory, before, hashes=True))
    return told | {"filesAfter": files_then(memory, before, abort=False, started=True)}


def effective_settings(case: Case) -> dict[str, str]:
    """What was set, and the JVM properties under the names that 5.x has for them as settings, in percent."""
    given = LAB_DEFAULTS | {name: str(value) for name, value in case["configOverrides"].items()}
    properties = {name.rpartition(".")[2]: float(value) for name, value in case.get("systemProperties", {}).items()}
    return given | {name: str(round(ratio * 100)) for name, ratio in properties.items()}


def _countable(told: Told) -> Told:
    """What can also be told without index entries: their bytes, chains and duplicates are left out."""
    for row in told.get("quiet.index", ()):
        for name in ("HashSlotCount", "sha256Used", "sha256UsedNoTimes", "duplicateEntries"):
            row.pop(name)
    return told
