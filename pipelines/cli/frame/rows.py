"""What the rows of an output are called: the columns of its table, and the file they come from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from parsers.places import name_below, printable_name

if TYPE_CHECKING:
    import pyarrow as pa

    from pipelines.lake.tables.table import Table


def schema_of(table: Table, *, without: Iterable[str] = ()) -> pa.Schema:
    """The table's schema for output, some columns left out."""
    import pyarrow as pa

    dropped = set(without)
    return pa.schema([field for field in table.bare_schema if field.name not in dropped])


def place_of(path: Path, root: Path) -> str:
    """The file as rows name it: by `name_below` in a store, by its own name when it was given alone."""
    return printable_name(path.name if path == root else name_below(root, path))
