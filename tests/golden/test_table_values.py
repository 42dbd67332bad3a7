"""Columns that are documented to hold one of a few values: what the readers write into them is among those.

`docs/tables.md` prints the values from the same declarations (`tests/unit/test_tables.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.batches.segment import regions_of
from parsers.commitlog.record.layout import compression, transaction_type
from parsers.config.offsets import read_offsets
from parsers.queues.store_queues import read_units
from parsers.store.store import Store, open_store
from pipelines.lake.tables.raw import TABLES
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import forecast
from recovery.knowledge.knowledge import knowledge_of
from recovery.verify.findings.kinds import KINDS
from recovery.verify.verify import verify
from tests.support.incidents import incident
from tests.support.stores import store_root

ALL_SYS_FLAGS = range(1 << 12)
SEEN = {
    ("commitlog_messages", "transaction_type"): {"none", "prepared", "commit", "rollback"},
    ("commitlog_messages", "compression"): {"zlib", "lz4", "zstd"},
    ("commitlog_regions", "kind"): {"messages", "unwritten"},
    ("consumequeue_units", "tags_code_kind"): {"tag_hash", "delivery_time"},
    ("consumequeue_units", "kind"): {"unit"},
    ("offset_snapshots", "kind"): {"committed"},
    ("consistency_findings", "severity"): {"critical", "error", "warning", "info"},
    ("recovery_forecast", "exit"): {"normal", "abnormal"},
    ("store_files", "kind"): {"commitlog", "consumequeue", "index", "config", "checkpoint"},
}
"""What these stores hold at least, so that the test compares something."""


def _stores() -> Iterator[Store]:
    yield open_store(incident("5.3.3-retry-dlq").root)
    yield open_store(incident("5.3.3-kill9").killed_root)
    yield open_store(store_root("5.3.3-clean"))


def _written() -> Iterator[tuple[str, str, object]]:
    """Table, column and value, as the readers of `parsers` and the judges of `recovery` write them."""
    for flag in ALL_SYS_FLAGS:
        yield "commitlog_messages", "transaction_type", transaction_type(flag)
        yield "commitlog_messages", "compression", compression(flag)
    for kind in KINDS.values():
        yield "consistency_findings", "severity", kind.severity
    for store in _stores():
        yield from _written_of(store)


def _written_of(store: Store) -> Iterator[tuple[str, str, object]]:
    for batch in read_commitlog(store, columns=("transaction_type", "compression")):
        for name in batch.schema.names:
            yield from (("commitlog_messages", name, value) for value in batch.column(name).unique().to_pylist())
    for file in store.commitlog:
        yield from (("commitlog_regions", "kind", region.kind) for region in regions_of(file))
    for files in store.queues.values():
        for batch in read_units(files[0]):
            for name in ("kind", "tags_code_kind"):
                yield from (("consumequeue_units", name, value) for value in batch.column(name).to_pylist())
    yield from (("offset_snapshots", "kind", offset.kind) for _, offset in read_offsets(store.config))
    yield from (("store_files", "kind", file.kind) for file in store.files())
    known = knowledge_of(store)
    yield from (("consistency_findings", "severity", found.severity) for found in verify(store, known).findings)
    told = forecast(store, known, with_advice=False)
    yield "recovery_forecast", "exit", forecast_document(told)["exit"]


@pytest.fixture(scope="module")
def written() -> dict[tuple[str, str], set[object]]:
    found: dict[tuple[str, str], set[object]] = {}
    for table, column, value in _written():
        found.setdefault((table, column), set()).add(value)
    return found


@pytest.mark.parametrize("column", SEEN, ids=".".join)
def test_readers_write_the_values_that_are_declared(
    column: tuple[str, str], written: dict[tuple[str, str], set[object]]
) -> None:
    table, name = column
    (declared,) = (each for each in TABLES[table].columns if each.name == name)
    assert SEEN[column] <= written[column]
    assert written[column] - {None} <= set(declared.values)
    assert declared.comment.endswith(", ".join(declared.values))


def test_a_value_can_only_be_declared_of_a_column() -> None:
    with pytest.raises(ValueError, match="no such columns"):
        TABLES["lag"].holding(state=("number",))
