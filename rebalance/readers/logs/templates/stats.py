"""What brokers and consumers count and print: stats.log of a broker, the log of a consumer.

A key is `topic`, `topic@group`, or with the queue before them, `queueId@topic@group`.
Source: StatsItem, RTStatsItem, MomentStatsItem, BrokerStatsManager, ConsumerStatsManager @4.4.0 - 5.3.3.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import Template

_OF_BROKER = (
    "TOPIC_PUT_NUMS",
    "TOPIC_PUT_SIZE",
    "TOPIC_PUT_LATENCY",
    "GROUP_GET_NUMS",
    "GROUP_GET_SIZE",
    "GROUP_GET_LATENCY",
    "GROUP_GET_FROM_DISK_NUMS",
    "GROUP_ACK_NUMS",
    "GROUP_CK_NUMS",
    "SNDBCK_PUT_NUMS",
    "DLQ_PUT_NUMS",
)
_OF_CONSUMER = ("CONSUME_OK_TPS", "CONSUME_FAILED_TPS", "CONSUME_RT", "PULL_TPS", "PULL_RT")
_BEHIND = ("GROUP_GET_FALL_SIZE", "GROUP_GET_FALL_TIME")


def _stats(log: str, statistic: str) -> tuple[Template, ...]:
    """Sums of one statistic; of times, since 4.7.1, how many there were and what they took on average."""
    begin = f"[{statistic}] [{{counted}}] Stats In One {{span}}, "
    sums = Template(
        statistic.lower(), log, "INFO", "all", begin + "SUM: {count} TPS: {per_second} AVGPT: {average}", ""
    )
    if not statistic.endswith(("_RT", "_LATENCY")):
        return (sums,)
    return sums, Template(statistic.lower(), log, "INFO", "≥4.7.1", begin + "TIMES: {count} AVGRT: {average}", "")


def _moment(statistic: str) -> Template:
    text = f"[{statistic}] [{{counted}}] Stats Every 5 Minutes, Value: {{count}}"
    return Template(statistic.lower(), "stats", "INFO", "all", text, "")


STATS_TEMPLATES: tuple[Template, ...] = (
    *(text for statistic in _OF_BROKER for text in _stats("stats", statistic)),
    *(text for statistic in _OF_CONSUMER for text in _stats("client", statistic)),
    *map(_moment, _BEHIND),
)
"""Sums of a minute, an hour and a day; how far pulls were behind, in bytes and ms, as it was every five minutes."""
