"""Wire records (requests to one broker and their answers) -> facts.

A record is a mapping with `ts` (epoch ms), `dir` (request, response, lifecycle), `code`, `remote` (`ip:port`), `opaque`
and `header`, `body`, `result`, `remark`, `clientVersion` as RemotingCommand carries them. A request and its answer meet
by (remote, opaque). A `connection_closed` ends the memberships of its `remote`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rebalance.facts import (
    BrokerStarted,
    BrokerStopping,
    ChannelClosed,
    ClientUnregistered,
    Evidence,
    Fact,
    HeartbeatReceived,
    UnreadRecord,
)
from rebalance.readers.malformed import MALFORMED, instant_of_any, why_not_read
from rebalance.readers.wire.requests import ANSWERED, READERS, Record, instant_of, text_of

Members = dict[str, dict[str, str | None]]
"""Connection (`ip:port`) -> the groups it is registered for, each with its client id."""
_MAX_OPEN_REQUESTS = 100_000  # a capture without answers must not grow without bound


def facts_from_wire(records: Iterable[Record], *, broker: str, file: str = "") -> Iterator[Fact]:
    """Facts of one broker's capture, in the order the records complete.

    Requests that wait for an answer become facts when it comes, or at the end of the capture without one.
    A record that cannot be read becomes an `UnreadRecord` with its reason; nothing raises.
    """
    open_requests: dict[tuple[str, int], tuple[Record, Evidence]] = {}
    members: Members = {}
    for number, record in enumerate(records, start=1):
        evidence = Evidence(file, number)
        try:
            for fact in _facts_of_record(record, broker, evidence, open_requests, members):
                _follow(fact, members)
                yield fact
        except MALFORMED as bad:
            yield UnreadRecord(at_ms=instant_of_any(record), source=broker, evidence=evidence, reason=why_not_read(bad))
        if len(open_requests) > _MAX_OPEN_REQUESTS:
            oldest = next(iter(open_requests))
            yield from _settle(*open_requests.pop(oldest), None, broker)
    for request, evidence in open_requests.values():
        yield from _settle(request, evidence, None, broker)


def _facts_of_record(
    record: Record,
    broker: str,
    evidence: Evidence,
    open_requests: dict[tuple[str, int], tuple[Record, Evidence]],
    members: Members,
) -> Iterator[Fact]:
    direction = record["dir"]
    if direction == "lifecycle":
        yield from _lifecycle(record, broker, evidence, members)
    elif direction == "request":
        code = record["code"]
        if code in ANSWERED:
            open_requests[record["remote"], record["opaque"]] = (record, evidence)
        elif code in READERS:
            yield from READERS[code](record, None, broker, evidence)
    elif direction == "response" and record["code"] in ANSWERED:
        asked = open_requests.pop((record["remote"], record["opaque"]), None)
        if asked is not None:
            yield from _settle(*asked, record, broker)


def _settle(request: Record, evidence: Evidence, answer: Record | None, broker: str) -> Iterator[Fact]:
    """The facts of a request whose answer is known, or known to be missing."""
    try:
        yield from READERS[request["code"]](request, answer, broker, evidence)
    except MALFORMED as bad:
        yield UnreadRecord(at_ms=instant_of_any(request), source=broker, evidence=evidence, reason=why_not_read(bad))


def _follow(fact: Fact, members: Members) -> None:
    """Keep in `members` which groups each connection is registered for."""
    if isinstance(fact, HeartbeatReceived) and fact.remote is not None:
        members.setdefault(fact.remote, {})[fact.group] = fact.client_id
    elif isinstance(fact, ClientUnregistered) and fact.remote in members:
        members[fact.remote].pop(fact.group, None)


def _lifecycle(record: Record, broker: str, evidence: Evidence, members: Members) -> Iterator[Fact]:
    if record["name"] == "broker_started":
        yield BrokerStarted(at_ms=instant_of(record), source=broker, evidence=evidence)
    elif record["name"] == "broker_stopping":
        yield BrokerStopping(at_ms=instant_of(record), source=broker, evidence=evidence)
    elif record["name"] == "connection_closed":
        remote, at_ms = text_of(record["remote"], "remote"), instant_of(record)
        for group, client_id in sorted(members.pop(remote, {}).items()):
            yield ChannelClosed(
                at_ms=at_ms, source=broker, evidence=evidence, group=group, remote=remote, client_id=client_id
            )
