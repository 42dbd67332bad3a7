"""Broker versions, and every behaviour of the store that changed: which version does what, from which source.

A predicate is asked by the code that needs it; nothing else in this room compares version numbers.
"""

from __future__ import annotations

from recovery.rules.version_of_service import ServiceRules


class BrokerVersion(ServiceRules):
    """The release of a broker, and what its store does."""

    __slots__ = ()

    @property
    def is_by_specification(self) -> bool:
        """Maven Central has no broker of it (3.2.7 to 3.6.x): its rules follow from its neighbours', and no file of it
        was seen."""
        return (3, 2, 6) < self < (4, 0, 0)


PROVEN = tuple(
    map(
        BrokerVersion.parse,
        ("3.2.6", "4.2.0", "4.3.2", "4.4.0", "4.5.2", "4.7.1", "4.9.8", "5.3.1", "5.3.3", "5.5.1"),
    )
)
"""Versions whose behaviour on damaged stores was recorded and is reproduced case by case."""
