"""Logs of brokers and clients.

In: lines. Out: recognised entries (rows of `log_events`) and the facts they state. It knows no file and no capture.
"""

from rebalance.readers.logs.facts.log import LogFacts, facts_from_log
from rebalance.readers.logs.lines.reader import LogEvent, LogReader, LogSummary
from rebalance.readers.logs.templates.table import TEMPLATES

__all__ = ["TEMPLATES", "LogEvent", "LogFacts", "LogReader", "LogSummary", "facts_from_log"]
