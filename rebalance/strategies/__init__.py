"""The allocation strategies of the Java client, by their Java names.

In: queues and client ids. Out: a client's share. It knows no group and no record.
"""

from rebalance.strategies.base import Strategy, StrategyError
from rebalance.strategies.registry import strategy_named
from rebalance.strategies.round import rebalance_by_topic

__all__ = ["Strategy", "StrategyError", "rebalance_by_topic", "strategy_named"]
