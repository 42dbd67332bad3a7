"""What every table is read from: the files of brokers, their logs, captures. Nothing here makes or changes them."""

from __future__ import annotations

import dagster as dg

from pipelines.defs.care import OWNERS
from pipelines.lake.tables.raw_table import FileSet

PLACES = {
    "commitlog": "CommitLog files below `storePathCommitLog`: every message of every topic, in the order of storing.",
    "consumequeue": "ConsumeQueue files, or the database that takes their place: which message of a queue is where.",
    "consumequeue_ext": "ConsumeQueueExt files: what units of queues lead to where enableConsumeQueueExt is on.",
    "compaction": "Copies of compacted topics, a log for each queue.",
    "index": "IndexFiles: from message keys to CommitLog positions.",
    "timerlog": "Timer log and timer wheel: delayed messages that wait for their time.",
    "checkpoint": "The file `checkpoint`: up to when the broker had flushed what.",
    "epochs": "The file `epochFileCheckpoint`: which master wrote which part of the CommitLog, in controller mode.",
    "config": "Files of `config/`, or their databases: topics, groups, offsets.",
    "broker_logs": "`logs` of a [[broker]] in rocketlens.toml: broker.log and the logs beside it.",
    "client_logs": "`logs` of a [[client]] in rocketlens.toml: what consumers wrote.",
    "captures": "`files` of a [[capture]] in rocketlens.toml: recorded traffic at a broker, polled states.",
}
"""Name of an external asset -> what it is."""


KEYS = {name: dg.AssetKey(["evidence", name]) for name in PLACES}


def evidence(*names: str) -> list[dg.AssetKey]:
    """The keys of these external assets. Raises KeyError for a name that is none."""
    return [KEYS[name] for name in names]


EVIDENCE = [
    dg.AssetSpec(KEYS[name], group_name="evidence", description=f"{what} Only ever read.", owners=OWNERS["evidence"])
    for name, what in PLACES.items()
]
RECORDED = ("broker_logs", "client_logs", "captures")
WHOLE_STORE = evidence(*(name for name in PLACES if name not in RECORDED))
RECORDINGS = evidence(*RECORDED)


def read_from(files: FileSet) -> list[dg.AssetKey]:
    """The keys of the external assets that these files of a store are."""
    return WHOLE_STORE if files.evidence is None else evidence(files.evidence)
