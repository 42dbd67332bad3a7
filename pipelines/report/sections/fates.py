"""Sections about messages that brokers hold back and clients trace: sums of rows, and one sentence from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pipelines.report.drawn.figures import counted, grouped
from pipelines.report.facts.model import (
    QUEUE,
    Column,
    Facts,
    PrintedTable,
    Row,
    Section,
    State,
    nothing_found,
    numbers,
    texts,
)


@dataclass(frozen=True, slots=True)
class SumsSection:
    """One section: its table and words.

    `verdict` is made from the totals of `counters` and of `rows`, how many rows there are. It is a finding where a
    counter of `finds` is not 0.
    """

    anchor: str
    title: str
    rows_of: Callable[[Facts], list[Row] | None]
    columns: list[Column]
    counters: tuple[str, ...]
    verdict: Callable[[Mapping[str, int]], str]
    finds: tuple[str, ...]
    nothing: str
    nothing_is: State = "good"

    def __call__(self, facts: Facts) -> Section:
        rows = self.rows_of(facts)
        if rows is None:
            return Section(self.anchor, self.title, "Not looked at.", "unknown")
        if not rows:
            return Section(self.anchor, self.title, *nothing_found(self.nothing, self.nothing_is, facts.why_not_all))
        totals = {name: sum(row[name] for row in rows) for name in self.counters}
        state: State = "finding" if any(totals[name] for name in self.finds) else "plain"
        words = self.verdict(totals | {"rows": len(rows)})
        return Section(self.anchor, self.title, words, state, tables=[PrintedTable(self.columns, rows)])


RETRIES = SumsSection(
    anchor="retries",
    title="Retries and dead letters",
    rows_of=lambda facts: facts.retries,
    columns=[
        *texts("group"),
        Column("topics", "of topics"),
        *numbers("messages", "dead_letters", "waiting", "unread", "in_flight", "consumed", "unknown", "most_failures"),
        Column("repeated", "copies stored twice", True),
        Column("first_failed_at", "first failure"),
        Column("last_failed_at", "last failure"),
        Column("next_due", "next retry due", blank=True),
    ],
    counters=("messages", "dead_letters", "waiting", "unread", "unknown"),
    verdict=lambda of: (
        f"{counted(of['messages'], 'message')} given back by {counted(of['rows'], 'group')}: "
        f"{counted(of['dead_letters'], 'dead letter')}, {grouped(of['waiting'])} waiting for a retry, "
        f"{grouped(of['unread'])} unread, {grouped(of['unknown'])} unknown."
    ),
    finds=("dead_letters", "unknown"),
    nothing="No group gave a message back.",
)

TRANSACTIONS = SumsSection(
    anchor="transactions",
    title="Transactions",
    rows_of=lambda facts: facts.transactions,
    columns=[
        Column("group", "producer group"),
        *texts("topic"),
        *numbers("transactions", "committed", "rolled_back", "pending"),
        Column("oldest_pending", "oldest pending", blank=True),
        *numbers("given_up", "unknown", "committed_twice", "committed_and_given_up", "most_checks"),
    ],
    counters=("transactions", "committed", "pending", "given_up", "unknown", "committed_twice"),
    verdict=lambda of: (
        f"{counted(of['transactions'], 'transaction')}: {grouped(of['committed'])} committed "
        f"({grouped(of['committed_twice'])} more than once), {grouped(of['pending'])} pending, "
        f"{grouped(of['given_up'])} given up, {grouped(of['unknown'])} unknown."
    ),
    finds=("given_up", "unknown", "committed_twice"),
    nothing="The log has no half message.",
)

POPS = SumsSection(
    anchor="pops",
    title="POP",
    rows_of=lambda facts: facts.pops,
    columns=[
        *texts("group", "topic"),
        QUEUE,
        *numbers("popped"),
        Column("acked", "acknowledged", True),
        *numbers("in_flight", "overdue"),
        Column("next_visible", "next visible", blank=True),
        Column("revived", "delivered again", True),
        *numbers("passed"),
        Column("unmatched", "without checkpoint", True),
        *numbers("unknown", "unread"),
        Column("pop_lag", "unread and in flight", True),
    ],
    counters=("popped", "in_flight", "overdue", "revived", "passed", "unknown"),
    verdict=lambda of: (
        f"{counted(of['popped'], 'message')} popped: {grouped(of['in_flight'])} in flight "
        f"({grouped(of['overdue'])} of them overdue), {grouped(of['revived'])} delivered again, "
        f"{grouped(of['passed'])} passed, {grouped(of['unknown'])} unknown."
    ),
    finds=("passed", "unknown"),
    nothing="The log has no checkpoint of a popped message.",
)

TRACES = SumsSection(
    anchor="traces",
    title="Message trace",
    rows_of=lambda facts: facts.traces,
    columns=[
        Column("group", "group", blank=True),
        Column("trace_type", "kind", blank=True),
        *numbers("records"),
        Column("failed", "failed or not confirmed", True),
        Column("without_end", "without an end", True),
        Column("again", "of messages given back", True),
        Column("mean_cost_ms", "mean ms", True, blank=True),
        Column("most_cost_ms", "most ms", True, blank=True),
        Column("first_at", "first"),
        Column("last_at", "last"),
        Column("problems", "not read", True),
    ],
    counters=("records", "failed", "without_end", "problems"),
    verdict=lambda of: (
        f"{counted(of['records'], 'record')}: {grouped(of['failed'])} failed or not confirmed, "
        f"{grouped(of['without_end'])} calls of a listener without an end, {grouped(of['problems'])} not read."
    ),
    finds=("failed", "problems"),
    nothing="No client wrote traces.",
    nothing_is="plain",
)
