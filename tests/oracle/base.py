"""A random store, written by the store classes of one version, and what of it can be damaged."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from parsers.commitlog.layout import MAGIC_V1, MAGIC_V2, RECORD_START
from parsers.commitlog.message import Message, decode_message
from parsers.consumequeue.layout import CQ_UNIT
from recovery.rules.versions import BrokerVersion
from tests.support.java_lab import run_lab

Exit = Literal["clean", "halt"]
LOG_SIZES = (32_768, 65_536, 131_072)
QUEUE_SIZES = (600, 1_200, 2_000)
INDEX_SIZES = ((50, 300), (64, 500), (100, 700), (200, 2_000))
HALTED = 9


@dataclass(frozen=True, slots=True)
class Plan:
    """How a base is written; the same seed gives the same plan, and messages but for their times."""

    version: str
    seed: int
    exit: Exit
    messages: int
    millis: int
    settings: dict[str, str]

    @classmethod
    def of(cls, version: str, seed: int, exit: Exit) -> Plan:
        chance = random.Random(f"{version} {seed} {exit}")
        slots, entries = chance.choice(INDEX_SIZES)
        settings = {
            "mappedFileSizeCommitLog": str(chance.choice(LOG_SIZES)),
            "mappedFileSizeConsumeQueue": str(chance.choice(QUEUE_SIZES)),
            "maxHashSlotNum": str(slots),
            "maxIndexNum": str(entries),
        }
        if chance.random() < 0.3:
            settings["flushDiskType"] = "SYNC_FLUSH"
        if chance.random() < 0.3 and BrokerVersion.parse(version) >= BrokerVersion.parse("5.2.0"):
            settings["enabledAppendPropCRC"] = "true"
        millis = chance.choice((300, 1_500, 5_000, 12_000, 21_000))
        return cls(version, seed, exit, chance.randrange(250, 700), millis, settings)

    @property
    def name(self) -> str:
        return f"r{self.version.replace('.', '')}-{self.exit}-{self.seed}"


@dataclass(frozen=True, slots=True)
class Record:
    """One message of the base's log: its file, its place there, and its fields."""

    file: str
    file_pos: int
    message: Message

    @property
    def end(self) -> int:
        return self.file_pos + self.message.total_size

    @property
    def topic_at(self) -> int:
        """Where the length of the topic stands."""
        return self.body_at + len(self.message.body)

    @property
    def body_at(self) -> int:
        wide = sum(12 for flag in (16, 32) if self.message.sys_flag & flag)
        return self.file_pos + 88 + wide

    @property
    def store_time_at(self) -> int:
        return self.file_pos + 56 + (12 if self.message.sys_flag & 16 else 0)

    @property
    def properties_at(self) -> int:
        """Where the length of the properties stands."""
        topic = len(self.message.topic.encode())
        return self.topic_at + (2 if self.message.magic_code == MAGIC_V2 else 1) + topic


@dataclass(frozen=True, slots=True)
class Base:
    """A store on disk as its writer left it. `flushed`: how far each file set was forced to disk before a halt."""

    plan: Plan
    root: Path
    records: list[Record]
    flushed: dict[str, Any] | None

    def files(self, folder: str) -> list[str]:
        """Paths of the numbered files in a folder, in their order."""
        found = (path for path in (self.root / folder).iterdir() if path.is_file() and path.name.isdigit())
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def queues(self) -> list[str]:
        """Folders of the queues that have files."""
        return sorted(
            path.relative_to(self.root).as_posix()
            for path in (self.root / "consumequeue").glob("*/*")
            if path.is_dir() and any(path.iterdir())
        )

    def units(self, file: str) -> int:
        """How many units a queue file starts with."""
        sizes = CQ_UNIT.array((self.root / file).read_bytes())["msg_size"]
        return int(np.argmax(sizes <= 0)) if (sizes <= 0).any() else len(sizes)

    def index_files(self) -> list[str]:
        return self.files("index") if (self.root / "index").is_dir() else []

    def size(self, file: str) -> int:
        return (self.root / file).stat().st_size

    def physical_offset(self, record: Record) -> int:
        return int(Path(record.file).name) + record.file_pos


def write_base(plan: Plan, folder: Path) -> Base:
    """Have the store classes write the store that was planned."""
    root = folder / plan.name
    root.mkdir(parents=True)
    settings = [f"{name}={value}" for name, value in plan.settings.items()]
    count = plan.messages if plan.exit == "clean" else 0
    arguments = [str(root), plan.exit, str(plan.seed), str(count), str(plan.millis), *settings]
    done = run_lab(plan.version, "vary", *arguments)
    if done != (HALTED if plan.exit == "halt" else 0):
        raise RuntimeError(f"the store classes of {plan.version} did not write {plan.name}: they ended with {done}")
    (root / "lock").unlink(missing_ok=True)
    return read_base(plan, root)


def read_base(plan: Plan, root: Path) -> Base:
    flushed = root.with_name(f"{root.name}.flushed.json")
    records = [record for file in sorted((root / "commitlog").iterdir()) for record in _records(root, file)]
    return Base(plan, root, records, json.loads(flushed.read_text()) if flushed.exists() else None)


def _records(root: Path, file: Path) -> list[Record]:
    content, at, found = file.read_bytes(), 0, list[Record]()
    while at + RECORD_START.size <= len(content):
        if RECORD_START.unpack(content, at)["magic_code"] not in (MAGIC_V1, MAGIC_V2):
            break
        found.append(Record(file.relative_to(root).as_posix(), at, decode_message(content, at)))
        at = found[-1].end
    return found
