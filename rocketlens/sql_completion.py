"""What the word at the cursor of a question may become: tables, their columns, stored questions, words of SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY ALL", "ORDER BY", "LIMIT", "JOIN", "LEFT JOIN", "USING", "ON", "AND", "OR"),
    *("NOT", "IS NULL", "count(*)", "sum(", "min(", "max(", "DISTINCT", "QUALIFY", "UNION ALL BY NAME", "DESC"),
)
"""Words of SQL that are offered."""


class Names(NamedTuple):
    """What can be named in a question: tables with their columns, stored questions, words of SQL."""

    tables: Mapping[str, Sequence[str]]
    questions: Sequence[str]


def sql_before(text: str, line: int, before: str) -> str | None:
    """The SQL up to the cursor; None where the cursor is not in a question.

    Args:
        text: the whole cell.
        line, before: the cursor's line, counted from 0, and what stands before the cursor in it.
    """
    lines = text.split("\n")
    if lines[0].startswith("%%sql"):
        return None if line == 0 else "\n".join([*lines[1:line], before])
    _, asked, question = before.partition("%sql ")
    return question if asked else None


def word_before(sql: str) -> str:
    """The name that is being written; after a dot only what follows it."""
    found = re.search(r"\w*$", sql)
    return found[0] if found else ""


def sql_after(text: str, line: int, before: str) -> str:
    """The SQL after the cursor, for the arguments of `sql_before`."""
    lines = text.split("\n")
    behind = lines[line][len(before) :]
    return "\n".join([behind, *lines[line + 1 :]]) if lines[0].startswith("%%sql") else behind


def completions(sql: str, names: Names, after: str = "") -> list[tuple[str, str]]:
    """What the word at the end of `sql` may become, each with its kind: columns of the tables that are named, tables,
    stored questions where nothing else was asked, words of SQL.

    Args:
        after: the question after the word.
    """
    word = word_before(sql)
    before = sql[: len(sql) - len(word)]
    if qualified := re.search(r"(\w+)\.$", before):
        found = [(column, "column") for column in names.tables.get(_table_called(qualified[1], sql + after, names), ())]
    elif re.search(r"\b(from|join)\s+$", before, re.IGNORECASE):
        found = [(table, "table") for table in names.tables]
    elif not before.strip():
        found = [*((question, "question") for question in names.questions), *((each, "keyword") for each in WORDS)]
    else:
        named = [table for table in names.tables if re.search(rf"\b{table}\b", sql + after)]
        columns = dict.fromkeys(column for table in named or names.tables for column in names.tables[table])
        found = [(column, "column") for column in columns]
        found += [*((table, "table") for table in names.tables), *((each, "keyword") for each in WORDS)]
    return [(text, kind) for text, kind in found if text.lower().startswith(word.lower())]


def _table_called(name: str, sql: str, names: Names) -> str:
    """The table of that name, or the one that has it as an alias."""
    called = re.finditer(rf"\b(\w+)\s+(?:as\s+)?{name}\b", sql, re.IGNORECASE)
    return next((found[1] for found in called if found[1] in names.tables), name)
