"""What brokers (stats.log, watermark.log) and consumers count and print each minute, hour and day.

Source: StatsItem, RTStatsItem, MomentStatsItem, ConsumerStatsManager, BrokerStatsManager and
BrokerController#printWaterMark @4.2.0 - 5.3.3.
"""

from __future__ import annotations

from typing import NamedTuple

from rebalance.readers.logs.templates.template import Template

_TOPIC, _OF_GROUP, _CLUSTER = "{topic}", "{topic_at_group}", "{subject}"
_SUM = "Stats In One {span}, SUM: {sum} TPS: {per_second} AVGPT: {average}"
_CALLS = "Stats In One {span}, TIMES: {times} AVGRT: {average}"
_LATEST = "Stats Every {span}, Value: {sum}"
_SINCE_5, _SINCE_5_1, _QUEUES = "≥5.0.0", "≥5.1.0", "≥4.9.2"


class Statistic(NamedTuple):
    """What is counted: whose log has it, since when, of what (its key), what follows the key, and what it means."""

    log: str
    versions: str
    key: str
    forms: tuple[str, ...]
    means: str


def _broker(means: str, key: str, versions: str = "all", forms: tuple[str, ...] = (_SUM,)) -> Statistic:
    return Statistic("stats", versions, key, forms, means)


def _client(means: str, *forms: str) -> Statistic:
    return Statistic("client", "all", _OF_GROUP, forms, means)


STATISTICS = {
    "CONSUME_OK_TPS": _client("messages that the listener took", _SUM),
    "CONSUME_FAILED_TPS": _client("messages that the listener gave back, or threw at", _SUM),
    "PULL_TPS": _client("messages pulled", _SUM),
    "CONSUME_RT": _client("ms in the listener, a call", _SUM, _CALLS),
    "PULL_RT": _client("ms a pull took", _SUM, _CALLS),
    "TOPIC_PUT_NUMS": _broker("messages stored", _TOPIC),
    "TOPIC_PUT_SIZE": _broker("bytes stored", _TOPIC),
    "TOPIC_PUT_LATENCY": _broker("ms that puts took", "{queue_id}@{topic}", _SINCE_5, (_SUM, _CALLS)),
    "QUEUE_PUT_NUMS": _broker("messages stored", "{topic}@{queue_id}", _QUEUES),
    "QUEUE_PUT_SIZE": _broker("bytes stored", "{topic}@{queue_id}", _QUEUES),
    "QUEUE_GET_NUMS": _broker("messages handed to the group", "{topic}@{queue_id}@{group}", _QUEUES),
    "QUEUE_GET_SIZE": _broker("bytes handed to the group", "{topic}@{queue_id}@{group}", _QUEUES),
    "GROUP_GET_NUMS": _broker("messages handed to the group, each time anew where they are read again", _OF_GROUP),
    "GROUP_GET_SIZE": _broker("bytes handed to the group", _OF_GROUP),
    "GROUP_GET_FROM_DISK_NUMS": _broker("messages handed to the group that were on disk", _OF_GROUP),
    "GROUP_GET_FROM_DISK_SIZE": _broker("bytes handed to the group that were on disk", _OF_GROUP),
    "GROUP_GET_LATENCY": _broker("ms that reads for the group took", "{queue_of_group}", "all", (_SUM, _CALLS)),
    "GROUP_ACK_NUMS": _broker("acks of popped messages", _OF_GROUP, _SINCE_5),
    "GROUP_CK_NUMS": _broker("checkpoints of popped messages", _OF_GROUP, _SINCE_5),
    "GROUP_GET_FALL_SIZE": _broker(
        "bytes of the log after the last message that the group read: of all topics, so no count of what it has not "
        "read; 0 also when it read nothing for five minutes",
        "{queue_of_group}",
        "all",
        (_LATEST,),
    ),
    "GROUP_GET_FALL_TIME": _broker(
        "age in ms of the last message that the group read; 0 also when it read nothing for five minutes",
        "{queue_of_group}",
        "all",
        (_LATEST,),
    ),
    "SNDBCK_PUT_NUMS": _broker("messages that the group gave back", _OF_GROUP),
    "DLQ_PUT_NUMS": _broker("messages that the group gave up", _OF_GROUP, _SINCE_5),
    "BROKER_PUT_NUMS": _broker("messages stored, of all topics", _CLUSTER),
    "BROKER_GET_NUMS": _broker("messages handed out, of all topics", _CLUSTER),
    "BROKER_ACK_NUMS": _broker("acks, of all groups", _CLUSTER, _SINCE_5),
    "BROKER_CK_NUMS": _broker("checkpoints of pops, of all groups", _CLUSTER, _SINCE_5),
    "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC": _broker("messages stored, of users' topics", _CLUSTER, _SINCE_5_1),
    "BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC": _broker("messages handed out, of users' topics", _CLUSTER, _SINCE_5_1),
    "BROKER_GET_FROM_DISK_NUMS": _broker("messages handed out that were on disk", _CLUSTER),
    "BROKER_GET_FROM_DISK_SIZE": _broker("bytes handed out that were on disk", _CLUSTER),
    "CONSUMER_REGISTER_TIME": _broker("ms that registering consumers took", _CLUSTER, _SINCE_5),
    "PRODUCER_REGISTER_TIME": _broker("ms that registering producers took", _CLUSTER, _SINCE_5),
    "CHANNEL_ACTIVITY": _broker("connections, by what happened to them", _CLUSTER, _SINCE_5),
    "WATERMARK": Statistic(
        "watermark",
        "all",
        "{pool}",
        ("Queue Size: {sum} SlowTimeMills: {waited_ms}",),
        "requests that wait for a thread of the broker, and how long the first of them has waited",
    ),
}
"""Name of a statistic, as the line has it -> what it counts."""


def _text(name: str, key: str, form: str) -> str:
    return f"[{name}] {key} {form}" if name == "WATERMARK" else f"[{name}] [{key}] {form}"


def _templates() -> list[Template]:
    found = []
    for name, (log, versions, key, forms, _) in STATISTICS.items():
        keys = (key, _OF_GROUP) if name == "GROUP_GET_LATENCY" else (key,)
        for form in forms:
            since = "≥4.7.1" if form is _CALLS and versions == "all" else versions
            found += [Template(name.lower(), log, "INFO", since, _text(name, each, form)) for each in keys]
    return found


_OF_NAME_SERVER = Template(
    "name_server_watermark",
    "watermark",
    "INFO",
    _SINCE_5,
    "[WATERMARK] ClientQueueSize:{count} ClientQueueSlowTime:{timeout} DefaultQueueSize:{most} "
    "DefaultQueueSlowTime:{since}",
)
STATS_TEMPLATES = (*_templates(), _OF_NAME_SERVER)
"""Sums, and of times since 4.7.1 how many there were and what they took on average."""
