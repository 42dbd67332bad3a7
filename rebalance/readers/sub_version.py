"""`subVersion`: when a client last changed its queues of a topic, by its own clock.

Java's clients write milliseconds, the Go client nanoseconds. Source: RebalancePushImpl#messageQueueChanged @4.1.0 …
5.3.3; push_consumer.go#messageQueueChanged, consumer.go#buildSubscriptionData of rocketmq-client-go v2.0.0 … v2.1.2.
"""

from __future__ import annotations

_NANOSECONDS_FROM = 10**16
"""Milliseconds reach it in the year 318857, nanoseconds in April 1970."""


def sub_version_ms(sub_version: int) -> int:
    """Epoch milliseconds of a subVersion."""
    return sub_version // 1_000_000 if sub_version >= _NANOSECONDS_FROM else sub_version
