"""Every asset in one process and one Spark session: what the demo and the tests run; no daemon needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import dagster as dg
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from pipelines.defs.asset_failure import failure_of
from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.partitions import BROKERS, FILE_PARTITIONS, TABLES_BY_PARTITION, keys_of
from pipelines.lake.configuration.broker_stores import store_of

Progress = Callable[[str], None]


@dataclass(slots=True)
class Outcome:
    """What was materialized, and the asset checks: (asset, check) -> None where it passed, else how severe it is."""

    assets: list[str] = field(default_factory=list)
    checks: dict[tuple[str, str], dg.AssetCheckSeverity | None] = field(default_factory=dict)

    @property
    def failed_checks(self) -> list[str]:
        """Checks that show something wrong."""
        return self._of(dg.AssetCheckSeverity.ERROR)

    @property
    def warnings(self) -> list[str]:
        """Checks that show something worth a look, such as dead letters."""
        return self._of(dg.AssetCheckSeverity.WARN)

    def _of(self, severity: dg.AssetCheckSeverity) -> list[str]:
        return sorted(f"{asset}.{check}" for (asset, check), found in self.checks.items() if found is severity)


@dataclass(frozen=True, slots=True)
class Stage:
    """Assets of one run: those of one partitions definition (its name, and the keys to make), or the derived ones."""

    title: str
    selection: dg.AssetSelection
    partitions: str | None = None
    keys: tuple[str, ...] = ()


def stages(lakehouse: Lakehouse, derived: dg.AssetSelection) -> Iterator[Stage]:
    """The runs that bring every asset up to date, in order."""
    files: dict[str, list[str]] = {name: [] for name in TABLES_BY_PARTITION}
    with lakehouse.stores() as sources:
        for broker in sources.brokers:
            for name, keys in keys_of(broker, store_of(broker)).items():
                files[name] += keys
    for name, tables in TABLES_BY_PARTITION.items():
        if files[name]:
            names = [table.name for table in tables]
            yield Stage(" and ".join(names), dg.AssetSelection.assets(*names), name, tuple(files[name]))
    per_broker = dg.AssetSelection.groups("store", "config") - dg.AssetSelection.assets(*FILE_PARTITIONS)
    each = tuple(broker.name for broker in sources.brokers)
    yield Stage("queues, checkpoints and configuration", per_broker, str(BROKERS.name), each)
    yield Stage("everything derived", derived)


def materialize_everything(
    definitions: dg.Definitions, instance: dg.DagsterInstance, lakehouse: Lakehouse, progress: Progress | None = None
) -> Outcome:
    """Run every asset and every check. Raises AssetFailed for the first stage with an asset that cannot be made."""
    outcome = Outcome()
    derived = dg.AssetSelection.all() - dg.AssetSelection.groups("store", "config")
    for stage in stages(lakehouse, derived):
        if progress:
            progress(stage.title)
        materialize_stage(definitions, instance, lakehouse, stage, outcome)
    return outcome


def materialize_stage(
    definitions: dg.Definitions, instance: dg.DagsterInstance, lakehouse: Lakehouse, stage: Stage, outcome: Outcome
) -> None:
    """Run the assets of one stage and their checks, and add them to the outcome. Raises AssetFailed."""
    tags = {}
    if stage.partitions is not None:
        instance.add_dynamic_partitions(stage.partitions, list(stage.keys))
        ordered = [key for key in instance.get_dynamic_partitions(stage.partitions) if key in set(stage.keys)]
        tags = {ASSET_PARTITION_RANGE_START_TAG: ordered[0], ASSET_PARTITION_RANGE_END_TAG: ordered[-1]}
    done = dg.materialize(
        [*(definitions.assets or ()), *(definitions.asset_checks or ())],  # type: ignore[list-item]
        selection=stage.selection,
        instance=instance,
        resources={"lakehouse": lakehouse},
        tags=tags,
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        raise_on_error=False,
    )
    if failure := failure_of(done):
        raise failure
    materialized = (event.asset_key for event in done.get_asset_materialization_events())
    outcome.assets += [key.to_user_string() for key in materialized if key is not None]
    for evaluation in done.get_asset_check_evaluations():
        severity = None if evaluation.passed else evaluation.severity
        outcome.checks[evaluation.asset_key.to_user_string(), evaluation.check_name] = severity
