"""A random store, written by the store classes of one version or of several, and what of it can be damaged."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from parsers.commitlog.record.layout import MAGIC_V1, MAGIC_V2, RECORD_START
from parsers.commitlog.record.message import Message, decode_message
from parsers.consumequeue.layout import CQ_UNIT
from recovery.rules.versions import BrokerVersion
from tests.support.java_lab import run_lab
from tests.support.log_folders import NAME, log_files

Exit = Literal["clean", "halt"]
LOG_SIZES = (32_768, 65_536, 131_072)
QUEUE_SIZES = (600, 1_200, 2_000)
INDEX_SIZES = ((50, 300), (64, 500), (100, 700), (200, 2_000))
LIGHT_QUEUES = {"enableLmq": "true", "enableMultiDispatch": "true"}
VERSIONS = ("4.9.8", "5.3.1", "5.3.3", "5.5.1")
HALTED = 9


@dataclass(frozen=True, slots=True)
class Life:
    """One run of a broker over the store: which version, how it ends, and what is done half-way.

    Attributes:
        messages: how many are put before a clean exit; a halt comes after `millis`.
        lab: settings of the lab (`Oracle#write`): log files that expire, a topic that is deleted.
    """

    version: str
    exit: Exit
    messages: int
    millis: int
    lab: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a base is written; the same seed gives the same plan, and messages but for their times.

    `former`: the runs of brokers before the last one, of `version` or earlier ones; none goes back to an older version,
    which would cut the log at the first record that it does not know.
    """

    version: str
    seed: int
    exit: Exit
    messages: int
    millis: int
    settings: dict[str, str]
    former: tuple[Life, ...] = ()
    lab: Mapping[str, str] = field(default_factory=dict)

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
        elif chance.random() < 0.2:
            settings["transientStorePoolEnable"] = "true"
        if chance.random() < 0.3 and BrokerVersion.parse(version) >= BrokerVersion.parse("5.2.0"):
            settings["enabledAppendPropCRC"] = "true"
        millis = chance.choice((300, 1_500, 5_000, 12_000, 21_000))
        messages = chance.randrange(250, 700)
        lab = _half_way(chance)
        if chance.random() < 0.2:
            settings |= LIGHT_QUEUES
            lab["lab.light"] = "true"
        lives = [_former_life(version, chance, lab) for _ in range(chance.choice((0, 0, 0, 1, 1, 2)))]
        former = tuple(sorted(lives, key=lambda life: BrokerVersion.parse(life.version)))
        settings |= _ext(random.Random(f"ext {version} {seed} {exit}"))
        settings |= _log_folders(random.Random(f"folders {version} {seed} {exit}"))
        return cls(version, seed, exit, messages, millis, settings, former, lab)

    @property
    def lives(self) -> tuple[Life, ...]:
        """Every run of a broker, in order."""
        return (*self.former, Life(self.version, self.exit, self.messages, self.millis, self.lab))

    @property
    def log_folders(self) -> list[str]:
        """The folders of the log, below the root."""
        return self.settings.get("storePathCommitLog", NAME).split(",")

    @property
    def is_as_dispatched(self) -> bool:
        """Queues and index are what dispatch of the whole log makes: one broker from the first message to the last."""
        return self.exit == "clean" and not self.former and not self.lab.keys() - {"lab.light"}

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

    def log_files(self) -> list[str]:
        """Paths of the log's files, of all its folders in the order of their names."""
        found = (file for folder in self.plan.log_folders for file in self.files(folder))
        return sorted(found, key=lambda file: Path(file).name)

    def files(self, folder: str) -> list[str]:
        """Paths of the numbered files in a folder, in their order."""
        found = (path for path in (self.root / folder).glob("*") if path.is_file() and path.name.isdigit())
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


def _half_way(chance: random.Random) -> dict[str, str]:
    """What is done to the running broker half-way: mostly nothing."""
    done = dict[str, str]()
    if chance.random() < 0.25:
        done["lab.expire"] = str(chance.randrange(1, 4))
    if chance.random() < 0.15:
        done["lab.forget"] = chance.choice(("TopicA", "TopicB", "%RETRY%grp"))
    return done


def _log_folders(chance: random.Random) -> dict[str, str]:
    """Where the log lies: mostly in commitlog/ alone."""
    several = f"{NAME},disk2/{NAME}"
    folders = chance.choice((None, None, None, None, several, several, f"{several},disk3/{NAME}", f"disk2/{NAME}"))
    return {"storePathCommitLog": folders} if folders else {}


def _ext(chance: random.Random) -> dict[str, str]:
    """Whether units have ext units, and the size of their files."""
    if chance.random() > 0.25:
        return {}
    return {"enableConsumeQueueExt": "true", "mappedFileSizeConsumeQueueExt": str(chance.choice((200, 1_000, 1_210)))}


def _former_life(version: str, chance: random.Random, lab: Mapping[str, str]) -> Life:
    earlier = [one for one in VERSIONS if BrokerVersion.parse(one) <= BrokerVersion.parse(version)]
    exit: Exit = chance.choice(("clean", "halt"))
    kept = {name: value for name, value in lab.items() if name == "lab.light"}
    return Life(
        chance.choice((version, *earlier)),
        exit,
        chance.randrange(60, 300),
        chance.choice((300, 1_500, 5_000)),
        {**_half_way(chance), **kept},
    )


def write_base(plan: Plan, folder: Path) -> Base:
    """Have the store classes write the store that was planned, one run of a broker after the other."""
    root = folder / plan.name
    root.mkdir(parents=True)
    for number, life in enumerate(plan.lives):
        _flushed(root).unlink(missing_ok=True)
        _run(life, plan, number, root)
        (root / "lock").unlink(missing_ok=True)
    return read_base(plan, root)


def _flushed(root: Path) -> Path:
    """Where a broker that halts writes down how far it had forced each file set."""
    return root.with_name(f"{root.name}.flushed.json")


def _run(life: Life, plan: Plan, number: int, root: Path) -> None:
    known = BrokerVersion.parse(life.version) >= BrokerVersion.parse("5.2.0")
    settings = {name: value for name, value in plan.settings.items() if known or name != "enabledAppendPropCRC"}
    settings |= {**life.lab, "lab.first": str(number * 100_000)}
    count = life.messages if life.exit == "clean" else 0
    pairs = [f"{name}={value}" for name, value in settings.items()]
    arguments = [str(root), life.exit, str(plan.seed + 500 * number), str(count), str(life.millis), *pairs]
    done = run_lab(life.version, "vary", *arguments)
    if done != (HALTED if life.exit == "halt" else 0):
        raise RuntimeError(f"the store classes of {life.version} did not write {plan.name}: they ended with {done}")


def read_base(plan: Plan, root: Path) -> Base:
    flushed = _flushed(root)
    records = [record for file in log_files(root) for record in _records(root, file)]
    return Base(plan, root, records, json.loads(flushed.read_text()) if flushed.exists() else None)


def _records(root: Path, file: Path) -> list[Record]:
    content, at, found = file.read_bytes(), 0, list[Record]()
    while at + RECORD_START.size <= len(content):
        if RECORD_START.unpack(content, at)["magic_code"] not in (MAGIC_V1, MAGIC_V2):
            break
        found.append(Record(file.relative_to(root).as_posix(), at, decode_message(content, at)))
        at = found[-1].end
    return found
