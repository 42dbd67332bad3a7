"""Many questions at once: JSON lines on standard input, one answer line each, in order."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pipelines.answers.instants import parse_instant
from pipelines.cli.frame.call.run import Run
from pipelines.recordings.lines import LONGEST_LINE

Question = dict[str, Any]
Answer = dict[str, Any]
OTHER_NAMES = {
    "queue": "queue_id",
    "queueId": "queue_id",
    "timestamp": "at",
    "maxNum": "max",
    "max_num": "max",
    "msgId": "message_id",
    "message-id": "message_id",
    "uniqKey": "unique_id",
    "unique-id": "unique_id",
}
"""The options' own names and RocketMQ's, which questions may use as well."""


def answers(run: Run, answer: Callable[[Question], Answer]) -> Iterator[Answer]:
    """One answer per line of standard input; one that is no question is answered with its error.

    `answer` raises ValueError for a question that cannot be understood.
    """
    if (questions := Path("/dev/stdin")).is_file():
        run.reads(questions)
    for number, line in enumerate(iter(partial(sys.stdin.buffer.readline, LONGEST_LINE), b""), start=1):
        if len(line) == LONGEST_LINE:
            run.not_read(f"standard input, line {number}: {LONGEST_LINE} bytes and more are no question")
            return
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
    except ValueError:  # Python's limit of digits
        raise ValueError("a number of thousands of digits") from None
    if not isinstance(question, dict):
        raise ValueError("expected one JSON object a line")
    return question


def in_our_words(question: Question) -> Question:
    """A question under the names of the options."""
    return {OTHER_NAMES.get(name, name): value for name, value in question.items()}


def text_in(question: Question, name: str) -> str:
    """A text of a question. Raises ValueError where there is none."""
    value = question.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is missing or no text")
    return value


def number_in(question: Question, name: str, default: int | None = None) -> int:
    """A whole number of a question, `default` where there is none. Raises ValueError without both."""
    value = question.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} is missing or no whole number")
    return value


def instant_in(question: Question, name: str, default: int | None = None) -> int:
    """Epoch milliseconds of a question: a number, or a text as `parse_instant` takes it. Raises ValueError."""
    value = question.get(name)
    return parse_instant(value) if isinstance(value, str) else number_in(question, name, default)
