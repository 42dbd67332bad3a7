"""The messages in log files that a repair moves out of the store: what it costs, counted from the bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from parsers.commitlog.files.logfile import open_log
from parsers.damage.errors import StoreFormatError
from parsers.store.store_file import StoreFile
from recovery.broker.store_folder import Entry, Evidence
from recovery.forecast.losses import runs_of
from recovery.lives.life import TopicLives
from recovery.scan.kernel import ScanBatch
from recovery.scan.log_runs import LogGap
from recovery.scan.scanner import LogScanner

Longs = npt.NDArray[np.int64]


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
    records, names = batch.records, scanner.topics.names()
    living = np.ones(batch.rows, np.bool_)
    for topic, queue_id in sorted(set(zip(records.topic.tolist(), records.queue_id.tolist(), strict=True))):
        of_queue = (records.topic == topic) & (records.queue_id == queue_id)
        living &= ~of_queue | (records.physical_offset >= lives().former_before((names[topic], queue_id)))
    found: Longs = records.physical_offset[living]
    return found
