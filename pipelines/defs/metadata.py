"""What an asset shows in Dagster: columns with their meaning, rows, Delta version, one small plot."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

import dagster as dg

from pipelines.lake.lake import Lake
from pipelines.lake.tables.table import Column, Table, type_name


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
        **further,
    }


def bar_plot(title: str, labels: Sequence[str], values: Sequence[float | None], unit: str) -> dg.MarkdownMetadataValue:
    """Horizontal bars of the largest values as a PNG inside Markdown; a few kilobytes, since the event log keeps it.

    What is not known (None) has no bar and says so, after the known ones.
    """
    from matplotlib.figure import Figure

    ranked = ranked_bars(labels, values)[:12][::-1]
    figure = Figure(figsize=(6.4, 0.6 + 0.3 * max(1, len(ranked))), dpi=72)
    axes = figure.subplots()
    axes.barh([label for label, _ in ranked], [width for _, width in ranked], color="#4f43dd")
    axes.set_title(title, fontsize=9, loc="left")
    axes.set_xlabel(unit, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    image = io.BytesIO()
    figure.savefig(image, format="png")
    return dg.MarkdownMetadataValue(f"![{title}](data:image/png;base64,{base64.b64encode(image.getvalue()).decode()})")


def ranked_bars(labels: Sequence[str], values: Sequence[float | None]) -> list[tuple[str, float]]:
    """(label, width) of each bar, the largest first; those of unknown length last, named so."""
    pairs = list(zip(labels, values, strict=True))
    known = sorted(((value, label) for label, value in pairs if value is not None), reverse=True)
    unknown = sorted(label for label, value in pairs if value is None)
    return [(_short(label), value) for value, label in known] + [(f"{_short(label)}: unknown", 0) for label in unknown]


def _short(label: str) -> str:
    return label if len(label) <= 28 else f"{label[:27]}…"
