"""Many questions at once: JSON lines on standard input, one answer line each, in order."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pipelines.cli.run import Run

Question = dict[str, Any]
Answer = dict[str, Any]


def answers(run: Run, answer: Callable[[Question], Answer]) -> Iterator[Answer]:
    """One answer per line of standard input; one that is no question is answered with its error.

    `answer` raises ValueError for a question that cannot be understood.
    """
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        try:
            yield answer(_object(line))
        except ValueError as wrong:
            run.not_read(f"standard input, line {number}: {wrong}")
            yield {"error": {"class": None, "message": f"line {number}: {wrong}"}}


def _object(line: bytes) -> Question:
    try:
        question = json.loads(line)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except json.JSONDecodeError as wrong:
        raise ValueError(f"not JSON ({wrong})") from None
    if not isinstance(question, dict):
        raise ValueError("expected one JSON object a line")
    return question
