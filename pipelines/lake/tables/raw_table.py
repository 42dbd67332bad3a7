"""What a raw table is besides its columns: which files of a store hold its rows. Ingest, data sources and Dagster's
partitions follow from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from pipelines.lake.tables.table import Table, columns

PACKED = ("broker",)
ORIGIN = columns("""
broker text which broker's store, as named in rocketlens.toml
file   text path below the store root, e.g. commitlog/00000000000000000000
""")
"""The first columns of each raw table."""


@dataclass(frozen=True, slots=True)
class FileSet:
    """The files of a store that hold the rows of a raw table; tables that are read from the same files share it.

    Attributes:
        of: the files of a store, in the order in which their rows come.
        evidence: what they are among Dagster's external assets, a name of `pipelines.defs.assets.evidence.PLACES`; None
            where they are all files of a store.
        partition: name of Dagster's partitions, one for each file; None where the tables of a broker are refreshed as
            a whole.
    """

    of: Callable[[Store], list[StoreFile]]
    evidence: str | None = None
    partition: str | None = None


@dataclass(frozen=True, kw_only=True)
class FileTable(Table):
    """A table whose rows are read from store files.

    Attributes:
        partition_by: (broker, file) where the rows of one file are parts of their own; (broker,) where a store has many
            small files, whose rows are packed into common parts (`pipelines.lake.delta.packed`).
    """

    files: FileSet
    partition_by: tuple[str, ...] = ("broker", "file")

    @property
    def is_packed(self) -> bool:
        """Whether a part holds the rows of several files."""
        return self.partition_by == PACKED


@dataclass(frozen=True, kw_only=True)
class SnapshotTable(Table):
    """A table that keeps every state of a broker's configuration: a state is added when the broker has written it.

    Attributes:
        main_files: names of the files in config/ that hold the table, without their backups.
    """

    main_files: tuple[str, ...]
    partition_by: tuple[str, ...] = ("broker", "file")
