"""What the rules about index files need besides the files."""

from __future__ import annotations

from dataclasses import dataclass

from recovery.scan.intervals import Intervals
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
