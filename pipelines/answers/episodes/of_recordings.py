"""What held while groups fell behind, by recordings of a cluster: of the store's broker only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import pyarrow as pa

from parsers.damage.errors import unheard
from parsers.store.store import Store
from pipelines.answers.episodes.conditions import Conditions, Told, absences_of, conditions_of, store_times
from pipelines.answers.episodes.of_store import mean_record_size
from pipelines.answers.recorded.heard import Heard
from pipelines.answers.recorded.ownership_rows import rows_to_batches
from pipelines.lake.tables.ownership import OWNERSHIP_ANOMALIES, OWNERSHIP_INTERVALS


def conditions_of_recordings(heard: Heard, store: Store) -> tuple[Conditions, str | None]:
    """What held meanwhile, and why nothing is taken from the recordings: None where something is."""
    if heard.history is None:
        return Conditions(store_times=store_times(heard.store_log)), None
    owned = list(_rows(rows_to_batches(OWNERSHIP_INTERVALS.bare_schema, heard.history.intervals)))
    wrong = list(_rows(rows_to_batches(OWNERSHIP_ANOMALIES.bare_schema, heard.history.anomalies)))
    brokers = heard.brokers()
    if brokers is None:
        return Conditions(), heard.why_no_broker()
    told = Told(
        heard.behind,
        absences_of(heard.record),
        heard.record.covered,
        max([heard.until_ms, *(end for _, end in heard.record.covered)]),
        mean_record_size(store, unheard),
        store_times(heard.store_log),
    )
    return conditions_of(_of(brokers, owned), _of(brokers, wrong), told), None


def _of(brokers: Collection[str], rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (row for row in rows if row["broker"] is None or row["broker"] in brokers)


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    return (row for batch in batches for row in batch.to_pylist())
