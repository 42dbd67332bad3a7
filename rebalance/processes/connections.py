"""The connections of one group while its facts are read, in time order."""

from __future__ import annotations

from rebalance.facts import ChannelFact, ClientFact, RequestFact
from rebalance.model.timing import PAUSE_MS, PORT_REUSE_MS, REQUEST_SAMPLE_MS, STRAGGLER_MS
from rebalance.processes.connection import Channel, Connection

_FIRST_REQUESTS = 8  # request numbers kept: the first ones, then one every REQUEST_SAMPLE_MS


class Connections:
    """Finds the connection, or the logged run, that a fact belongs to, and keeps it up to date."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Connection] = {}
        self.all: list[Connection] = []

    def known(self, fact: ChannelFact) -> Connection | None:
        """The connection of a fact, if there is one; not brought up to date."""
        return self._open.get((fact.source, fact.remote or ""))

    def of_channel(self, fact: ChannelFact) -> Connection | None:
        """The connection of a fact, brought up to date with it; None if the fact names no connection."""
        remote, at_ms, client_id = fact.remote, fact.at_ms, fact.client_id
        if remote is None:
            return None
        connection = self._open.get((fact.source, remote))
        if connection is not None:
            channel = connection.channel
            until_ms = channel.last_ms
            if channel.client_id == client_id and channel.unregistered_ms is None and at_ms <= until_ms + PAUSE_MS:
                if at_ms > until_ms:  # nearly all of millions of facts: nothing but time has gone on
                    channel.last_ms = at_ms
                connection.last_evidence = fact.evidence
                return connection
        if connection is None or _is_another(connection.channel, at_ms, client_id):
            connection = self.open(fact, fact.source, remote)
        else:
            _bring_up_to_date(connection.channel, at_ms, client_id)
        connection.last_evidence = fact.evidence
        return connection

    def of_request(self, fact: RequestFact) -> Connection | None:
        """The connection of a request, which carries a number of its process."""
        connection = self.of_channel(fact)
        request_no = fact.request_no
        if connection is not None and request_no is not None:
            requests, at_ms = connection.channel.requests, fact.at_ms
            if len(requests) < _FIRST_REQUESTS or at_ms >= requests[-1][0] + REQUEST_SAMPLE_MS:
                requests.append((at_ms, request_no))
        return connection

    def of_run(self, fact: ClientFact) -> Connection:
        """The run in a client's log that a fact belongs to, brought up to date."""
        run = f"{fact.source}#{fact.process}"
        connection = self._open.get(("", run))
        if connection is None:
            connection = self.open(fact, "", run)
        else:
            _bring_up_to_date(connection.channel, fact.at_ms, fact.client_id)
        connection.last_evidence = fact.evidence
        return connection

    def open(self, fact: ChannelFact | ClientFact, broker: str, remote: str) -> Connection:
        """A new connection, which begins with this fact."""
        channel = Channel(broker, remote, fact.client_id or "", fact.at_ms, fact.at_ms)
        connection = Connection(channel, fact.evidence)
        self._open[broker, remote] = connection
        self.all.append(connection)
        return connection


def _is_another(channel: Channel, at_ms: int, client_id: str | None) -> bool:
    """Whether the same ip:port is now another connection."""
    known = channel.client_id
    if known != client_id and known and client_id is not None:
        return True
    if channel.unregistered_ms is not None and at_ms > channel.unregistered_ms + STRAGGLER_MS:
        return True
    return at_ms > channel.last_ms + PORT_REUSE_MS


def _bring_up_to_date(channel: Channel, at_ms: int, client_id: str | None) -> None:
    if not channel.client_id and client_id is not None:
        channel.client_id = client_id
    until_ms = channel.last_ms
    if at_ms > until_ms:
        if at_ms > until_ms + PAUSE_MS:
            channel.pauses.append((until_ms, at_ms))
        channel.last_ms = at_ms
