"""Files that stop a load by their name, size or place: which get a name back, which are moved away, and what the log
files among these held, counted from the bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from parsers.commitlog.files.logfile import open_log
from parsers.damage.errors import StoreFormatError
from parsers.kernels.arrays import Longs
from parsers.store.store_file import StoreFile
from recovery.broker.mapped_file_queue import file_name
from recovery.broker.store_folder import Entry, Evidence
from recovery.forecast.losses import runs_of
from recovery.forecast.repair import Repair
from recovery.lives.life import TopicLives
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.scan.kernel import ScanBatch
from recovery.scan.log_runs import LogGap
from recovery.scan.scanner import LogScanner

NAME_WITHIN = re.compile(r"(?<!\d)\d{20}(?!\d)")
"""The name of a log file with something before or behind it."""


def with_names_back(store: Evidence, settings: StoreSettings) -> Iterator[Repair]:
    """Log files of the full size that were renamed: the number in the name is what the first record says, and no file
    has that name."""
    names = {entry.name for entry in store.commitlog}
    renamed = {
        entry: name
        for entry in store.commitlog
        if (name := _former_name(entry, settings.mapped_file_size_commit_log)) and name not in names
    }
    if not renamed or len(set(renamed.values())) < len(renamed):
        return
    log = [replace(entry, name=renamed[entry]) if entry in renamed else entry for entry in store.commitlog]
    yield Repair(
        "give log files that were renamed their names back: "
        + ", ".join(f"{below(store, entry)} is to be {name}" for entry, name in renamed.items()),
        "the first record of each says that it begins there, and no file has that name",
        "nothing",
        files=tuple(below(store, entry) for entry in renamed),
        store=replace(store, commitlog=tuple(sorted(log, key=lambda entry: entry.name))),
    )


def _former_name(entry: Entry, size: int) -> str | None:
    found = NAME_WITHIN.search(entry.name)
    if found is None or entry.number is not None or entry.is_folder or entry.size != size:
        return None
    return found[0] if file_name(_base_offset(entry)) == found[0] else None


def without_strays(store: Evidence, settings: StoreSettings, version: BrokerVersion) -> Iterator[Repair]:
    """Everything that this version's load() refuses among the files of log, queues and index, moved away."""

    def stays(entry: Entry, size: int) -> bool:
        if entry.is_folder:
            return version.skips_folders_among_files
        return entry.size == size and entry.number is not None

    def stays_in_index(entry: Entry) -> bool:
        is_skipped = entry.number is None and version.skips_odd_index_names
        return is_skipped or not entry.is_folder

    log_size, queue_size = settings.mapped_file_size_commit_log, settings.consume_queue_file_size
    strays = [entry for entry in store.commitlog if not stays(entry, log_size)]
    queues = {key: tuple(e for e in entries if stays(e, queue_size)) for key, entries in store.queues.items()}
    strays += [e for entries in store.queues.values() for e in entries if not stays(e, queue_size)]
    strays += [entry for entry in store.index if not stays_in_index(entry)]
    if strays:
        yield Repair(
            "move the files that do not belong there out of the store",
            ", ".join(f"{below(store, entry)} ({_size(entry)})" for entry in strays),
            "queue files can be built again",
            files=tuple(below(store, entry) for entry in strays),
            store=replace(
                store,
                commitlog=tuple(entry for entry in store.commitlog if stays(entry, log_size)),
                queues=queues,
                index=tuple(entry for entry in store.index if stays_in_index(entry)),
            ),
        )


def _size(entry: Entry) -> str:
    return "a folder" if entry.is_folder else f"{entry.size} bytes"


def below(store: Evidence, entry: Entry) -> str:
    """The entry's name below the store root; its whole path where it lies elsewhere."""
    return str(entry.path.relative_to(store.root)) if entry.path.is_relative_to(store.root) else str(entry.path)


@dataclass(frozen=True, slots=True)
class GivenUp:
    """`messages`: readable ones in moved log files, living and in no other file of the log; `damaged_bytes`: bytes of
    those files that are no records, of which nobody can say what they held."""

    messages: int = 0
    damaged_bytes: int = 0

    def costs(self) -> str:
        """What is given up, in words; empty where the moved files hold nothing."""
        said = []
        if self.messages:
            said.append(f"{self.messages} readable messages of the moved log files are not served")
        if self.damaged_bytes:
            said.append(f"what {self.damaged_bytes} damaged bytes of the moved log files held is not known")
        return "; ".join(said)


def given_up(
    before: Evidence, after: Evidence, scanner: LogScanner, lives: Callable[[], TopicLives], lost: set[int]
) -> GivenUp:
    """What the log has before a repair and not after it. `lost`: physical offsets counted as lost already."""
    kept = {entry.path for entry in after.commitlog}
    moved = [entry for entry in before.commitlog if entry.path not in kept and not entry.is_folder and entry.size]
    damage: list[LogGap] = []
    places = [_living(batch, scanner, lives) for entry in moved for batch in _batches(entry, scanner, damage.append)]
    if not places:
        return GivenUp(0, _damaged(damage))
    gone = np.setdiff1d(np.concatenate(places), np.fromiter(lost, np.int64))
    for entry in after.commitlog:
        for batch in _batches(entry, scanner, lambda gap: None):
            gone = np.setdiff1d(gone, batch.records.physical_offset, assume_unique=True)
    return GivenUp(len(gone), _damaged(damage))


def _damaged(gaps: list[LogGap]) -> int:
    return sum(gap.length for gap in gaps if gap.kind == "damage")


def _batches(entry: Entry, scanner: LogScanner, gaps: Callable[[LogGap], None]) -> Iterator[ScanBatch]:
    for run in runs_of(entry, _base_offset(entry), gaps):
        yield scanner.scan(run.data, run.positions)


def _base_offset(entry: Entry) -> int:
    """The number in the name; of a copy under another name what its first record says."""
    try:
        return open_log(StoreFile(entry.path, "commitlog", entry.size, 0, entry.number)).base_offset
    except StoreFormatError:
        return 0


def _living(batch: ScanBatch, scanner: LogScanner, lives: Callable[[], TopicLives]) -> Longs:
    """Physical offsets of the messages that are not of a life that is over."""
    records, names = batch.records, scanner.topics.names
    living = np.ones(batch.rows, np.bool_)
    for topic, queue_id in sorted(set(zip(records.topic.tolist(), records.queue_id.tolist(), strict=True))):
        of_queue = (records.topic == topic) & (records.queue_id == queue_id)
        living &= ~of_queue | (records.physical_offset >= lives().former_before((names[topic], queue_id)))
    found: Longs = records.physical_offset[living]
    return found
