"""Why a condition is none, for whoever wrote it: DuckDB's errors in plain words, without its statement around it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches

CLASS_OF_ERROR = re.compile(r"^[A-Z][A-Za-z ]* Error: ")
ADVICE = re.compile(r" ?You might need to add explicit type casts\.$")
ONE_MESSAGE = "each message is judged alone, by its own columns"

Words = Callable[[re.Match[str], Sequence[str]], str]


def in_plain_words(error: str, condition: str, columns: Sequence[str]) -> str:
    """A sentence for an error of DuckDB.

    Args:
        error: its whole text; lines of the statement are counted from the one before the condition.
        columns: the names that a condition may have.
    """
    first, _, rest = error.partition("\n")
    line = re.search(r"^LINE ([0-9]+):", rest, re.MULTILINE)
    if first.startswith("Parser Error") and line and int(line[1]) > condition.count("\n") + 2:
        return "it ends too early: a value, a name or a closing parenthesis is missing"
    for pattern, words in KNOWN:
        if found := pattern.search(first):
            return words(found, columns)
    return ADVICE.sub("", CLASS_OF_ERROR.sub("", first)).rstrip(".!")


def _no_column(found: re.Match[str], columns: Sequence[str]) -> str:
    near = get_close_matches(found[1], columns, 3)
    meant = f"; there is {', '.join(near)}" if near else f"; there are {', '.join(columns)}"
    return f"no column {found[1]}{meant}. Text stands between single quotes: '{found[1]}'"


KNOWN: tuple[tuple[re.Pattern[str], Words], ...] = (
    (re.compile(r'Referenced column "(.*)" not found'), _no_column),
    (
        re.compile(r'Referenced table "(.*)" not found|Table with name (.*) does not exist'),
        lambda found, columns: f"it asks for {found[1] or found[2]}, but {ONE_MESSAGE}",
    ),
    (re.compile(r"Function with name (.*) does not exist"), lambda found, columns: f"no function {found[1]}"),
    (
        re.compile(r"cannot contain window functions"),
        lambda found, columns: f"a window function sees other messages, but {ONE_MESSAGE}",
    ),
    (re.compile(r'syntax error at or near "(.*)"'), lambda found, columns: f"it cannot be read from {found[1]!r} on"),
    (
        re.compile(r"Could not convert string (.*) to (?:BOOL\b.*)"),
        lambda found, columns: f"it has to be true or false for each message; {found[1]} is neither",
    ),
    (
        re.compile(r"Could not convert string (.*) to (?:U?INT|BIGINT|U?BIGINT|DOUBLE|HUGEINT)"),
        lambda found, columns: f"{found[1]} is compared with a number and is none",
    ),
    (
        re.compile(r'invalid (?:timestamp|date) field format: "(.*?)"'),
        lambda found, columns: f"{found[1]!r} is no time; one is written as '2026-11-21 15:14:00'",
    ),
    (
        re.compile(r"No function matches the given name and argument types '(.*?)\((.*)\)'"),
        lambda found, columns: f"{found[1]} does not go with values of these types: {found[2].replace('_LITERAL', '')}",
    ),
)
