"""`%sql` in a notebook: a question to the lake that was opened last, with its names to complete."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from rocketlens.errors import RocketlensError
from rocketlens.rows import Rows

if TYPE_CHECKING:
    from rocketlens.lakes import Lake

PARAMETER = re.compile(r"'\{\{?([A-Za-z_]\w*)\}\}?'|\{\{?([A-Za-z_]\w*)\}\}?")
"""`{{name}}`, with quotes around it or without. IPython makes `{name}` of it where the question is one line."""
WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY ALL", "ORDER BY", "LIMIT", "JOIN", "LEFT JOIN", "USING", "ON", "AND", "OR"),
    *("NOT", "IS NULL", "count(*)", "sum(", "min(", "max(", "DISTINCT", "QUALIFY", "UNION ALL BY NAME", "DESC"),
)
"""Words of SQL that are offered."""


def with_values(query: str, variables: Mapping[str, Any]) -> str:
    """The SQL with the value of a variable for each `{{name}}`, as a literal.

    Raises RocketlensError: no variable of that name, or one that holds no text, number, truth value or time.
    """
    return PARAMETER.sub(lambda found: _literal(found[1] or found[2], variables), query)


def _literal(name: str, variables: Mapping[str, Any]) -> str:
    if name not in variables:
        raise RocketlensError(f"%sql: there is no variable {name!r} to put in the place of {{{{{name}}}}}")
    value = variables[name]
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float):
        return str(value).lower() if isinstance(value, bool) else repr(value)
    if isinstance(value, str | datetime | date):
        return "'" + str(value).replace("'", "''") + "'"
    raise RocketlensError(
        f"%sql: {name} holds a {type(value).__name__}; text, a number, a truth value or a time is meant"
    )


def offer_sql(lake: Lake) -> None:
    """Inside IPython make `%sql SELECT …` show an answer and `%%sql name` keep it in a variable; elsewhere nothing."""
    if "IPython" not in sys.modules:
        return
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is None:
        return

    def sql(line: str, cell: str | None = None) -> Rows | None:
        answer = lake.sql(with_values((cell if cell is not None else line).strip(), shell.user_ns))
        if cell is not None and line.strip():
            shell.user_ns[line.strip()] = answer
            return None
        return answer

    shell.register_magic_function(sql, magic_kind="line_cell", magic_name="sql")
    _offer_names(lake, shell)


def _offer_names(lake: Lake, shell: Any) -> None:
    """Complete names of the lake inside `%sql`, in the place of what an earlier call offered."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier="rocketlens.sql")  # type: ignore[untyped-decorator]
    def names(context: Any) -> dict[str, Any]:
        line = context.full_text.split("\n")[context.cursor_line]
        place = context.full_text, context.cursor_line, line[: context.cursor_position]
        asked = sql_before(*place)
        found = [] if asked is None else completions(asked, names_of(lake), sql_after(*place))
        completed = [SimpleCompletion(text, type=kind) for text, kind in found]
        return {"completions": completed, "suppress": asked is not None, "matched_fragment": word_before(asked or "")}

    others = [m for m in shell.Completer.custom_matchers if getattr(m, "matcher_identifier", "") != "rocketlens.sql"]
    shell.Completer.custom_matchers[:] = [*others, names]


def names_of(lake: Lake) -> Names:
    """The names of a lake; of one that was not filled yet only the stored questions."""
    try:
        rows = lake.sql(
            "SELECT table_name, list(column_name ORDER BY column_index) AS names FROM duckdb_columns()"
            " WHERE NOT internal GROUP BY ALL ORDER BY ALL"
        )
    except RocketlensError:
        return Names({}, lake.questions())
    return Names(dict(zip(rows["table_name"], rows["names"], strict=True)), lake.questions())


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
