"""What the rules about index files need besides the files, and what is left for them of each file."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.kernels.arrays import Longs
from recovery.scan.intervals import Intervals
from recovery.verify.settle.index_entries import Chains
from recovery.verify.settle.log_columns import ExpectedKeys, MessageColumns


@dataclass(frozen=True, slots=True)
class IndexContext:
    """What the rules need besides the files: the log's records and keys, and what a finding about the log covers."""

    messages: MessageColumns
    keys: ExpectedKeys
    start: int
    end: int
    latest_ms: int
    lost: Intervals
    dispatched_to: int
    doubtful_times: Intervals
    clean_exit: bool
    counts_puts: bool
    indexes_tags: bool


@dataclass(frozen=True, slots=True)
class LeftEntries:
    """What is left of one index file: entries by number, rising, the first and the last of `count` among them.

    `expired` entries are of messages before the log; they are left out, too. `ends_before_ms`: the end time of the file
    before it, as its header and its last message have it. `settled_since_ms`: what the seconds of settled entries were
    counted from, None where none is settled. `chains` is None for a file that is not of its full size.
    """

    count: int
    numbers: Longs
    expired: int
    ends_before_ms: tuple[int, int]
    settled_since_ms: int | None
    chains: Chains | None


class SettledInVain(Exception):
    """Entries were compared with a time that proved not to be the one their file begins with."""
