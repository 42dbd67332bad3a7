"""Who owned which queue: logs and captures to facts on the driver, one replay per group in Spark."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipelines.lake import Lake
from pipelines.ownership_tables import HEARTBEATS, LOG_EVENTS
from pipelines.recordings import Recording, facts_of, find_recordings
from pipelines.sources import Sources
from pipelines.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rebalance.events import Fact
    from rebalance.logs.reader import LogEvent

REPLAYED = {
    "assignments": "assignments",
    "assignment_divergence": "divergence",
    "ownership_intervals": "intervals",
    "ownership_anomalies": "anomalies",
}
"""Table -> attribute of `Replay` that holds its rows."""
INSTANTS = {"at_ms": "at", "from_ms": "begin_at", "to_ms": "end_at", "last_at_ms": "last_at"}
Packed = tuple[str, bytes]
"""A table's name and some of its rows as an Arrow stream: how rows travel back from a task."""


@dataclass(slots=True)
class Evidence:
    """What the logs and captures of a configuration say, and what of them could not be read."""

    source: str
    facts: list[Fact] = field(default_factory=list)
    log_events: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def evidence_of(sources: Sources) -> Evidence:
    """Read every log and capture that the configuration names; nothing where it names none."""
    places = evidence_paths(sources)
    evidence = Evidence(os.path.commonpath([path.parent for path in places]) if places else "")
    for recording in find_recordings(places):
        for fact in facts_of(recording, evidence.problems.append, _event_sink(recording, evidence)):
            evidence.facts.append(fact)
    return evidence


def evidence_paths(sources: Sources) -> list[Path]:
    """The files that the configuration names and that are there, each once however often it is named."""
    patterns = (*sources.client_logs, *sources.captures)
    named = [broker.logs for broker in sources.brokers if broker.logs is not None]
    named += [Path(path) for pattern in patterns for path in sorted(glob(pattern, recursive=True))]
    inside = (sorted(place.rglob("*")) if place.is_dir() else [place] for place in named)
    return list({path.resolve(): path for paths in inside for path in paths if path.is_file()}.values())


def _event_sink(recording: Recording, evidence: Evidence) -> Callable[[LogEvent], None]:
    source = f"{recording.source}: {'+'.join(path.name for path in recording.paths)}"

    def keep(event: LogEvent) -> None:
        evidence.log_events.append(
            {
                "source": source,
                "line": event.record,
                "at": event.at_ms * 1000,
                "kind": event.template.name,
                "group": event.group,
                "client_id": event.client_id,
                "fields": json.dumps(event.named_fields, ensure_ascii=False),
                "raw": event.line.decode("utf-8", "replace").rstrip("\r\n"),
            }
        )

    return keep


def replay_into(spark: SparkSession, lake: Lake, evidence: Evidence) -> dict[str, int]:
    """Make the ownership tables anew from the evidence; rows by table."""
    from rebalance.replay import split_by_group

    groups = list(split_by_group(evidence.facts).items())
    packed: list[Packed] = []
    if groups:
        tasks = min(len(groups), 4 * spark.sparkContext.defaultParallelism)
        packed = spark.sparkContext.parallelize(groups, tasks).mapPartitions(_Replays(evidence.source)).collect()
    found: dict[str, list[pa.Table]] = defaultdict(list)
    for name, stream in packed:
        found[name].append(pa.ipc.open_stream(stream).read_all())
    made = (HEARTBEATS.name, *REPLAYED)
    rows = {name: lake.write(name, _joined(name, found[name]), replaced=None) for name in made}
    events = pa.Table.from_pylist(evidence.log_events, schema=LOG_EVENTS.bare_schema)
    return {**rows, LOG_EVENTS.name: lake.write(LOG_EVENTS.name, events, replaced=None)}


class _Replays:
    """Called in a worker with some groups and their facts."""

    def __init__(self, source: str) -> None:
        self.source = source

    def __call__(self, groups: Iterable[tuple[str, Sequence[Fact]]]) -> Iterator[Packed]:
        from rebalance.heartbeats import heartbeats_of
        from rebalance.replay import replay

        for _, facts in groups:
            history = replay(facts)
            yield HEARTBEATS.name, _stream(ownership_table(HEARTBEATS.name, heartbeats_of(facts), self.source))
            for name, attribute in REPLAYED.items():
                yield name, _stream(ownership_table(name, getattr(history, attribute), self.source))


def ownership_table(name: str, found: Iterable[Any], source: str) -> pa.Table:
    """Frozen rows of a replay as the table of that name."""
    schema = TABLES[name].bare_schema
    return pa.Table.from_pylist([_record(row, schema, source) for row in found], schema=schema)


def _record(row: Any, schema: pa.Schema, source: str) -> dict[str, Any]:
    cells = {INSTANTS.get(f.name, f.name): getattr(row, f.name) for f in fields(row)}
    return {f.name: source if f.name == "source" else _cell(cells[f.name], f.type) for f in schema}


def _cell(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_timestamp(kind):
        return value * 1000
    if pa.types.is_list(kind):
        return [part if isinstance(part, str) else f"{part.broker_name}:{part.queue_id}" for part in value]
    return str(value) if pa.types.is_string(kind) else value


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _joined(name: str, tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables) if tables else TABLES[name].bare_schema.empty_table()
