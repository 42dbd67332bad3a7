"""`%sql` in a notebook: a question to the lake that was opened last, with its names to complete."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from rocketlens.errors import RocketlensError
from rocketlens.rows import Rows
from rocketlens.sql_completion import Names, completions, sql_after, sql_before, word_before

if TYPE_CHECKING:
    from rocketlens.lakes import Lake


PARAMETER = re.compile(r"'\{\{?([A-Za-z_]\w*)\}\}?'|\{\{?([A-Za-z_]\w*)\}\}?")
"""`{{name}}`, with quotes around it or without. IPython makes `{name}` of it where the question is one line."""


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
