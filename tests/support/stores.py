"""The golden stores by kind, unpacked once per test run, with what their own broker says about them.

`tests/golden/stores/README.md` explains every kind and every file of the truth. A store is a folder
`<version>-<kind>` with `store.tar.gz`; a group (a master and its slave, nodes of one DLedger) has an archive
`store-<member>.tar.gz` for each member, and the member's truth in `truth/store-<member>/`. The name of such a member is
`<version>-<kind>/<member>`, and every function here takes it as the name of a store.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parsers.config.topics import TopicConfig
from tests.support.fixtures import CHECKOUT, GOLDEN, unpacked

STORES = GOLDEN / "stores"
DEMO = CHECKOUT / "demo"
"""What the demo brings of a store is not kept twice: its archive and part of its truth are there."""
CLASSIC_KINDS = ("clean", "ipv6", "propcrc", "lmq")
MORE_KINDS = ("cqext", "multipath", "compaction-before", "compaction-after", "pop")
GROUP_KINDS = ("ha-clean", "ha-behind", "ha-ahead", "autoswitch", "dledger3")
QUEUE_KINDS = (*CLASSIC_KINDS, *MORE_KINDS, *GROUP_KINDS, "batchcq", "dledger")

BEFORE_THE_LOSS = "its truth was taken before the power loss that its files show"
QUEUED_ALONE = "its truth has those messages alone that its queues point to"
NOT_AT_REST = "halted: its truth has no checkpoint after a shutdown"
SLAVE = "a slave: its truth has the tables of before its last look at its master"
CLOCKS = "its broker reckoned delivery times by another clock than store times, by up to some ms"
LEFT_OUT: dict[str, dict[str, str]] = {
    "checkpoint": {"4.9.7-dledger3/n0": NOT_AT_REST, "5.3.3-dledger3/n2": NOT_AT_REST},
    "config": {
        "4.9.7-dledger3/n0": "halted before it had written its groups",
        **dict.fromkeys(("4.9.7-ha-ahead/slave", "4.9.7-ha-clean/slave"), SLAVE),
        **dict.fromkeys(("5.3.3-ha-ahead/slave", "5.3.3-ha-clean/slave"), SLAVE),
    },
    "explain": {},
    "index of unique ids": dict.fromkeys(
        ("4.9.7-dledger3/n1", "4.9.7-dledger3/n2"), "its broker made no index again for messages of before the kill"
    ),
    "log": {},
    "progress": dict.fromkeys(
        ("5.3.3-compaction-after", "5.3.3-compaction-before", "5.5.0-compaction-after"), "no group had a route"
    ),
    "queues": {},
    "every message": {
        **dict.fromkeys(("4.9.7-dledger3/n0", "5.3.3-dledger3/n0"), QUEUED_ALONE),
        **dict.fromkeys(("5.3.3-dledger3/n1", "5.3.3-dledger3/n2"), QUEUED_ALONE),
    },
    "rebuild": {
        "3.2.6-clean": CLOCKS,
    },
    "verify": {},
}
"""What is not read rightly yet, or what its truth does not tell: a test's subject, the stores left out, and why."""
NEVER = dict.fromkeys(("4.9.7-ha-ahead/master", "5.3.3-ha-ahead/master"), BEFORE_THE_LOSS)


def store_names(*kinds: str, subject: str | None = None) -> list[str]:
    """The name of every golden store of these kinds, or of all; a group's members are stores.

    Args:
        subject: what is compared with the truth; the stores that `LEFT_OUT` names for it are not among them. None: the
            truth is not asked.
    """
    names = [each for name in _names(*kinds) for each in ([f"{name}/{member}" for member in members(name)] or [name])]
    left_out = {} if subject is None else NEVER | LEFT_OUT[subject]
    return [name for name in names if name not in left_out]


def since(major: int, names: list[str]) -> list[str]:
    """Those of the stores that a broker of this major version or a later one wrote."""
    return [name for name in names if int(name.partition(".")[0]) >= major]


def group_names(*kinds: str) -> list[str]:
    """`<version>-<kind>` of every golden group of these kinds, or of all."""
    return [name for name in _names(*kinds) if members(name)]


def members(name: str) -> list[str]:
    """The members of a group, such as `master` and `slave`, or `n0`, `n1` and `n2`."""
    archives = sorted((STORES / name).glob("store-*.tar.gz"))
    return [archive.name.removeprefix("store-").removesuffix(".tar.gz") for archive in archives]


def store_root(name: str) -> Path:
    """The unpacked store root. Readers never write to it, so one copy serves every test of a run."""
    group, _, member = name.partition("/")
    folder = f"store-{member}" if member else "store"
    return unpacked(_file(group, f"{folder}.tar.gz")) / folder


def group_root(name: str, member: str) -> Path:
    """The unpacked store root of one member of a group."""
    return store_root(f"{name}/{member}")


def log_setting(name: str) -> dict[str, str]:
    """`storePathCommitLog` of a store whose log is not in `commitlog` alone, for the folder it is unpacked to."""
    root = store_root(name)
    return {"storePathCommitLog": f"{root}/commitlog,{root}/disk2/commitlog"} if name.endswith("-multipath") else {}


def truth_lines(name: str, file: str) -> Iterator[dict[str, Any]]:
    """The objects of one `.jsonl.gz` of the truth."""
    with gzip.open(_truth_file(name, file), "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def truth(name: str, file: str) -> Any:
    """One `.json` of the truth, packed or not."""
    packed = _truth_file(name, f"{file}.gz")
    if packed.is_file():
        return json.loads(gzip.decompress(packed.read_bytes()))
    return json.loads(_truth_file(name, file).read_bytes())


def _names(*kinds: str) -> list[str]:
    folders = (path.name for path in STORES.iterdir() if path.is_dir())
    return sorted(name for name in folders if not kinds or name.partition("-")[2] in kinds)


def _file(name: str, *parts: str) -> Path:
    """A file of a store's folder: the demo's where only the demo has it."""
    golden = STORES.joinpath(name, *parts)
    return golden if golden.is_file() else DEMO.joinpath(name, *parts)


def _truth_file(name: str, file: str) -> Path:
    """A file of the truth. What a start left as it was is not kept twice: `recovered/X` is then `X`."""
    group, _, member = name.partition("/")
    path = f"store-{member}/{file}" if member else file
    found = _file(group, "truth", path)
    return found if found.is_file() else _file(group, "truth", path.replace("/recovered/", "/"))


def topic_truth(topic: TopicConfig) -> dict[str, Any]:
    """The topic as `broker_tables.json` has it, in the words of RocketMQ's TopicConfig."""
    return {
        "readQueueNums": topic.read_queue_nums,
        "writeQueueNums": topic.write_queue_nums,
        "perm": topic.perm,
        "topicFilterType": topic.topic_filter_type,
        "topicSysFlag": topic.topic_sys_flag,
        "order": topic.is_ordered,
        "attributes": topic.attributes,
    }
