"""What a store, a lake, or compared replicas show of themselves before anything is asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from parsers.store.store import Store
from pipelines.answers.verdicts import verdicts_of
from pipelines.lake.configuration.sources import read_sources
from pipelines.lake.lake import Lake
from pipelines.report.drawn.figures import counted, grouped, in_bytes
from pipelines.report.facts.model import Column, PrintedTable, Section, State, texts
from pipelines.report.sections.overview import overview_section
from recovery.knowledge.knowledge import Said, knowledge_of, open_known

STORE_NEXT = (
    "Ask next: .verify() where files disagree, .forecast() what a start would do, .lag() who is behind, "
    ".find(topic=…, key=…), .messages(topic=…, limit=…), .who(message_id)."
)
LAKE_NEXT = 'Ask next: .sql("SELECT …"), .tables() what there is to ask, .questions() the stored questions.'
PAIRS = [
    Column("left", "replica"),
    Column("right", "other"),
    *texts("relation"),
    Column("common_prefix_end_offset", "equal until byte", True),
    Column("summary", "in words"),
]


def store_outline(root: Path, said: Said, queues: PrintedTable) -> Section:
    """The files of a store by what is in them, its version and how it was left, and its queues. Raises NotAStore."""
    store = open_known(root, said, needs_log=False)
    known = knowledge_of(store, said)
    version = f"RocketMQ {known.version}{'' if known.version_is_said else ' (taken from the files)'}"
    verdict = f"{root}: {version}; {_log(store)}; {_left(store)}."
    remarks = [f"not understood: {file.path}: {file.why}" for file in store.not_understood]
    return Section("store", str(root), verdict, tables=[queues], remarks=[*remarks, STORE_NEXT])


def _log(store: Store) -> str:
    if store.log_not_found is not None:
        return store.log_not_found
    if not store.commitlog:
        return "no file of a CommitLog"
    written = datetime.fromtimestamp(max(file.mtime_ns for file in store.commitlog) / 1e9, UTC)
    size = in_bytes(sum(file.size for file in store.commitlog))
    return f"{counted(len(store.commitlog), 'CommitLog file')}, {size}, last written {written:%Y-%m-%d %H:%M:%S} UTC"


def _left(store: Store) -> str:
    return "`abort` is there: the broker runs, or did not stop in order" if store.abort_present else "stopped in order"


def lake_outline(config: Path) -> Section:
    """The brokers of a lake beside each other, the one that needs a look first. Raises SourcesError."""
    sources = read_sources(config)
    brokers = overview_section(verdicts_of(Lake(sources.lake), sources), linked=False)
    verdict = f"{config}: {brokers.verdict}"
    return Section("lake", str(config), verdict, brokers.state, tables=brokers.tables, remarks=[LAKE_NEXT])


def compared_outline(document: Mapping[str, Any]) -> Section:
    """What follows from a comparison of replicas, pair by pair."""
    pairs = [{**pair, "common_prefix_end_offset": pair["common_prefix_end"]} for pair in document["pairs"]]
    even = all(pair["relation"] == "level" for pair in pairs)
    state: State = "good" if even and pairs else "finding" if document["warnings"] else "plain"
    remarks = [*document["warnings"], *document["steps"], "Ask next: .differences(), a row for each."]
    named = f"{grouped(len(document['replicas']))} replicas"
    return Section(
        "replicas", named, document["conclusion"], state, tables=[PrintedTable(PAIRS, pairs)], remarks=remarks
    )
