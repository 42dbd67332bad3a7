"""Transactions: how they ended, and which are open."""

from __future__ import annotations

from pipelines.report.figures import counted, grouped
from pipelines.report.model import Column, Facts, PrintedTable, Section, State

COLUMNS = [
    Column("group", "producer group"),
    Column("topic", "topic"),
    Column("transactions", "transactions", True),
    Column("committed", "committed", True),
    Column("rolled_back", "rolled back", True),
    Column("pending", "pending", True),
    Column("oldest_pending", "oldest pending", blank=True),
    Column("given_up", "given up", True),
    Column("unknown", "unknown", True),
    Column("committed_twice", "committed twice", True),
    Column("committed_and_given_up", "committed and given up", True),
    Column("most_checks", "most checks", True),
]


def transactions_section(facts: Facts) -> Section:
    """A row for each producer group and topic."""
    title = "Transactions"
    if facts.transactions is None:
        return Section("transactions", title, "Not looked at.", "unknown")
    if not facts.transactions:
        return Section("transactions", title, "The log has no half message.", "good")
    total, committed, pending, given_up, unknown, twice = (
        sum(row[name] for row in facts.transactions)
        for name in ("transactions", "committed", "pending", "given_up", "unknown", "committed_twice")
    )
    verdict = (
        f"{counted(total, 'transaction')}: {grouped(committed)} committed ({grouped(twice)} more than once), "
        f"{grouped(pending)} pending, {grouped(given_up)} given up, {grouped(unknown)} unknown."
    )
    state: State = "finding" if given_up or unknown or twice else "plain"
    return Section("transactions", title, verdict, state, tables=[PrintedTable(COLUMNS, facts.transactions)])
