"""What a raw table is besides its columns: which files of a store hold its rows. Ingest, data sources and Dagster's
partitions follow from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from parsers.store import Store, StoreFile
from pipelines.lake.tables.table import Table


@dataclass(frozen=True, slots=True)
class FileSet:
    """The files of a store that hold the rows of a raw table; tables that are read from the same files share it.

    Attributes:
        of: the files of a store, in the order in which their rows come.
        partition: name of Dagster's partitions, one for each file; None where the tables of a broker are refreshed as
            a whole.
    """

    of: Callable[[Store], list[StoreFile]]
    partition: str | None = None


@dataclass(frozen=True, kw_only=True)
class FileTable(Table):
    """A table whose rows are read from store files: the rows of one file are one Delta partition."""

    files: FileSet
    partition_by: tuple[str, ...] = ("broker", "file")


@dataclass(frozen=True, kw_only=True)
class SnapshotTable(Table):
    """A table that keeps every state of a broker's configuration: a state is added when the broker has written it.

    Attributes:
        main_files: names of the files in config/ that hold the table, without their backups.
    """

    main_files: tuple[str, ...]
    partition_by: tuple[str, ...] = ("broker", "file")
