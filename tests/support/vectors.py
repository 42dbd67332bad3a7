"""Recorded answers of the real strategy classes, and how one is compared with ours."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rebalance.strategies.question import answer


def iter_vectors(path: Path) -> Iterator[dict[str, Any]]:
    """The vectors of one `.jsonl.gz`."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def agrees(vector: dict[str, Any]) -> bool:
    """Ours equals Java's: same queues in the same order, or the same exception.

    A message stored as null was made up by the JVM, so only the class counts there.
    """
    ours = answer(vector)
    if "error" not in vector:
        return ours == {"result": vector["result"]}
    expected, error = vector["error"], ours.get("error")
    if error is None or expected["message"] is None:
        return error is not None and error["class"] == expected["class"]
    return bool(error == expected)
