"""What strategies give the members of a group, each question asked once.

A change of membership makes every member ask for the list, and most see the same one: who they are, which queues there
are, and what a strategy makes of both is kept by view, so a client's target is looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from parsers.values.java import utf16_order
from rebalance.model.message_queue import MessageQueue, Queues, sorted_queues
from rebalance.strategies.base import Strategy, StrategyError
from rebalance.strategies.registry import strategy_named

GUESSED = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")


@dataclass(slots=True, eq=False)
class QueueView:
    """One queue list a client may work with, in Java's order; the same list is the same object."""

    queues: Queues


@dataclass(slots=True, eq=False)
class MemberView:
    """One member list: `cid_all` in Java's order, an id as often as it comes; the same list is the same object."""

    cid_all: tuple[str, ...]


@dataclass(slots=True)
class Shares:
    """The strategies' results for one group."""

    group: str
    _strategies: dict[str, Strategy] = field(default_factory=lambda: {name: strategy_named(name) for name in GUESSED})
    _queue_views: dict[Queues, QueueView] = field(default_factory=dict)
    _member_views: dict[tuple[str, ...], MemberView] = field(default_factory=dict)
    _given: dict[tuple[str, QueueView, MemberView], dict[str, Queues | None]] = field(default_factory=dict)

    def queue_view(self, queues: Iterable[MessageQueue]) -> QueueView:
        """The view of these queues, in whatever order they come."""
        ordered = sorted_queues(queues)
        return self._queue_views.setdefault(ordered, QueueView(ordered))

    def member_view(self, client_ids: Sequence[str]) -> MemberView:
        """The view of a member list in a broker's order."""
        listed = tuple(client_ids)
        view = self._member_views.get(listed)
        if view is None:
            ordered = tuple(sorted(listed, key=utf16_order))
            view = self._member_views.setdefault(ordered, MemberView(ordered))
            self._member_views[listed] = view
        return view

    def knows(self, name: str) -> bool:
        """Whether there is a strategy of that name, with its default settings."""
        if name not in self._strategies:
            try:
                self._strategies[name] = strategy_named(name)
            except ValueError:
                return False
        return True

    def of(self, name: str, client_id: str, members: MemberView, view: QueueView) -> Queues | None:
        """The strategy's result; None if it throws (the client then keeps what it has)."""
        key = (name, view, members)
        given = self._given.get(key)
        if given is None:
            given = self._given[key] = {}
        if client_id not in given:
            given[client_id] = self._allocated(name, client_id, members, view)
        return given[client_id]

    def _allocated(self, name: str, client_id: str, members: MemberView, view: QueueView) -> Queues | None:
        try:
            result = self._strategies[name].allocate(self.group, client_id, view.queues, members.cid_all)
        except StrategyError:
            return None
        return tuple(result or ())
