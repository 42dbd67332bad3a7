"""Commands seen on a broker's connections -> wire records, the input of `rebalance.readers.wire.facts`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rebalance.model.json_text import parse_json
from rebalance.readers.wire.remoting import RemotingCommand
from rebalance.readers.wire.requests import (
    GET_CONSUMER_LIST_BY_GROUP,
    HEART_BEAT,
    LITE_PULL_MESSAGE,
    LOCK_BATCH_MQ,
    PULL_MESSAGE,
    QUERY_ASSIGNMENT,
    QUERY_CONSUMER_OFFSET,
    SET_MESSAGE_REQUEST_MODE,
    UNLOCK_BATCH_MQ,
    UNREGISTER_CLIENT,
    UPDATE_CONSUMER_OFFSET,
)

REQUEST_NAMES = {
    PULL_MESSAGE: "PULL_MESSAGE",
    QUERY_CONSUMER_OFFSET: "QUERY_CONSUMER_OFFSET",
    UPDATE_CONSUMER_OFFSET: "UPDATE_CONSUMER_OFFSET",
    HEART_BEAT: "HEART_BEAT",
    UNREGISTER_CLIENT: "UNREGISTER_CLIENT",
    GET_CONSUMER_LIST_BY_GROUP: "GET_CONSUMER_LIST_BY_GROUP",
    LOCK_BATCH_MQ: "LOCK_BATCH_MQ",
    UNLOCK_BATCH_MQ: "UNLOCK_BATCH_MQ",
    LITE_PULL_MESSAGE: "LITE_PULL_MESSAGE",
    QUERY_ASSIGNMENT: "QUERY_ASSIGNMENT",
    SET_MESSAGE_REQUEST_MODE: "SET_MESSAGE_REQUEST_MODE",
}
"""Requests a capture is asked for; RequestCode's names."""
_UNRECORDED_ANSWERS = frozenset({PULL_MESSAGE, LITE_PULL_MESSAGE, UPDATE_CONSUMER_OFFSET})
_MAX_OPEN = 100_000  # requests whose answer never comes must not pile up


@dataclass(slots=True)
class RecordCounts:
    """What became of the commands. `others`: requests of other codes, answers to them, and requests of the broker."""

    requests: int = 0
    answers: int = 0
    answers_without_request: int = 0
    others: int = 0


class WireRecorder:
    """Joins answers to their requests, for an answer on the wire does not say what it answers."""

    def __init__(self) -> None:
        self.counts = RecordCounts()
        self._asked: dict[tuple[str, int], int] = {}

    def record(self, at_ms: int, remote: str, from_client: bool, command: RemotingCommand) -> dict[str, Any] | None:
        """The record of one command, None if captures do not hold it.

        Args:
            at_ms: epoch ms at which the command's last byte passed.
            remote: the client's `ip:port`.
        """
        if command.is_response:
            return None if from_client else self._answer(at_ms, remote, command)
        if not from_client:
            self.counts.others += 1
            return None
        return self._request(at_ms, remote, command)

    def closed(self, at_ms: int, remote: str) -> dict[str, Any]:
        """The record of a connection's end."""
        return {"ts": at_ms, "dir": "lifecycle", "name": "connection_closed", "remote": remote}

    def _request(self, at_ms: int, remote: str, command: RemotingCommand) -> dict[str, Any] | None:
        if not command.is_oneway:
            if len(self._asked) >= _MAX_OPEN:
                del self._asked[next(iter(self._asked))]
            self._asked[remote, command.opaque] = command.code
        if command.code not in REQUEST_NAMES:
            self.counts.others += 1
            return None
        self.counts.requests += 1
        return {
            "ts": at_ms,
            "dir": "request",
            "code": command.code,
            "name": REQUEST_NAMES[command.code],
            "remote": remote,
            "opaque": command.opaque,
            "oneway": command.is_oneway,
            "clientVersion": command.version,
            "language": command.language,
            "header": None if command.ext_fields is None else dict(command.ext_fields),
            "body": _json_body(command.body),
        }

    def _answer(self, at_ms: int, remote: str, command: RemotingCommand) -> dict[str, Any] | None:
        code = self._asked.pop((remote, command.opaque), None)
        if code is None:
            self.counts.answers_without_request += 1
            return None
        if code not in REQUEST_NAMES or code in _UNRECORDED_ANSWERS:
            self.counts.others += 1
            return None
        self.counts.answers += 1
        return {
            "ts": at_ms,
            "dir": "response",
            "code": code,
            "name": REQUEST_NAMES[code],
            "remote": remote,
            "opaque": command.opaque,
            "result": command.code,
            "remark": command.remark,
            "header": dict(command.ext_fields or {}),
            "body": _json_body(command.body),
        }


def _json_body(body: bytes) -> Any:
    """The body as JSON. None without a body, and for one that is no JSON: `rebalance.readers.wire.facts` reports it."""
    try:
        return parse_json(body) if body else None
    except (ValueError, RecursionError):
        return None
