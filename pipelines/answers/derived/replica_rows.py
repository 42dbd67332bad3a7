"""The replicas of rocketlens.toml compared, as rows of `replica_differences`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from parsers.damage.errors import Damage, UnreadableFile
from parsers.store.store import NotAStore
from pipelines.lake.configuration.addressed_stores import at_hand
from pipelines.lake.configuration.broker_stores import known_store_of
from pipelines.lake.configuration.sources import ReplicaGroup, Sources
from pipelines.objects.view import BytesRefused
from recovery.compare.comparison import compare
from recovery.compare.replica import Replica
from recovery.compare.written.rows import as_dicts

Row = dict[str, Any]


def replica_rows(sources: Sources) -> tuple[list[Row], list[str]]:
    """Rows for every group of replicas, and a sentence for each that could not be compared, or not in full."""
    rows: list[Row] = []
    problems: list[str] = []
    for group in sources.replicas:
        lost: list[Damage] = []
        try:
            rows += _rows(sources, group, lost)
        except (NotAStore, UnreadableFile, BytesRefused) as why:
            problems.append(f"replicas {', '.join(group.brokers)}: {why}")
        problems += [f"{each.path}: {each.reason}" for each in lost]
    return sorted(rows, key=lambda row: str(row["left"])), problems


def _rows(sources: Sources, group: ReplicaGroup, lost: list[Damage]) -> Sequence[Row]:
    brokers = list(map(sources.broker, group.brokers))
    with ExitStack() as hands:
        for broker in brokers:
            hands.enter_context(at_hand(broker.view))
        replicas = [Replica.of(broker.name, *known_store_of(broker), lost.append) for broker in brokers]
        return list(as_dicts(compare(replicas, group_size=group.group_size, damage=lost.append)))
