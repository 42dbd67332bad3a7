"""Status words over a window of offsets, after the rules of LinkedIn's Burrow.

In order: no lag now, or none at some instant of the window: OK. An offset that went back: REWIND. Offsets that did not
move for longer than the window before them lasts: STOP. Offsets that are the same all over the window: STALL. A lag
that never became less: WARN. Else OK.
Burrow sees each commit; kept tables show only that an offset did not change. Whether a consumer was there, and commits
the same offset (STALL), or none was (STOP), ownership tells where it is on record.
Source: core/internal/evaluator/caching.go#calculatePartitionStatus of linkedin/Burrow, and its wiki, Consumer Lag
Evaluation Rules (a window of 10 commits).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

WINDOW = 10
"""Instants; Burrow's default number of commits (`intervals`)."""
NOT_TOLD = "no record of ownership tells whether a consumer was there: it stalled, or it stopped"


class StatusWord(StrEnum):
    """What a window of offsets says of a group on a queue."""

    OK = "OK"
    WARN = "WARN"
    STALL = "STALL"
    STOP = "STOP"
    REWIND = "REWIND"


def status_of(offsets: Sequence[int], lags: Sequence[int], *, owned: bool | None) -> tuple[StatusWord, str | None]:
    """The word for a window, oldest first, and what is not known of it.

    Args:
        owned: whether a consumer had the queue at the end of the window; None: nothing tells.
    """
    if min(lags[-WINDOW:], default=0) <= 0:
        return StatusWord.OK, None
    offsets, lags = offsets[-WINDOW:], lags[-WINDOW:]
    if any(after < before for before, after in pairwise(offsets)):
        return StatusWord.REWIND, None
    unmoved = next((count for count in range(len(offsets)) if offsets[-1 - count] != offsets[-1]), len(offsets))
    if unmoved == len(offsets) and len(offsets) > 1:
        return (StatusWord.STOP if owned is False else StatusWord.STALL), NOT_TOLD if owned is None else None
    if owned is False and unmoved > 1:
        return StatusWord.STOP, None
    if all(after >= before for before, after in pairwise(lags)) and len(lags) > 1:
        return StatusWord.WARN, None
    return StatusWord.OK, None
