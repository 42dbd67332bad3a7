"""What consumers count and print each minute, hour and day: of each `topic@group`, messages, pulls and times.

Source: StatsItem, RTStatsItem, ConsumerStatsManager @4.4.0 - 5.3.3.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import Template

_SUMS = ("CONSUME_OK_TPS", "CONSUME_FAILED_TPS", "PULL_TPS")
_TIMES = ("CONSUME_RT", "PULL_RT")


def _counted(statistic: str, sums: str, versions: str = "all") -> Template:
    text = f"[{statistic}] [{{topic_at_group}}] Stats In One {{span}}, {sums}"
    return Template(statistic.lower(), "client", "INFO", versions, text, "")


STATS_TEMPLATES: tuple[Template, ...] = (
    *(_counted(statistic, "SUM: {count} TPS: {per_second} AVGPT: {average}") for statistic in _SUMS + _TIMES),
    *(_counted(statistic, "TIMES: {count} AVGRT: {average}", "≥4.7.1") for statistic in _TIMES),
)
"""Sums, and of times since 4.7.1 how many there were and what they took on average."""
