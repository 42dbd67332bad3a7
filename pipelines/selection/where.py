"""Messages by an SQL condition over their columns, asked of DuckDB batch by batch, with nothing else in its reach."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

import duckdb
import pyarrow as pa

from parsers.commitlog.batches.schema import ALL_COLUMNS
from pipelines.lake.catalog import CONFINEMENT
from pipelines.selection.selector import BODY_TEXT, WrongCondition

COLUMNS = (*ALL_COLUMNS.names, BODY_TEXT.name)
ROWS = "batch_of_messages"
PROPERTY = "CREATE TEMP MACRO property(properties, n) AS list_filter(properties, lambda p: p.name = n)[1].value"
"""`property(properties, 'k')`: the value of a property, null without it."""
CLASS_OF_ERROR = re.compile(r"^[A-Z][A-Za-z ]* Error: ")
ADVICE = re.compile(r" ?You might need to add explicit type casts\.$")
ONE_MESSAGE = "each message is judged alone, by its own columns"

Words = Callable[[re.Match[str], Sequence[str]], str]


@dataclass(frozen=True, slots=True)
class Where:
    """Rows of which an SQL condition is true. It reaches no file, no network, no extension and no Python object."""

    columns: Sequence[str]
    condition: str
    connection: duckdb.DuckDBPyConnection = field(repr=False)

    @property
    def question(self) -> str:
        """The condition of each row of a batch; it begins on the second line."""
        return f"SELECT CAST((\n{self.condition}\n) AS BOOLEAN) AS wanted FROM {ROWS}"

    @classmethod
    def of(cls, condition: str) -> Where:
        """The condition, tried on no rows.

        Raises:
            WrongCondition: it is none.
        """
        mentioned = [name for name in COLUMNS if re.search(rf"\b{name}\b", condition, re.IGNORECASE)]
        connection = duckdb.connect()
        for setting in ("SET TimeZone = 'UTC'", PROPERTY, *CONFINEMENT):
            connection.execute(setting)
        found = cls(mentioned or ["physical_offset"], condition, connection)
        found._refuse_more_than_a_condition()
        fields = [*ALL_COLUMNS, BODY_TEXT]
        found.wanted(pa.RecordBatch.from_pylist([], schema=pa.schema([f for f in fields if f.name in found.columns])))
        found._refuse_what_asks_other_rows()
        return found

    def wanted(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        """The condition is true. Raises WrongCondition, also where a value of these rows does not fit it."""
        arrays = [batch[name] for name in self.columns]
        self.connection.register(ROWS, pa.table(arrays, names=list(self.columns)))
        try:
            answer = self.connection.sql(self.question).to_arrow_table()["wanted"]
        except duckdb.Error as wrong:
            raise WrongCondition(in_plain_words(str(wrong), self.condition, COLUMNS)) from wrong
        if len(answer) != batch.num_rows:
            raise WrongCondition("it has to be true or false for each message, and not for all of them together")
        return answer.combine_chunks()

    def _refuse_what_asks_other_rows(self) -> None:
        """A window would see the rows of one batch only; in a WHERE clause DuckDB takes none."""
        try:
            self.connection.execute(f"SELECT 1 FROM {ROWS} WHERE (\n{self.condition}\n)")
        except duckdb.Error as wrong:
            raise WrongCondition(in_plain_words(str(wrong), self.condition, COLUMNS)) from wrong

    def _refuse_more_than_a_condition(self) -> None:
        try:
            statements = duckdb.extract_statements(self.question)
        except duckdb.Error as wrong:
            raise WrongCondition(in_plain_words(str(wrong), self.condition, COLUMNS)) from wrong
        if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
            raise WrongCondition("one condition is asked for, not statements")


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
