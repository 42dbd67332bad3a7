"""What an ingest of one broker has to do: the files whose rows in the lake are not those of the file as it is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parsers.store.places import name_below
from parsers.store.store import Store
from pipelines.ingest.ingested import IngestedFiles
from pipelines.ingest.made_from import MadeFrom, all_inputs, store_inputs
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.tables.raw import FILE_TABLES, QUEUES


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference of one store and the lake.

    Attributes:
        files: by table, the files to read.
        queues: whether the broker's queues and configuration were made from other files than these.
        state: a text that is another one as soon as anything of this is.
    """

    files: Mapping[str, list[str]]
    queues: bool
    state: str

    def __bool__(self) -> bool:
        return self.queues or any(self.files.values())

    @property
    def count(self) -> int:
        """Files that some table lacks, each counted once."""
        return len({name for names in self.files.values() for name in names})


def changes_of(broker: BrokerSource, store: Store, ingested: IngestedFiles, made: MadeFrom) -> Changes:
    """Compare a store with what the lake holds of it. Reads three pages of a file at most, and writes nothing."""
    files = stale_files(store, ingested)
    present = {name_below(store.root, file.path) for file in store.files()}
    inputs = {broker.name: store_inputs(broker, {k: v for k, v in ingested.known.items() if k in present})}
    looks = [(table, name, repr(ingested.seen.get(name))) for table, names in files.items() for name in names]
    return Changes(files, bool(made.changed(QUEUES.name, inputs)), all_inputs(inputs, looks))


def stale_files(store: Store, ingested: IngestedFiles) -> dict[str, list[str]]:
    """By table, the files whose rows in the lake are not those of the file as it is now; from now on they count as
    looked at."""
    return {table.name: ingested.stale(table.name, store, table.files.of(store)) for table in FILE_TABLES}
