"""Replicas of one broker compared: every pair of logs and tables, the election, and what it costs to keep each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from parsers.commitlog.dledger_headers.layout import header_size
from parsers.damage.errors import DamageSink, unheard
from parsers.dledger.entries import headers_at
from parsers.store.store_file import StoreFile
from recovery.compare.advice import Advice, advise
from recovery.compare.cost import Cost, Kept, costs
from recovery.compare.election import NOTHING_NOTED, Election, Standing, elect
from recovery.compare.epochs import Cut, cut_of
from recovery.compare.logs.history import TWO_RECORDS, History, Relation, Side, history_of
from recovery.compare.logs.log_pair import LogBytes, Meets
from recovery.compare.logs.record_difference import RecordDifference, difference_at
from recovery.compare.own_dispatch import decided_by_dispatch
from recovery.compare.replica import Mode, Replica, mode_of
from recovery.compare.side_by_side import Difference, Tables, differences, tables_of
from recovery.scan.log_runs import LogGap, log_runs

MOST_RECORDS = 100
"""Altered records that are explained field by field, of each pair."""
MOST_TERMS = 1 << 16


@dataclass(frozen=True, slots=True)
class Member:
    """One replica as its files show it.

    Attributes:
        log_begin, log_end: first byte of the log and the byte after its last record; None without one.
        abort_present: its last shutdown was not in order, so that bytes it had not forced to disk may be gone.
        terms: entries of a DLedger log by term. `committed_index`: up to which entry the node knew them committed.
    """

    replica: Replica
    tables: Tables
    log_begin: int | None
    log_end: int | None
    abort_present: bool
    terms: tuple[TermRun, ...]
    committed_index: int | None

    @property
    def name(self) -> str:
        return self.replica.name

    @property
    def beyond_committed(self) -> int | None:
        """Entries of which this node alone cannot know whether they are committed; None of a log without entries."""
        if not self.terms:
            return None
        known = -1 if self.committed_index is None else self.committed_index
        return max(0, self.terms[-1].last_index - known)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two replicas.

    Attributes:
        first: the first record that they hold otherwise; None where they hold none otherwise.
        altered: records that differ though both logs have one history.
        untold: further ones, of which both logs have one.
        cuts: in controller mode what either would cut as a slave of the other.
    """

    left: Member
    right: Member
    history: History
    first: RecordDifference | None
    altered: tuple[RecordDifference, ...]
    untold: int
    differences: tuple[Difference, ...]
    cuts: tuple[Cut, ...]

    def side(self, name: str) -> Side:
        """What the replica of this name has alone."""
        return self.history.left if name == self.left.name else self.history.right

    def other(self, name: str) -> Member:
        return self.right if name == self.left.name else self.left


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole answer. `costs` has rows where something is lost, repeated, skipped or open, for each that is kept."""

    mode: Mode
    members: tuple[Member, ...]
    pairs: tuple[Pair, ...]
    election: Election
    costs: tuple[Cost, ...]
    advice: Advice


def compare(replicas: Sequence[Replica], *, group_size: int | None = None, damage: DamageSink = unheard) -> Comparison:
    """Compare two or more replicas of one broker.

    Args:
        group_size: nodes of the DLedger group; None: not known, so that its election stays open.
        damage: gets what cannot be read.
    Raises:
        ValueError: fewer than two replicas, or two of one name.
        UnreadableFile: a file became shorter meanwhile.
    """
    if len({replica.name for replica in replicas}) < max(2, len(replicas)):
        raise ValueError("two or more replicas of different names are compared")
    logs = {replica.name: LogBytes(replica.store.commitlog, damage) for replica in replicas}
    tables = {replica.name: tables_of(replica, damage) for replica in replicas}
    histories = {
        (left.name, right.name): history_of(
            left.store.commitlog, right.store.commitlog, (left.known.rules, right.known.rules), damage
        )
        for left, right in combinations(replicas, 2)
    }
    members = {replica.name: _member(replica, tables[replica.name], histories) for replica in replicas}
    pairs = tuple(
        _pair(members[left], members[right], history, logs, replicas) for (left, right), history in histories.items()
    )
    mode = mode_of(replicas)
    election = elect(mode, {name: _standing(mode, member) for name, member in members.items()}, group_size)
    rows = tuple(row for pair in pairs for row in _costs(pair))
    return Comparison(
        mode, tuple(members.values()), pairs, election, rows, advise(mode, tuple(members.values()), pairs, election)
    )


def _member(replica: Replica, tables: Tables, histories: Mapping[tuple[str, str], History]) -> Member:
    ends = [
        (history.left if left == replica.name else history.right).end
        for (left, right), history in histories.items()
        if replica.name in (left, right)
    ]
    log = replica.store.commitlog
    return Member(
        replica,
        tables,
        (log[0].base_offset or 0) if log else None,
        max((end for end in ends if end is not None), default=None),
        replica.store.abort_present,
        tuple(term_runs(log)),
        replica.state.committed_index,
    )


def _pair(
    left: Member, right: Member, history: History, logs: Mapping[str, LogBytes], replicas: Sequence[Replica]
) -> Pair:
    files = left.replica.store.commitlog
    found, untold = _altered(history, logs, files)
    altered = decided_by_dispatch([(record, _header_at(record.begin, files)) for record in found], logs, replicas)
    return Pair(
        left,
        right,
        history,
        _first(left.name, right.name, history, altered, logs, files),
        altered,
        untold,
        tuple(differences(left.tables, right.tables)),
        tuple(_cuts(left, right, logs)),
    )


def _altered(
    history: History, logs: Mapping[str, LogBytes], files: Sequence[StoreFile]
) -> tuple[list[RecordDifference], int]:
    """Records that differ although both logs have one history, and how many more there are that are not compared.

    A place that holds no record in one log is listed for the first places only, and counts as missing there in any
    case.
    """
    found: list[RecordDifference] = []
    untold = 0
    if history.relation is Relation.ALTERED_AT_END:
        last = _difference(history.agreed_until or 0, logs, files)
        found += [] if last is None else [last]
        untold += last is None
    for stretch in sorted(history.altered, key=lambda stretch: stretch.meets not in TWO_RECORDS):
        told, at = 0, stretch.begin
        while stretch.meets is not Meets.ABSENT and at < stretch.end and len(found) < MOST_RECORDS:
            record = _difference(at, logs, files)
            if record is None:
                break
            found.append(record)
            told, at = told + 1, record.end
        untold += stretch.records - told if stretch.meets in TWO_RECORDS else 0
    return found, untold


def _first(
    left: str,
    right: str,
    history: History,
    altered: Sequence[RecordDifference],
    logs: Mapping[str, LogBytes],
    files: Sequence[StoreFile],
) -> RecordDifference | None:
    """The first altered record, else the first record after what both have, where both have one."""
    if altered:
        return min(altered, key=lambda record: record.begin)
    if history.relation not in (Relation.DIVERGED, Relation.UNREADABLE) or history.agreed_until is None:
        return None
    return _difference(history.agreed_until, {left: logs[left], right: logs[right]}, files)


def _difference(at: int, logs: Mapping[str, LogBytes], files: Sequence[StoreFile]) -> RecordDifference | None:
    return difference_at(at, logs, _header_at(at, files))


def _header_at(at: int, files: Sequence[StoreFile]) -> int:
    """Bytes before a record that begins there; before a broker was switched to DLedger its messages had no headers."""
    before = [header_size(file) for file in files if (file.base_offset or 0) <= at]
    return before[-1] if before else 0


def _cuts(left: Member, right: Member, logs: Mapping[str, LogBytes]) -> Iterator[Cut]:
    for slave, master in ((left, right), (right, left)):
        if slave.replica.epochs and master.replica.epochs and slave.log_end is not None and master.log_end is not None:
            yield cut_of(
                slave.replica,
                master.replica,
                slave.log_end,
                master.log_end,
                logs[slave.name],
                slave.replica.known.rules,
            )


def _standing(mode: Mode, member: Member) -> Standing:
    if mode is Mode.DLEDGER and member.terms:
        last = member.terms[-1]
        return Standing(last.term, last.last_index)
    epochs = member.replica.epochs or ()
    epoch = epochs[-1].epoch if epochs else NOTHING_NOTED
    return Standing(epoch, NOTHING_NOTED if mode is Mode.DLEDGER or member.log_end is None else member.log_end)


def _costs(pair: Pair) -> Iterable[Cost]:
    left = Kept(pair.left.name, pair.left.tables, pair.history.left.tail.queues)
    right = Kept(pair.right.name, pair.right.tables, pair.history.right.tail.queues)
    yield from costs(left, right)
    yield from costs(right, left)


@dataclass(frozen=True, slots=True)
class TermRun:
    """Entries `first_index` to `last_index`, which follow one another, of one term; `begin` and `end` in bytes."""

    term: int
    first_index: int
    last_index: int
    begin: int
    end: int


def term_runs(files: Sequence[StoreFile]) -> list[TermRun]:
    """The entries of a DLedger log as stored, in log order. Other files and bytes that are no entry are passed over."""
    found: list[TermRun] = []
    for run in log_runs([file for file in files if header_size(file)], _pass_over):
        header = header_size(run.file)
        headers = headers_at(run.data, run.positions - header)
        terms, numbers = headers["term"].astype(np.int64), headers["entry_index"].astype(np.int64)
        edges = np.append(run.positions - header, run.end) + run.base_offset
        breaks = np.flatnonzero((np.diff(terms) != 0) | (np.diff(numbers) != 1)) + 1
        for first, last in zip([0, *breaks.tolist()], [*breaks.tolist(), len(terms)], strict=True):
            each = TermRun(
                int(terms[first]), int(numbers[first]), int(numbers[last - 1]), int(edges[first]), int(edges[last])
            )
            before = found[-1] if found else None
            if before is not None and before.term == each.term and before.last_index + 1 == each.first_index:
                found[-1] = replace(before, last_index=each.last_index, end=each.end)
            elif len(found) < MOST_TERMS:
                found.append(each)
    return found


def _pass_over(_: LogGap) -> None:
    """Bytes that are no entry have no term."""
