"""The entries of a DLedger node by the term of their leader, and how far each is known to be committed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from parsers.commitlog.dledger_headers.layout import header_size
from parsers.dledger.entries import headers_at
from parsers.store.store_file import StoreFile
from recovery.scan.log_runs import LogGap, log_runs

MOST_TERMS = 1 << 16


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
