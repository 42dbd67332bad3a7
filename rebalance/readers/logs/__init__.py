"""Logs of brokers and clients: recognised entries (`log_events`) and the facts they state."""

from rebalance.readers.logs.facts import LogFacts, facts_from_log
from rebalance.readers.logs.reader import LogEvent, LogReader, LogSummary
from rebalance.readers.logs.table import TEMPLATES

__all__ = [
    "TEMPLATES",
    "LogEvent",
    "LogFacts",
    "LogReader",
    "LogSummary",
    "facts_from_log",
]
