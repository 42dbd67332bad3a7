"""Steps that clients reported by message trace: sent, handed to a listener, decided, recalled.

Their instants are of the clients' clocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pipelines.answers.journey.step import Step, StoredRecord

TraceEvent = Mapping[str, Any]
"""A row of `trace_events` with `at_ms` for its `at` (epoch ms)."""
CALLS = ("SubBefore", "SubAfter")
ENDED = {True: "success", False: "failure", None: "end unknown"}
SENT = {True: "success", False: "stored, but not confirmed as flushed or copied", None: "end unknown"}
"""A send that the broker did not answer with a result is not traced: false is any other status than SEND_OK
(SendMessageTraceHookImpl#sendMessageAfter @4.4.0 - 5.3.3), FLUSH_DISK_TIMEOUT, FLUSH_SLAVE_TIMEOUT, or
SLAVE_NOT_AVAILABLE."""


def sent(message: StoredRecord, events: Sequence[TraceEvent]) -> Iterator[Step]:
    """By the producer's traces; without one, by what the message says of its birth."""
    traced = [event for event in events if event["trace_type"] == "Pub"]
    for event in traced:
        words = f"from {_host(event)} to {event['store_host']}: {SENT[event['success']]}{_after(event)}"
        yield _step(event, "sent", words)
    if not traced and message.born_ms is not None:
        words = f"from {message.born_host or 'an unknown host'}, by the clock of its producer"
        yield Step(message.born_ms, "sent", None, None, words, True, f"CommitLog at {message.physical_offset}")


def told_by_clients(events: Sequence[TraceEvent]) -> Iterator[Step]:
    """Calls of listeners, ends of transactions, recalls."""
    ends = {event["request_id"]: event for event in events if event["trace_type"] == "SubAfter"}
    begun = {event["request_id"] for event in events if event["trace_type"] == "SubBefore"}
    for event in events:
        match event["trace_type"]:
            case "SubBefore":
                yield _delivered(event, ends.get(event["request_id"]))
            case "SubAfter" if event["request_id"] not in begun:
                yield _step(event, "delivered", f"a listener on {_host(event)} was done with it: {_result(event)}")
            case "EndTransaction":
                asked = ", asked by the broker" if event["from_transaction_check"] else ""
                yield _step(event, "decided", f"its producer said {event['transaction_state']}{asked}")
            case "Recall":
                yield _step(event, "recalled", f"a recall from {_host(event)}: {ENDED[event['success']]}")


def groups_of(events: Iterable[TraceEvent]) -> set[str]:
    """Groups whose listeners got it, as far as their records name them."""
    return {event["group"] for event in events if event["trace_type"] in CALLS and event["group"]}


def _delivered(before: TraceEvent, after: TraceEvent | None) -> Step:
    times = f", as retry number {before['retry_times']}" if before["retry_times"] else ""
    ended = "no trace of its end" if after is None else _result(after)
    return _step(before, "delivered", f"to a listener on {_host(before)}{times}: {ended}")


def _result(after: TraceEvent) -> str:
    name = after["result"] or "an unknown result"
    each = " for each message of the call" if after["cost_ms"] is not None else ""
    return f"{name}, {ENDED[after['success']]}{_after(after)}{each}"


def _after(event: TraceEvent) -> str:
    return "" if event["cost_ms"] is None else f" after {event['cost_ms']} ms"


def _host(event: TraceEvent) -> str:
    """Where the client is; `client_host` is its address, and no client id."""
    own = event["client_host"]
    return f"{event['born_host']} (host {own} by its own words)" if own else f"{event['born_host']}"


def _step(event: TraceEvent, name: Any, words: str) -> Step:
    place = f"{event['trace_topic']} at {event['physical_offset']}"
    return Step(event["at_ms"], name, event["group"], None, words, True, place)
