"""Status words over a window of offsets, by the rules of LinkedIn's Burrow.

Burrow sees each commit, with its time; kept tables show only what was committed last. So each kept instant counts as a
commit, unless nobody had the queue: then the last commit is at the latest the first instant that shows the offset.
Source: core/internal/evaluator/caching.go of linkedin/Burrow @ced55ba.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

WINDOW = 10
"""Instants; Burrow's default number of commits (`intervals`, storage/inmemory.go)."""
RECENT_MS = 100_000
"""Burrow keeps a queue's ends of WINDOW readings, 10 s apart by default (`offset-refresh`, kafka_cluster.go)."""
NOT_TOLD = "no record of ownership tells whether a consumer was there: where none was, it is STOP"
ONE_INSTANT = "offsets of one instant only: a word takes two"


class StatusWord(StrEnum):
    """What a window of offsets says of a group on a queue."""

    OK = "OK"
    WARN = "WARN"
    STALL = "STALL"
    STOP = "STOP"
    REWIND = "REWIND"


@dataclass(frozen=True, slots=True)
class Commits:
    """The last commits of a group on a queue, the oldest first: when (epoch ms), which offset, and its lag then."""

    at_ms: Sequence[int]
    offsets: Sequence[int]
    lags: Sequence[int]


def burrow_status(commits: Commits, recent_ends: Sequence[int], lag: int, now_ms: int) -> StatusWord:
    """The word for one queue.

    Args:
        recent_ends: the next message number of the queue at the last instants at which it was read.
        lag: messages behind now.
    Source: caching.go#calculatePartitionStatus.
    """
    if lag <= 0:
        return StatusWord.OK
    was_there = any(end <= commits.offsets[-1] for end in recent_ends)
    if now_ms - commits.at_ms[-1] > commits.at_ms[-1] - commits.at_ms[0] and not was_there:
        return StatusWord.STOP
    if _is_back(commits.offsets):
        return StatusWord.REWIND
    if min(commits.lags) <= 0:
        return StatusWord.OK
    if len(set(commits.offsets)) == 1:
        return StatusWord.STALL
    return StatusWord.WARN if all(after >= before for before, after in pairwise(commits.lags)) else StatusWord.OK


def _is_back(offsets: Sequence[int]) -> bool:
    """Whether the offset went back, and did not reach again where it was.

    Source: #checkIfOffsetsRewind, #checkIfRewindRecovered.
    """
    back = next((place for place in range(1, len(offsets)) if offsets[place] < offsets[place - 1]), None)
    return back is not None and max(offsets[back:]) < offsets[back - 1]


def status_of(
    at_ms: Sequence[int], ends: Sequence[int], offsets: Sequence[int], *, owned: bool | None
) -> tuple[StatusWord | None, str | None]:
    """The word for a queue by what was kept of it, oldest first, and what is not known of it; None: no word.

    Args:
        owned: whether a consumer had the queue at the last instant; None: nothing tells.
    """
    if len(at_ms) < 2:
        return None, ONE_INSTANT
    lags = [end - offset for end, offset in zip(ends, offsets, strict=True)]
    window = Commits(at_ms[-WINDOW:], offsets[-WINDOW:], lags[-WINDOW:])
    stood = _until_it_stood(window)
    since_ms = max(stood.at_ms[-1], at_ms[-1] - RECENT_MS)
    recent = [end for at, end in zip(at_ms, ends, strict=True) if at >= since_ms]
    there, away = (burrow_status(commits, recent, lags[-1], at_ms[-1]) for commits in (window, stood))
    if owned is None:
        return there, None if there is away else NOT_TOLD
    return there if owned else away, None


def _until_it_stood(window: Commits) -> Commits:
    """The instants up to the first one of those at the end that show one offset."""
    last = len(window.offsets) - 1
    while last and window.offsets[last - 1] == window.offsets[last]:
        last -= 1
    return Commits(window.at_ms[: last + 1], window.offsets[: last + 1], window.lags[: last + 1])
