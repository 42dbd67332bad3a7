"""The allocation strategies of the Java client, by their Java names.

In: queues and client ids. Out: a client's share. It knows no group and no record.
"""

from rebalance.strategies.base import Strategy, StrategyError
from rebalance.strategies.registry import strategy_named

__all__ = ["Strategy", "StrategyError", "strategy_named"]
