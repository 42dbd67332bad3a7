"""Which client wrote a line: most lines of a client log name the group only."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rebalance.facts import ANY_RUN, ClientFact

_MAX_WAITING = 10_000
_NAMELESS = (None, ANY_RUN)


@dataclass(slots=True)
class _Consumer:
    """One run of a consumer. `up`: its start is over."""

    number: int
    client_id: str | None = None
    up: bool = False


class ClientRuns:
    """Follows the consumers of one log: which run of a group it is, and which client id that run has.

    A run begins at each start of the group seen in the log. A line that names no client belongs to the only consumer
    of its group that is alive in the JVM; where there are several, nobody can tell whose it is (`ANY_RUN`). Facts of a
    run that has not been named yet wait until it is, or until the log ends.
    """

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._alive: dict[str, list[_Consumer]] = {}
        self._waiting: dict[str, list[ClientFact]] = {}
        self._who: dict[str, tuple[str | None, int]] = {}  # both forgotten whenever a consumer comes, goes, or is named
        self._numbers: dict[tuple[str, str], int] = {}
        self._indexes: set[str] = set()
        self._instances: set[str] = set()

    def start(self, group: str, *, up: bool = False) -> None:
        """A start of this group begins. A log that does not count its instances has one JVM, one consumer at a time."""
        self._changed()
        if not self._indexes:
            self._alive.pop(group, None)
        self._last[group] = self._last.get(group, 0) + 1
        self._alive.setdefault(group, []).append(_Consumer(self._last[group], up=up))

    def new_index(self, index: str) -> None:
        """An instance was made. An index that was there before is another JVM's: nothing that was up is alive."""
        if index in self._indexes or not self._indexes:
            self._changed()
            self._indexes.clear()
            self._instances.clear()
            for group, consumers in self._alive.items():
                self._alive[group] = [c for c in consumers if not c.up and c.client_id is None][-1:]
        self._indexes.add(index)

    def new_instance(self, client_id: str) -> list[ClientFact]:
        """A client instance was named: the only consumer that is starting made it. Gives back facts that waited."""
        self._instances.add(client_id)
        starting = [(g, c) for g, alive in self._alive.items() for c in alive if not c.up and c.client_id is None]
        return self._named(*starting[0], client_id) if len(starting) == 1 else []

    def started(self, group: str) -> tuple[bool, list[ClientFact]]:
        """Whether the end of a start is all the log has of it, as of a pull consumer's; and facts that waited."""
        starting = [consumer for consumer in self._alive.get(group, ()) if not consumer.up]
        if not starting:
            self.start(group, up=True)
        consumer = starting[0] if starting else self._alive[group][-1]
        consumer.up = True
        if consumer.client_id is None and len(self._instances) == 1:
            return not starting, self._named(group, consumer, next(iter(self._instances)))
        return not starting, []

    def shut_down(self, group: str) -> None:
        """The group's only consumer went; of several, nobody knows which."""
        if len(self._alive.get(group, ())) == 1:
            self._changed()
            self._alive[group] = []

    def name(self, group: str, client_id: str) -> tuple[int, list[ClientFact]]:
        """A line named the group's client: its run, and the facts that waited for it."""
        known = self._numbers.get((group, client_id))
        if known is not None:
            return known, []
        alive = self._alive.setdefault(group, [])
        consumer = next((c for c in alive if c.client_id == client_id), None)
        consumer = consumer or next((c for c in alive if c.client_id is None), None)
        if consumer is None:
            number = self._last.setdefault(group, 0) + bool(alive)
            self._last[group] = number
            consumer = _Consumer(number, up=True)
            alive.append(consumer)
        waited = self._named(group, consumer, client_id)
        self._numbers[group, client_id] = consumer.number
        return consumer.number, waited

    def _named(self, group: str, consumer: _Consumer, client_id: str) -> list[ClientFact]:
        self._changed()
        consumer.client_id = client_id
        alone = self._alive[group] == [consumer]
        whose = {"client_id": client_id, "process": consumer.number} if alone else {"process": ANY_RUN}
        return [replace(fact, **whose) for fact in self._waiting.pop(group, [])]

    def _changed(self) -> None:
        self._who.clear()
        self._numbers.clear()

    def who(self, group: str) -> tuple[str | None, int]:
        """The client id of a line that names this group only, and the run it belongs to."""
        known = self._who.get(group)
        if known is None:
            alive = self._alive.get(group)
            if not alive:
                known = None, self._last.get(group, 0)
            else:
                known = (alive[0].client_id, alive[0].number) if len(alive) == 1 else _NAMELESS
            self._who[group] = known
        return known

    def only_instance(self) -> str | None:
        """The client id of a line that names nothing, if the JVM has one instance."""
        return next(iter(self._instances)) if len(self._instances) == 1 else None

    def only_group(self) -> str | None:
        """The group of a line that names none, if the log has one."""
        return next(iter(self._alive)) if len(self._alive) == 1 else None

    def pass_on(self, fact: ClientFact) -> list[ClientFact]:
        """The fact, unless it waits for the name of its run: one that begins may prove to be the only one."""
        begins = any(not consumer.up and consumer.client_id is None for consumer in self._alive.get(fact.group, ()))
        if fact.client_id is not None or (fact.process == ANY_RUN and not begins):
            return [fact]
        waiting = self._waiting.setdefault(fact.group, [])
        waiting.append(fact)
        return self._waiting.pop(fact.group) if len(waiting) > _MAX_WAITING else []

    def rest(self) -> list[ClientFact]:
        """At the end of the log: facts whose run was never named."""
        waiting, self._waiting = self._waiting, {}
        return [fact for group in sorted(waiting) for fact in waiting[group]]
