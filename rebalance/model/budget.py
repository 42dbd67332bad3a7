"""How much memory recordings may take, whatever is in them: one budget in bytes, and its shares.

What goes beyond a share is passed on before it is complete, given up and counted, or refused in one sentence. Hostile
recordings are small on disk (a megabyte of gzip is a gigabyte of lines), so nothing here depends on a file's size.
"""

from __future__ import annotations

BUDGET_BYTES = 768 << 20
WAITING_LINES_BYTES = BUDGET_BYTES // 8
"""Log lines that wait for their time zone, and as much again for those that are put in order."""
UNFINISHED_FRAMES_BYTES = BUDGET_BYTES // 4
"""Bytes of a capture that wait for the rest of their frame, of all connections together."""
JSON_BYTES = BUDGET_BYTES // 4
"""The values of one JSON line."""
FACT_BYTES, GROUP_BYTES = 1_000, 6_000
"""What a fact takes while it is replayed, and a group beside its facts (measured)."""
QUEUE_BYTES, SHARE_BYTES = 400, 16
"""What a queue takes while queues are shared out, and a queue in a member's share."""


class OverBudget(ValueError):
    """What is asked for would take more than the budget: one sentence."""


def json_cost(text: bytes) -> int:
    """About how many bytes the values of a JSON text take, never much less than they do."""
    return len(text) + 232 * text.count(b"{") + 88 * text.count(b"[") + 40 * text.count(b",") + 28 * text.count(b'"')
