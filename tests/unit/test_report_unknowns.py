"""Sections of a report that found nothing, or not everything: what was not read is no proof that nothing is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pipelines.report.facts.model import Facts, Section
from pipelines.report.sections.backlog import backlog_section
from pipelines.report.sections.delays import delays_section
from pipelines.report.sections.fates import POPS, RETRIES, TRACES, TRANSACTIONS
from pipelines.report.sections.store_log import store_log_section

LOG = [{"file": "commitlog/0", "file_pos": 0, "length": 100, "kind": "messages", "reason": None}]
HOLE = [*LOG, {"file": "commitlog/0", "file_pos": 100, "length": 50, "kind": "damage", "reason": "no record"}]
SECTIONS = {
    "delays": delays_section,
    "retries": RETRIES,
    "transactions": TRANSACTIONS,
    "pops": POPS,
    "traces": TRACES,
}


@pytest.mark.parametrize("name", SECTIONS)
def test_nothing_found_in_a_damaged_log_is_not_known(name: str) -> None:
    told = section_of(SECTIONS[name], {name: [], "regions": HOLE})
    assert told.state == "unknown"
    assert "damaged bytes of the log may hold some" in told.verdict
    whole = section_of(SECTIONS[name], {name: [], "regions": LOG})
    assert whole.state != "unknown"
    assert "damaged" not in whole.verdict


@pytest.mark.parametrize("name", SECTIONS)
def test_nothing_found_without_a_log_is_not_known(name: str) -> None:
    told = section_of(SECTIONS[name], {name: [], "regions": None})
    assert told.state == "unknown"
    assert "no log was read" in told.verdict


def test_retries_of_which_nothing_is_known_are_counted() -> None:
    row = dict.fromkeys(("messages", "dead_letters", "waiting", "unread", "in_flight", "most_failures", "repeated"), 0)
    row["consumed"] = 0
    row |= {"group": "G", "topics": ["T"], "messages": 3, "unknown": 3}
    row |= dict.fromkeys(("first_failed_at", "last_failed_at", "next_due"))
    told = section_of(RETRIES, {"retries": [row], "regions": LOG})
    assert "3 unknown" in told.verdict
    assert told.state == "finding"


def test_queues_whose_unread_is_not_known_are_counted() -> None:
    columns = ("subscription", "matching", "head_queue_offset", "head_keys", "head_stored_at", "owners", "stands_since")
    row = {"group": "G", "topic": "T", "queue_id": 0, "reason": "why", **dict.fromkeys(columns)}
    told = section_of(backlog_section, {"backlog": [{**row, "unread": 5}, {**row, "queue_id": 1, "unread": None}]})
    assert "of 1 queue it is not known what is unread" in told.verdict
    assert told.state == "unknown"


def section_of(make: Callable[[Facts], Section], rows: dict[str, Any]) -> Section:
    return make(Facts("store", 0, **rows))


def test_a_store_log_of_which_no_line_is_understood_is_not_good() -> None:
    told = store_log_section([])
    assert (told.state, told.verdict) == ("unknown", "0 lines of a known kind; of something wrong: 0.")
