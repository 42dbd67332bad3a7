"""What an asset shows in Dagster: columns with their meaning, rows, Delta version, one small plot."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Mapping, Sequence

import dagster as dg

from pipelines.lake.lake import Lake
from pipelines.lake.tables.table import Column, Table, type_name

SAMPLE_ROWS, SAMPLE_CHARACTERS, CELL_CHARACTERS, LABEL_CHARACTERS, BARS = 5, 32, 120, 41, 12
EXACT_IN_A_BROWSER = 2**53


def column_schema(table: Table) -> dg.TableSchema:
    """The declared columns, as Dagster's catalogue shows them."""
    return dg.TableSchema(
        columns=[dg.TableColumn(name=c.name, type=type_name(c.type), description=c.comment) for c in table.columns]
    )


def column_lineage(table: Table, upstream: Sequence[Table]) -> dg.TableColumnLineage:
    """Columns that a derived table has in common with the tables it is made from come from there."""

    def sources(column: Column) -> list[dg.TableColumnDep]:
        return [
            dg.TableColumnDep(asset_key=dg.AssetKey(origin.name), column_name=column.name)
            for origin in upstream
            if column.name in origin.schema.names
        ]

    return dg.TableColumnLineage(deps_by_column={c.name: sources(c) for c in table.columns if sources(c)})


def table_metadata(
    lake: Lake, table: Table, rows: int, **further: dg.RawMetadataValue
) -> dict[str, dg.RawMetadataValue]:
    """The metadata every table's materialization carries."""
    version = lake.version(table.name)
    return {
        "dagster/row_count": rows,
        "delta_version": -1 if version is None else version,
        "delta_table": dg.MetadataValue.path(str(lake.table_root(table.name))),
        **({"sample": sample(lake, table)} if rows else {}),
        **further,
    }


def sample(lake: Lake, table: Table) -> dg.TableMetadataValue:
    """Some rows, their texts cut to what stays on one line, without columns that none of them has."""
    found = lake.query(f"SELECT * FROM {table.name} LIMIT {SAMPLE_ROWS}").to_pylist()
    known = [name for name in table.bare_schema.names if any(row[name] is not None for row in found)]
    rows = [{name: row[name] for name in known} for row in found]
    schema = dg.TableSchema(columns=[column for column in column_schema(table).columns if column.name in known])
    return dg.MetadataValue.table([record(row, SAMPLE_CHARACTERS) for row in rows], schema=schema)


def record(row: Mapping[str, object], most: int = CELL_CHARACTERS) -> dg.TableRecord:
    """A row as Dagster shows it, texts with so many characters at most."""
    return dg.TableRecord({name: cell(value, most) for name, value in row.items()})


def cell(value: object, most: int = CELL_CHARACTERS) -> str | int | float | bool | None:
    """A value in a table of Dagster: numbers that a browser would round as text, bytes as hex, long text cut."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if abs(value) < EXACT_IN_A_BROWSER else str(value)
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def bar_plots(
    title: str, labels: Sequence[str], values: Sequence[float | None], unit: str
) -> dict[str, dg.MarkdownMetadataValue]:
    """The entry `plot`: bars of the largest values as a PNG inside Markdown, a few kilobytes, since the event log keeps
    it. No entry for fewer than two bars, or bars of no length: they show no more than the number of rows.

    What is not known (None) has no bar and says so, after the known ones.
    """
    if len(labels) < 2 or not any(values):
        return {}
    from matplotlib.figure import Figure

    ranked = ranked_bars(labels, values)[:BARS][::-1]
    figure = Figure(figsize=(7.6, 0.6 + 0.3 * len(ranked)), dpi=72)
    axes = figure.subplots()
    axes.barh(range(len(ranked)), [width for _, width in ranked], color="#4f43dd")
    axes.set_yticks(range(len(ranked)), [label for label, _ in ranked])
    told = title if len(labels) <= BARS else f"{title} (the first {BARS} of {len(labels)})"
    axes.set_title(told, fontsize=9, loc="left")
    axes.set_xlabel(unit, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    image = io.BytesIO()
    figure.savefig(image, format="png")
    drawn = base64.b64encode(image.getvalue()).decode()
    return {"plot": dg.MarkdownMetadataValue(f"![{title}](data:image/png;base64,{drawn})")}


def ranked_bars(labels: Sequence[str], values: Sequence[float | None]) -> list[tuple[str, float]]:
    """(label, width) of each bar, the largest first; those of unknown length last, named so."""
    pairs = list(zip(readable_labels(labels), values, strict=True))
    known = sorted(((value, label) for label, value in pairs if value is not None), reverse=True)
    unknown = sorted(label for label, value in pairs if value is None)
    return [(label, value) for value, label in known] + [(f"{label}: unknown", 0) for label in unknown]


def readable_labels(labels: Sequence[str]) -> list[str]:
    """Labels without the folders that all of them begin with. Of a long one the middle goes: names of files differ at
    their ends, those of clients at their beginnings."""
    paths = len(set(labels)) > 1 and all("/" in label and not label.startswith("/") for label in labels)
    shared = len(os.path.commonpath(labels)) if paths else 0
    return [_short(label[shared:].lstrip("/")) for label in labels]


def _short(label: str) -> str:
    half = (LABEL_CHARACTERS - 1) // 2
    return label if len(label) <= LABEL_CHARACTERS else f"{label[:half]}…{label[-half:]}"
