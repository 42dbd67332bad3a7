"""What a slave in controller mode cuts off before it copies from a master: by the epochs that both noted.

Source: EpochFileCache#findConsistentPoint, AutoSwitchHAClient#doTruncate, DefaultMessageStore#truncateFiles,
#isOffsetAligned @5.0.0 … 5.3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.checkpoints.epochs import Epoch
from parsers.values.java import LONG_MAX
from recovery.compare.logs.log_pair import LogBytes
from recovery.compare.logs.own_messages import Range, own_messages
from recovery.compare.logs.record_difference import holds_record
from recovery.compare.replica import Replica
from recovery.rules.dispatch import DispatchRules


@dataclass(frozen=True, slots=True)
class Cut:
    """A slave that meets a master.

    Attributes:
        consistent_point: the byte up to which their epochs agree; None where they share none, and it copies nothing.
        records, messages: what the slave cuts after that; the master sends again what it has of them.
        is_aligned: a record begins at the point, or nothing is to be cut: otherwise the broker refuses to cut, and
            copies nothing.
    """

    slave: str
    master: str
    consistent_point: int | None
    records: int
    messages: int
    is_aligned: bool


def cut_of(
    slave: Replica, master: Replica, slave_end: int, master_end: int, log: LogBytes, rules: DispatchRules
) -> Cut:
    """What the slave, whose bytes are `log`, cuts off; both have epochs."""
    point = consistent_point(slave.epochs or (), slave_end, master.epochs or (), master_end)
    if point is None or point >= slave_end:
        return Cut(slave.name, master.name, point, 0, 0, True)
    cut = own_messages(slave.store.commitlog, [Range(point, slave_end)], rules)
    return Cut(slave.name, master.name, point, cut.records, cut.messages, holds_record(log, point, 0))


def consistent_point(slave: Sequence[Epoch], slave_end: int, master: Sequence[Epoch], master_end: int) -> int | None:
    """The byte up to which the epochs of two replicas agree; None where they share none.

    Of the slave's newest epoch that the master has with the same start, the smaller of the two ends. An epoch that is
    still open ends where its replica's log does, if it does not begin after that.
    """
    masters = {entry.epoch: entry for entry in master}
    for entry in sorted(slave, key=lambda entry: -entry.epoch):
        other = masters.get(entry.epoch)
        if other is not None and other.start_physical_offset == entry.start_physical_offset:
            return min(_end(entry, slave_end), _end(other, master_end))
    return None


def _end(entry: Epoch, log_end: int) -> int:
    """EpochFileCache#setLastEpochEntryEndOffset."""
    if entry.end_physical_offset is not None:
        return entry.end_physical_offset
    return log_end if entry.start_physical_offset <= log_end else LONG_MAX
