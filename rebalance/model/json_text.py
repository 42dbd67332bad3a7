"""JSON from outside, as values that can be written again."""

from __future__ import annotations

import json
from typing import Any

from rebalance.model import budget


def parse_json(text: bytes) -> Any:
    """The value; half of a surrogate pair, which JSON can spell and no encoding can hold, is `?` as in Java's bytes.

    Raises ValueError, RecursionError: no JSON, or nested too deeply, or with more values than the budget has room for.
    """
    if budget.json_cost(text) > budget.JSON_BYTES:
        raise budget.OverBudget("more values than there is room for")
    value = json.loads(text)
    if b"\\ud" in text or b"\\uD" in text:
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value
