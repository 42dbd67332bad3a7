"""Logs of brokers and clients: recognised entries (`log_events`) and the facts they state."""

from rebalance.logs.facts import LogFacts, facts_from_log
from rebalance.logs.reader import LogEvent, LogReader, LogSummary
from rebalance.logs.table import TEMPLATES

__all__ = [
    "TEMPLATES",
    "LogEvent",
    "LogFacts",
    "LogReader",
    "LogSummary",
    "facts_from_log",
]
