"""The parts of a group's record: what one connection, or one run in a client's log, tells; and parts joined to
processes.
"""

from __future__ import annotations

from rebalance.facts import ChannelFact, ClientFact, RequestFact
from rebalance.processes.process import PAUSE_MS, ChannelUse, ClientProcess, HeardVersion, ProcessKey
from rebalance.processes.same_jvm import processes_of

_STRAGGLER_MS = 1_000  # requests of a leaving client may be handled after its unregister
_FIRST_REQUESTS, _SAMPLE_MS = 8, 1_000  # request numbers kept: the first ones, then one a second
_PORT_REUSE_MS = 120_000  # a connection silent for longer than serverChannelMaxIdleTime is closed


class Parts:
    """Keeps one part per connection and per logged run. Facts must come in time order.

    A connection that never names its client (an administration tool's) never becomes a process.
    """

    def __init__(self, group: str) -> None:
        self.group = group
        self._open: dict[tuple[str, str], ClientProcess] = {}
        self._all: list[ClientProcess] = []

    def known(self, fact: ChannelFact) -> ClientProcess | None:
        """The part of a fact's connection, if there is one; not brought up to date."""
        return self._open.get((fact.source, fact.remote or ""))

    def of_connection(self, fact: ChannelFact) -> ClientProcess | None:
        """The part of a fact's connection, brought up to date with it; None if the fact names no connection."""
        remote, at_ms, client_id = fact.remote, fact.at_ms, fact.client_id
        if remote is None:
            return None
        part = self._open.get((fact.source, remote))
        if part is not None:
            channel = part.channels[0]
            until_ms = channel.last_ms
            if channel.client_id == client_id and channel.unregistered_ms is None and at_ms <= until_ms + PAUSE_MS:
                if at_ms > until_ms:  # nearly all of millions of facts: nothing but time has gone on
                    channel.last_ms = part.last_ms = at_ms
                part.last_evidence = fact.evidence
                return part
        if part is None or _is_another(part.channels[0], at_ms, client_id):
            part = self.open(fact, fact.source, remote)
        else:
            _bring_up_to_date(part, at_ms, client_id)
        part.last_evidence = fact.evidence
        return part

    def of_request(self, fact: RequestFact) -> ClientProcess | None:
        """The same for a request, which carries a number of its process."""
        part = self.of_connection(fact)
        request_no = fact.request_no
        if part is not None and request_no is not None:
            requests, at_ms = part.channels[0].requests, fact.at_ms
            if len(requests) < _FIRST_REQUESTS or at_ms >= requests[-1][0] + _SAMPLE_MS:
                requests.append((at_ms, request_no))
        return part

    def of_run(self, fact: ClientFact) -> ClientProcess:
        """The part of a run in a client's log, brought up to date."""
        run = f"{fact.source}#{fact.process}"
        part = self._open.get(("", run))
        if part is None:
            part = self.open(fact, "", run)
        else:
            _bring_up_to_date(part, fact.at_ms, fact.client_id)
        part.last_evidence = fact.evidence
        return part

    def open(self, fact: ChannelFact | ClientFact, broker: str, remote: str) -> ClientProcess:
        """A new part, which begins with this fact."""
        channel = ChannelUse(broker, remote, fact.client_id or "", fact.at_ms, fact.at_ms)
        part = ClientProcess(
            self.group,
            ProcessKey(fact.client_id or "", 0),
            [channel],
            first_ms=fact.at_ms,
            last_ms=fact.at_ms,
            first_evidence=fact.evidence,
        )
        self._open[broker, remote] = part
        self._all.append(part)
        return part

    def joined(self) -> list[ClientProcess]:
        """All processes, ordered by client id, then by appearance."""
        by_client: dict[str, list[ClientProcess]] = {}
        for part in self._all:
            if part.client_id:
                by_client.setdefault(part.client_id, []).append(part)
        return [process for client_id in sorted(by_client) for process in _join(by_client[client_id])]


def _is_another(channel: ChannelUse, at_ms: int, client_id: str | None) -> bool:
    """Whether the same ip:port is now another connection."""
    known = channel.client_id
    if known != client_id and known and client_id is not None:
        return True
    if channel.unregistered_ms is not None and at_ms > channel.unregistered_ms + _STRAGGLER_MS:
        return True
    return at_ms > channel.last_ms + _PORT_REUSE_MS


def _bring_up_to_date(part: ClientProcess, at_ms: int, client_id: str | None) -> None:
    channel = part.channels[0]
    if not channel.client_id and client_id is not None:
        channel.client_id = client_id
        part.key = ProcessKey(client_id, 0)
    until_ms = channel.last_ms
    if at_ms > until_ms:
        if at_ms > until_ms + PAUSE_MS:
            channel.pauses.append((until_ms, at_ms))
        channel.last_ms = part.last_ms = at_ms


def _join(parts: list[ClientProcess]) -> list[ClientProcess]:
    """Parts of one client id -> its processes."""
    by_channel = {id(part.channels[0]): part for part in parts}
    joined = []
    for number, channels in enumerate(processes_of(part.channels[0] for part in parts), start=1):
        joined.append(_merged([by_channel[id(channel)] for channel in channels], number))
    return joined


def _merged(parts: list[ClientProcess], number: int) -> ClientProcess:
    first, last = min(parts, key=lambda p: p.first_ms), max(parts, key=lambda p: p.last_ms)
    whole = ClientProcess(
        first.group,
        ProcessKey(first.client_id, number),
        [channel for part in parts for channel in part.channels],
        parts,
        next((p.message_model for p in parts if p.message_model is not None), None),
        next((p.consume_type for p in parts if p.consume_type is not None), None),
        next((p.client_version for p in parts if p.client_version is not None), None),
        first.first_ms,
        last.last_ms,
        first.first_evidence,
        last.last_evidence,
    )
    whole.ordered = any(part.ordered for part in parts)
    whole.lite = any(part.lite for part in parts)
    whole.log_from_start = any(part.log_from_start for part in parts)
    logs = [part for part in parts if part.has_log]  # what a broker answered, a log tells too
    whole.results = sorted((r for part in logs or parts for r in part.results), key=lambda result: result.at_ms)
    whole.lists = sorted((answer for part in parts for answer in part.lists), key=lambda answer: answer.at_ms)
    whole.list_instants = [answer.at_ms for answer in whole.lists]
    for part in parts:
        for topic, versions in part.versions.items():
            whole.versions.setdefault(topic, []).extend(versions)
        for queue, witnesses in part.witnesses.items():
            whole.witnesses.setdefault(queue, []).extend(witnesses)
    for topic, versions in whole.versions.items():
        whole.versions[topic] = _rising(sorted(versions, key=lambda heard: heard.heard_ms))
    for witnesses in whole.witnesses.values():
        witnesses.sort(key=lambda witness: witness.at_ms)
    return whole


def _rising(versions: list[HeardVersion]) -> list[HeardVersion]:
    rising = versions[:1]
    for heard in versions[1:]:
        if heard.sub_version > rising[-1].sub_version:
            rising.append(heard)
    return rising
