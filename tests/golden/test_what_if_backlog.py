"""Backlogs of shares, of a cluster of two brokers: a lone member has all that `lag` counts, several share it out."""

from __future__ import annotations

from collections import Counter

from tests.support.cli import call
from tests.support.fixtures import GOLDEN, unpacked

SESSION = GOLDEN / "rebalance" / "sessions" / "b-550-two-brokers"


def test_all_that_waits_is_shared_out() -> None:
    stores = [unpacked(SESSION / "store.tar.gz") / broker / "store" for broker in ("broker-0", "broker-1")]
    waiting = Counter[tuple[str, str]]()
    for row in (row for store in stores for row in call("lag", store, "--quiet").rows):
        waiting[row["group"], row["topic"]] += row["messages_behind"]
    both = [word for store in stores for word in ("--backlog", store)]
    rows = call("what-if", SESSION / "logs", "--strategy", "AVG", *both, "--quiet").rows
    assert {row["members"] for row in rows} >= {1, 2, 3}
    assert any(row["largest_backlog"] for row in rows)
    for row in rows:
        everything = waiting[row["group"], row["topic"]]
        if row["members"] == 1:
            assert row["largest_backlog"] == row["smallest_backlog"] == everything
        assert row["smallest_backlog"] * row["members"] <= everything <= row["largest_backlog"] * row["members"]
    half = call("what-if", SESSION / "logs", *both[:2], "--quiet").rows
    assert {row["largest_backlog"] for row in half} == {None}
