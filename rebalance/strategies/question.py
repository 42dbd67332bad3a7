"""One question to a strategy, as a JSON object, and its answer: the form of the recorded vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parsers.values.version import NEWEST, Version
from rebalance.model.message_queue import MessageQueue
from rebalance.strategies.base import StrategyError, sorted_inputs
from rebalance.strategies.pop_share import allocate_for_pop
from rebalance.strategies.registry import queue_of, strategy_named, whole_number

Answer = dict[str, Any]


def answer(
    line: Mapping[str, Any],
    *,
    strategy: str = "AVG",
    params: Mapping[str, Any] | None = None,
    version: Version = NEWEST,
    sort: bool = False,
) -> Answer:
    """Allocate as the Java class of that version does.

    Args:
        line: `{strategy?, params?, version?, group?, current, mq_all: [[topic, broker, queue_id], ...], cid_all}`;
            the lists may be null. `params.popShareQueueNum` asks for the broker-side answer in POP mode (>= 5.0.0).
        strategy, params, version: what the line leaves out; its params go before these.
        sort: sort both lists first, as the client does before it asks.
    Returns:
        `{"result": [[topic, broker, queue_id], ...]}` (null from CONFIG never set) or
        `{"error": {"class": ..., "message": ...}}` with Java's class and message.
    Raises:
        ValueError: the line itself is malformed.
    """
    settings = {**(params or {}), **_params(line)}
    running = Version.parse(_text(line, "version")) if line.get("version") else version
    mq_all, cid_all = _queues(line), _ids(line)
    if sort:
        sorted_mqs, sorted_cids = sorted_inputs(mq_all or (), cid_all or ())
        mq_all, cid_all = mq_all and sorted_mqs, cid_all and sorted_cids
    group, current = _text(line, "group") or "", _text(line, "current")
    try:
        asked = strategy_named(_text(line, "strategy") or strategy, settings, running)
        if "popShareQueueNum" in settings:
            share = whole_number(settings, "popShareQueueNum")
            return _result(allocate_for_pop(asked, group, current, mq_all or [], cid_all or [], share))
        return _result(asked.allocate(group, current, mq_all, cid_all))
    except StrategyError as refused:
        return {"error": {"class": refused.java_class, "message": refused.message}}


def _result(queues: list[MessageQueue] | None) -> Answer:
    return {"result": None if queues is None else [list(mq) for mq in queues]}


def _text(line: Mapping[str, Any], name: str) -> Any:
    text = line.get(name)
    if text is not None and not isinstance(text, str):
        raise ValueError(f"{name} is not a text: {text!r}")
    return text


def _params(line: Mapping[str, Any]) -> Mapping[str, Any]:
    params = line.get("params") or {}
    if not isinstance(params, Mapping):
        raise ValueError(f"params is not an object: {params!r}")
    return params


def _queues(line: Mapping[str, Any]) -> list[MessageQueue] | None:
    rows = line.get("mq_all")
    if rows is None:
        return None
    if not isinstance(rows, list):
        raise ValueError(f"mq_all is not a list: {rows!r}")
    return [queue_of(row) for row in rows]


def _ids(line: Mapping[str, Any]) -> list[str] | None:
    ids = line.get("cid_all")
    if ids is not None and not (isinstance(ids, list) and all(isinstance(cid, str) for cid in ids)):
        raise ValueError(f"cid_all is not a list of texts: {ids!r}")
    return ids
