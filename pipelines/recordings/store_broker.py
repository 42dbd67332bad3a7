"""Which of the brokers that recordings tell of is the one whose store is looked at."""

from __future__ import annotations

from collections.abc import Collection, Set


def one_of(logged: Collection[str], own: str | None) -> str | None:
    """Of the brokers whose logs are there the store's: the only one, or the one of its own name; None where neither
    is."""
    return next(iter(logged)) if len(logged) == 1 else own if own in logged else None


def broker_among(logged: Set[str], named: Set[str], own: str | None = None) -> Set[str] | None:
    """The names that recordings have for the store's broker; None where unknown, nothing where none is named.

    A log that does not name its broker goes by its folder, so that a broker may have two names.

    Args:
        logged: brokers whose logs are there.
        named: those that clients, captures or owned queues name.
        own: the name of the store's broker, where that is known.
    """
    unnamed = logged - named if len(logged) == 1 else frozenset[str]()
    if own is not None and own in logged | named:
        return {own} | unnamed
    brokers = logged & named or named or logged
    return brokers | unnamed if len(logged) < 2 and len(brokers) < 2 else None


def several(logged: Set[str], named: Set[str]) -> str:
    """Why `broker_among` cannot tell it."""
    return f"several brokers ({', '.join(sorted(logged | named))}); which is the store's is not known"
