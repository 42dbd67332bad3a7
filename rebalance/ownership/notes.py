"""What in the record makes answers wider than they could be, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.values.utc import utc_text
from rebalance.facts.input_notes import CLOCK_DIFFERS, Note
from rebalance.model.timing import LOG_KILLED_MS
from rebalance.ownership.doubts import NEVER_COMMITTED, POP_SHARED, SHARED, Doubt
from rebalance.ownership.history import GroupHistory
from rebalance.ownership.log_limits import LOG_ENDS
from rebalance.processes.client_clock import ahead_ms, changes_of

STARTS_IN_THE_MIDDLE = "starts_in_the_middle"
ENDS_IN_THE_MIDDLE = "ends_in_the_middle"
SILENT = "silent"
ROUNDS_MISSING = "rounds_missing"
NOT_OBSERVED = "not_observed"


def notes_of(history: GroupHistory, always: tuple[int, int]) -> Iterator[Note]:
    """What limits the answers about one group."""
    if history.known[0] != always[0]:
        yield Note(history.group, STARTS_IN_THE_MIDDLE, "", f"nothing is certain before {utc_text(history.known[0])}")
    if history.known[1] != always[1]:
        yield Note(history.group, ENDS_IN_THE_MIDDLE, "", f"nothing is certain after {utc_text(history.known[1])}")
    for begin, end in history.gaps:
        span = f"from {utc_text(begin)} to {utc_text(end)}"
        detail = f"nothing is certain {span}: the record has a hole, or its clock was set forward"
        yield Note(history.group, SILENT, "", detail)
    for life in history.lives:
        if life.rounds_missing:
            detail = "it asked for member lists that are not on record"
            yield Note(history.group, ROUNDS_MISSING, life.client_id, detail)
    yield from _clocks_apart(history)
    for topic in sorted(history.pop_topics):
        yield Note(history.group, POP_SHARED, topic, "POP shares its queues among all clients: there is no owner")
    for doubt in history.doubts:
        if doubt.reason not in (SHARED, NEVER_COMMITTED) and not _is_a_kill(doubt):
            yield Note(history.group, NOT_OBSERVED, doubt.client_id, f"{doubt.reason} ({len(doubt.queues)} queues)")


def _clocks_apart(history: GroupHistory) -> Iterator[Note]:
    """Clients, or all clients of a broker's log, whose clock is not that of the record."""
    heard = [(life.client_id, changes_of(life.process)) for life in history.lives]
    logged = [(broker, list(changes)) for broker, changes in sorted(history.changes_heard.items())]
    for subject, changes in heard + logged:
        ahead = ahead_ms(changes)
        if ahead is not None:
            apart = f"at least {ahead} ms ahead of" if ahead > 0 else f"{-ahead} ms behind"
            yield Note(
                history.group, CLOCK_DIFFERS, subject, f"by subVersions the clients' clock is {apart} the record"
            )


def _is_a_kill(doubt: Doubt) -> bool:
    """Whether a log merely ends with its process."""
    known = doubt.reason == LOG_ENDS and doubt.from_ms is not None and doubt.until_ms is not None
    return known and (doubt.until_ms or 0) - (doubt.from_ms or 0) < LOG_KILLED_MS
