"""Messages by an SQL condition over their columns, asked of DuckDB batch by batch, with nothing else in its reach."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa

from parsers.commitlog.batches.arrow import ALL_COLUMNS
from pipelines.lake.catalog import CONFINEMENT
from pipelines.selection.content import BODY_TEXT
from pipelines.selection.selector import WrongCondition
from pipelines.selection.where_words import in_plain_words

COLUMNS = (*ALL_COLUMNS.names, BODY_TEXT.name)
ROWS = "batch_of_messages"
PROPERTY = "CREATE TEMP MACRO property(properties, n) AS list_filter(properties, lambda p: p.name = n)[1].value"
"""`property(properties, 'k')`: the value of a property, null without it."""


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
