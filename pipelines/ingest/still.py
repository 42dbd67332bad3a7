"""Whether files stood still while something was made from them.

Sizes, times and inodes do not tell it: a file that is cut and put back with its old times, as `cp -p` over a copy does,
looks as before. The time of the last change of any kind tells it, for as long as one process looks on; it is no mark to
keep, since a copy of the same store has others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from parsers.evidence.seen import Seen, seen
from parsers.store.file_state import FileState
from pipelines.ingest.ingested import IngestedFiles
from pipelines.ingest.made_from import logs_of
from pipelines.lake.configuration.sources import BrokerSource


@dataclass(slots=True)
class StillStores:
    """The stores of a run, watched while tables are made from them.

    Attributes:
        brokers: whose stores are there.
        known: by broker, its files as they were when the lake took their rows.
        with_logs: whether the logs of the brokers count, too.
    """

    brokers: Sequence[BrokerSource]
    known: Mapping[str, IngestedFiles]
    with_logs: bool = True
    _first: dict[str, Mapping[Path, Seen | None]] = field(default_factory=dict)

    def look(self, names: Iterable[str]) -> None:
        """Take a first look at the stores of these brokers, before anything is made from them."""
        wanted = set(names) - self._first.keys()
        self._first |= {broker.name: seen(self._paths(broker)) for broker in self.brokers if broker.name in wanted}

    def moved(self) -> Set[str]:
        """Those of the brokers looked at whose store or logs have changed since, or are not as the lake took them."""
        looked = [broker for broker in self.brokers if broker.name in self._first]
        return {broker.name for broker in looked if not self._stood_still(broker)}

    def _stood_still(self, broker: BrokerSource) -> bool:
        now, files = seen(self._paths(broker)), self.known[broker.name].known
        as_read = (_is_as_taken(now[broker.store / name], file.state) for name, file in files.items())
        return now == self._first[broker.name] and all(as_read)

    def _paths(self, broker: BrokerSource) -> Iterator[Path]:
        """The files of a store, all folders that one can be renamed in, the configuration and the logs."""
        files = [broker.store / name for name in self.known[broker.name].known]
        yield from files
        yield from _folders_of(files, broker.store)
        yield from () if broker.broker_conf is None else (broker.broker_conf,)
        yield from logs_of(broker) if self.with_logs else ()


def _folders_of(files: Iterable[Path], root: Path) -> set[Path]:
    """The folders of files up to the root; of a file elsewhere, up to the top."""
    found = {root}
    for file in files:
        folder = file.parent
        while folder not in found:
            found.add(folder)
            folder = folder.parent
    return found


def changed_since(first: Mapping[Path, Seen | None], states: Mapping[Path, FileState | None]) -> set[Path]:
    """Those of the files looked at before that have changed meanwhile, or are not as when their states were taken."""
    now = seen(first)
    alike = {path for path, state in states.items() if state is None or _is_as_taken(now[path], state)}
    return {path for path in first if path not in alike or now[path] != first[path]}


def _is_as_taken(now: Seen | None, state: FileState) -> bool:
    """Whether the system says of a file what it said when its state was taken."""
    return now is not None and now[:3] == (state.size, state.modified_ns, state.inode)
