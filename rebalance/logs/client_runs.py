"""Which client wrote a line: most lines of a client log name the group only."""

from __future__ import annotations

from dataclasses import replace

from rebalance.events import ClientFact

_MAX_WAITING = 10_000


class ClientRuns:
    """Follows the consumers of one log: which run of a group it is, and which client id that run has.

    A run begins at each start of the group seen in the log. A line that names no client belongs to the run's only
    client; where one JVM runs two consumers of a group, such lines stay without a client id. Facts of a run that has
    not been named yet wait until it is, or until the log ends.
    """

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._ids: dict[str, set[str]] = {}
        self._waiting: dict[str, list[ClientFact]] = {}
        self._starting: set[str] = set()
        self._who: dict[str, tuple[str | None, int]] = {}  # forgotten whenever a group's ids or runs change
        self._instance: str | None = None
        self._instances: set[str] = set()

    def start(self, group: str) -> None:
        """A start of this group begins; what the group's earlier run owned is another run's business."""
        self._who.clear()
        self._number[group] = self._number.get(group, 0) + 1
        self._starting.add(group)

    def new_jvm(self) -> None:
        """The first client instance of a JVM came up: nothing that ran before is alive."""
        self._who.clear()
        self._instances.clear()
        for ids in self._ids.values():
            ids.clear()

    def new_instance(self, client_id: str) -> list[ClientFact]:
        """A client instance was named; starting consumers belong to it. Gives back facts that waited for it."""
        self._who.clear()
        self._instance = client_id
        self._instances.add(client_id)
        starting, self._starting = self._starting, set()
        return [fact for group in sorted(starting) for fact in self.name(group, client_id)]

    def started(self, group: str) -> list[ClientFact]:
        """The consumer is up. One that made no instance of its own shares the newest (<= 4.8.0)."""
        self._who.clear()
        unnamed = group in self._starting or not self._ids.get(group)
        self._starting.discard(group)
        return self.name(group, self._instance) if unnamed and self._instance else []

    def shut_down(self, group: str) -> None:
        """The group's only consumer went; of several, nobody knows which."""
        ids = self._ids.get(group)
        if ids and len(ids) == 1:
            self._who.clear()
            ids.clear()

    def name(self, group: str, client_id: str) -> list[ClientFact]:
        """A line named the group's client. Gives back the facts that waited for it."""
        self._who.clear()
        self._ids.setdefault(group, set()).add(client_id)
        waited = self._waiting.pop(group, [])
        return [replace(fact, client_id=client_id) for fact in waited]

    def who(self, group: str) -> tuple[str | None, int]:
        """The client id of a line that names this group only, if there is but one, and the run it belongs to."""
        known = self._who.get(group)
        if known is None:
            ids = self._ids.get(group)
            client_id = next(iter(ids)) if ids and len(ids) == 1 and group not in self._starting else None
            known = self._who[group] = client_id, self._number.get(group, 0)
        return known

    def only_instance(self) -> str | None:
        """The client id of a line that names nothing, if the JVM has one instance."""
        return self._instance if len(self._instances) == 1 else None

    def only_group(self) -> str | None:
        """The group of a line that names none, if the log has one."""
        return next(iter(self._ids)) if len(self._ids) == 1 else None

    def number(self, group: str) -> int:
        """The run of the group, from 1; 0 if its start is not in the log."""
        return self._number.get(group, 0)

    def pass_on(self, fact: ClientFact) -> list[ClientFact]:
        """The fact, unless it waits for the name of its run."""
        if fact.client_id is not None or (self._ids.get(fact.group) and fact.group not in self._starting):
            return [fact]
        waiting = self._waiting.setdefault(fact.group, [])
        waiting.append(fact)
        return self._waiting.pop(fact.group) if len(waiting) > _MAX_WAITING else []

    def rest(self) -> list[ClientFact]:
        """At the end of the log: facts whose run was never named."""
        waiting, self._waiting = self._waiting, {}
        return [fact for group in sorted(waiting) for fact in waiting[group]]
