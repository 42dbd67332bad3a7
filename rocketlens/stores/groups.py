"""Where consumer groups are: what they have read, what waits for them, what moved them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from rocketlens.errors import RocketlensError
from rocketlens.gathered import Instant, Place, at_hand, instant, topics_told
from rocketlens.rows import Rows
from rocketlens.stores.asked import Asked, path_of, paths_of


class Groups(Asked):
    """Questions about consumer groups."""

    def groups(self, *, group: str | None = None, offsets: Place | None = None, no_proxy: bool = False) -> Rows:
        """Consumer groups: is each alive, and what would be lost if somebody deleted it (`groups`).

        Args:
            offsets: kept copies of consumerOffset.json, which tell since when its offsets stand.
            no_proxy: it is known that no consumer comes through a proxy in cluster mode.

        >>> store.groups(group="CG_failing")["dead_letters"]
        [11]
        """
        return self._rows("groups", group=group, logs=self._logs, offsets=path_of(offsets), no_proxy=no_proxy)

    def lag(
        self,
        *,
        group: str | None = None,
        topic: str | None = None,
        at: Instant | None = None,
        offsets: Place | None = None,
    ) -> Rows:
        """How far behind consumers are, in messages as `consumerProgress` counts them and in seconds (`lag`).

        Args:
            at: as it was then, from the newest copy of the offsets written by then.
            offsets: a kept copy of consumerOffset.json, or a folder of such copies; else the store's own.

        >>> store.lag(group="CG_lagging")["messages_behind"]
        [214, 220, 210, 236]
        """
        kept = path_of(offsets)
        return self._rows("lag", group=group, topic=topic, at=instant(at), offsets=kept, logs=self._logs)

    def lag_history(self, offsets: Place) -> Rows:
        """Lag at each moment at which the offsets were kept; oldest first.

        Args:
            offsets: a folder of copies of consumerOffset.json, or one copy.

        >>> kept = rl.bundle("orders-cluster") / "offsets"
        >>> len(set(rl.store(rl.bundled_store("orders-cluster")).lag_history(kept)["at"]))
        28
        """
        from pipelines.notebook.lag_history import read_lag_history

        problems: list[str] = []
        with at_hand(self.path) as folder:
            told = topics_told(self._logs, folder, self.said)
            kept = Path(offsets)
            kept = folder / kept.relative_to(self.path) if kept.is_relative_to(self.path) else kept
            rows = read_lag_history(folder, kept, problems.append, self.said, topic_events=told.events)
        return Rows(rows, (*told.unread, *problems), told.notes)

    def episodes(
        self,
        offsets: Place,
        *,
        group: str | None = None,
        topic: str | None = None,
        logs: Iterable[Place] = (),
        least: int | None = None,
        status: bool = False,
    ) -> Rows:
        """When groups fell behind, and what share each cause has in it (`episodes`).

        Args:
            offsets: a folder of kept copies of consumerOffset.json.
            logs: logs of the broker and of clients, captures, or folders of them.
            least: fewer messages behind are no episode; 100 without it.
            status: a status word for each queue instead, after Burrow's rules.

        >>> kept = rl.bundle("orders-cluster") / "offsets"
        >>> sorted(set(rl.store(rl.bundled_store("orders-cluster")).episodes(kept, status=True)["status"]))
        ['OK', 'WARN']
        """
        return self._rows(
            "episodes", offsets=Path(offsets), group=group, topic=topic, logs=paths_of(logs), least=least, status=status
        )

    def backlog(
        self,
        *,
        group: str | None = None,
        topic: str | None = None,
        tags: str | None = None,
        sql92: str | None = None,
        offsets: Place | None = None,
    ) -> Rows:
        """Unread messages that match what each group subscribes to, and the first of them (`backlog`).

        Args:
            tags: what this group subscribes to on this topic, as `TagA || TagB`; no file of a broker has it.
            sql92: the SQL92 filter it subscribes with; else the one that the broker keeps.
            offsets: kept copies of consumerOffset.json; else the store's own.

        >>> found = store.backlog(group="CG_lagging", topic="OrderTopic1", tags="TagA")
        >>> list(zip(found["unread"], found["matching"]))[:1]
        [(214, 57)]
        """
        return self._rows(
            "backlog", group=group, topic=topic, tags=tags, sql92=sql92, offsets=path_of(offsets), logs=self._logs
        )

    def ledger(
        self,
        *,
        group: str | None = None,
        topic: str | None = None,
        queue: int | None = None,
        lost: bool = False,
        offsets: Place | None = None,
        logs: Iterable[Place] = (),
    ) -> Rows:
        """What became of every queue offset, each in exactly one state, for the store and each group (`ledger`).

        Args:
            group: only as this group had it; else the store's own rows and those of every group.
            lost: only what a group does not get.
            offsets: kept copies of consumerOffset.json; else the store's own.
            logs: logs of the broker and of clients, and captures: what they say of topics, and of moved offsets.

        >>> found = store.ledger(group="CG_lagging", queue=0)
        >>> list(zip(found["state"], found["messages"]))
        [('consumed', 207), ('waiting', 214)]
        """
        return self._rows(
            "ledger", group=group, topic=topic, queue=queue, lost=lost, offsets=path_of(offsets), logs=paths_of(logs)
        )

    def offsets(
        self,
        *,
        group: str | None = None,
        topic: str | None = None,
        queue: int | None = None,
        logs: Iterable[Place] = (),
        offsets: Place | None = None,
    ) -> Rows:
        """What moved a group's offset: from where to where, when, by whom and why (`offsets`).

        Args:
            logs: logs of the broker and of clients, captures, or folders of them.
            offsets: kept copies of consumerOffset.json, beside the store's own.

        >>> store.offsets(group="CG_lagging").to_pylist()
        []
        """
        return self._rows(
            "offsets", group=group, topic=topic, queue=queue, logs=paths_of(logs), offsets=path_of(offsets)
        )

    def start_at(
        self,
        topic: str,
        *,
        policy: Literal["last", "first", "timestamp"] = "last",
        timestamp: Instant | None = None,
        memory: int | None = None,
    ) -> Rows:
        """Where a group without an offset begins on each queue of a topic, and what it never gets (`start-at`).

        Args:
            policy: the client's ConsumeFromWhere; with "timestamp" its consumeTimestamp, too.
            memory: bytes of the broker's machine, which count before 5.1.0.

        >>> store.start_at("OrderTopic2")["latest"]
        [531, 571]
        """
        from recovery.query.group_start import Policy

        if policy not in set(Policy):
            raise RocketlensError(f"policy: {policy!r} is none; there are {', '.join(Policy)}")
        return self._rows("start-at", topic=topic, policy=Policy(policy), timestamp=instant(timestamp), memory=memory)
