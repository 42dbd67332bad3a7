"""The tables: one declaration, and everything that is made from it in step."""

from __future__ import annotations

import dagster as dg
import pyarrow as pa
import pytest

from pipelines.definitions import defs
from pipelines.lake.tables.document import DOCUMENT, document
from pipelines.lake.tables.raw import FILE_TABLES, QUEUES, SNAPSHOT_TABLES, TABLES
from pipelines.lake.tables.table import Column, Table, described, plain_type
from pipelines.spark.sources.registry import source_of


def test_the_document_is_printed_from_the_declarations() -> None:
    assert DOCUMENT.read_text("utf-8") == document(), "run `python -m pipelines.lake.tables.document`"


@pytest.mark.parametrize("name", TABLES)
def test_every_column_has_a_meaning_and_a_type_that_spark_takes(name: str) -> None:
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    table = TABLES[name]
    assert table.name == name
    assert all(column.comment.strip() for column in table.columns)
    assert len({column.name for column in table.columns}) == len(table.columns)
    assert set(table.partition_by) <= set(table.schema.names)
    spark = from_arrow_schema(table.bare_schema, prefer_timestamp_ntz=False)
    assert to_arrow_schema(spark, timezone="UTC").names == table.schema.names
    assert {field.name for field in table.schema if field.name in ("offset", "ts", "data")} == set()


@pytest.mark.parametrize("table", [*FILE_TABLES, QUEUES, *SNAPSHOT_TABLES], ids=lambda table: table.name)
def test_a_raw_table_has_a_data_source_and_an_asset(table: Table) -> None:
    assert source_of(table.name)
    assert dg.AssetKey(table.name) in defs.resolve_asset_graph().get_all_asset_keys()


def test_meanings_and_columns_may_not_drift() -> None:
    schema = pa.schema([("a", pa.dictionary(pa.int8(), pa.string())), ("b", pa.int64())])
    assert described(schema, "a first\nb second one") == (
        Column("a", pa.string(), "first"),
        Column("b", pa.int64(), "second one"),
    )
    for comments in ("a first", "a first\nb second\nc third"):
        with pytest.raises(ValueError, match="disagree"):
            described(schema, comments)
    assert plain_type(pa.binary_view()) == pa.binary()
