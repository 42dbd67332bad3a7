"""What happened to topics and to messages."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rocketlens.gathered import Instant, Place, instant, rows_of
from rocketlens.piece import Piece
from rocketlens.rows import Rows
from rocketlens.stores.asked import Asked, path_of


class Stories(Asked):
    """Questions about what happened."""

    def topics(self, *, topic: str | None = None) -> Rows:
        """The lives of each topic: alive, deleted, vanished, created again under its name (`topics`).

        >>> store.topics(topic="OrderTopic2")["state"]
        ['alive']
        """
        return self._rows("topics", topic=topic, logs=self._logs)

    def lives(self, *, topic: str | None = None, group: str | None = None, kept: Place | None = None) -> Rows:
        """What happened to topics and groups: created, changed, deleted, created again, vanished (`lives`).

        Args:
            kept: copies of topics.json and subscriptionGroup.json, beside the store's own.

        >>> store.lives(topic="OrderTopic2")["happened"]
        ['created']
        """
        return self._rows("lives", topic=topic, group=group, logs=self._logs, kept=path_of(kept))

    def who(self, message_id: str, *, logs: Iterable[Place] = (), offsets: Place | None = None) -> Rows:
        """The way of one message: sent, stored, indexed, owned, pulled, committed past, retried, traced (`who`).

        Args:
            logs: further logs and captures of brokers and clients.
            offsets: a kept copy of consumerOffset.json, or a folder of such copies; else the store's own.

        >>> store.who("7F00000100002A9F0000000000000000")["step"]
        ['sent', 'stored', 'queued', 'indexed', 'committed', 'committed']
        """
        from pipelines.cli.commands.ownership.who import who

        return rows_of(
            who,
            self._broker,
            source=self.path,
            message_id=message_id,
            logs=[*self._logs, *map(Path, logs)],
            offsets=path_of(offsets),
        )

    def journey(self, message_id: str, *, logs: Iterable[Place] = (), offsets: Place | None = None) -> Piece:
        """The steps that `who` tells, in a picture on a time axis and in words; arguments as of `who`.

        >>> store.journey("7F00000100002A9F0000000000000000").content.verdict
        '6 steps, 2 of them not certain.'
        """
        from pipelines.report.sections.journey import journey_section

        return Piece(journey_section(message_id, self.who(message_id, logs=logs, offsets=offsets).to_pylist()))

    def traces(self, *, message_id: str | None = None, messages: bool = False, trace_topic: Iterable[str] = ()) -> Rows:
        """Message trace: what clients wrote about each send and each call of a listener (`traces`).

        Args:
            message_id: only records of this message, by unique id or message id.
            messages: a row for each record, else one for each group and kind of record.
            trace_topic: topics that carry traces besides those that tell so.

        >>> store.traces(messages=True).to_pylist()
        []
        """
        return self._rows("traces", messages=messages, message_id=message_id, trace_topic=list(trace_topic) or None)

    def delays(
        self,
        *,
        topic: str | None = None,
        level: int | None = None,
        messages: bool = False,
        pending: bool = False,
        now: Instant | None = None,
    ) -> Rows:
        """Delayed and timer messages: what is pending and overdue, what was delivered and how late (`delays`).

        Args:
            level: only this delay level; 0: timer messages.
            messages: a row for each message, else one for each level and topic.
            pending: only what is not delivered yet.
            now: when a pending message counts as overdue; else now.

        >>> sorted(set(store.delays(messages=True)["state"]))
        ['delivered', 'pending']
        """
        return self._rows("delays", topic=topic, level=level, messages=messages, pending=pending, now=instant(now))

    def retries(
        self,
        *,
        group: str | None = None,
        topic: str | None = None,
        messages: bool = False,
        dead: bool = False,
        offsets: Place | None = None,
    ) -> Rows:
        """Messages that groups gave back: where they come from, how often they failed, where they are (`retries`).

        Args:
            topic: the topic that the messages were sent to.
            messages: a row for each message, else one for each group.
            dead: only dead letters.
            offsets: kept copies of consumerOffset.json; else the store's own.

        >>> store.retries(group="CG_failing")["dead_letters"]
        [11]
        """
        return self._rows("retries", group=group, topic=topic, messages=messages, dead=dead, offsets=path_of(offsets))

    def transactions(self, *, topic: str | None = None, messages: bool = False, open_: bool = False) -> Rows:
        """Transactions: committed, rolled back, pending, given up, and how often checked (`transactions`).

        Args:
            messages: a row for each transaction, else one for each producer group and topic.
            open_: only those that were not decided.

        >>> sum(store.transactions()["pending"]) == len(store.transactions(messages=True, open_=True))
        True
        """
        return self._rows("transactions", topic=topic, messages=messages, open_=open_)

    def pop(
        self,
        *,
        group: str | None = None,
        topic: str | None = None,
        messages: bool = False,
        open_: bool = False,
        revive: bool = False,
        now: Instant | None = None,
        offsets: Place | None = None,
    ) -> Rows:
        """POP: acknowledged, in flight until when, delivered again, unread (`pop`).

        Args:
            messages: a row for each message, else one for each group and queue.
            open_: only what is not acknowledged and not delivered again.
            revive: a row for each queue of the revive topic instead.
            now: when a message in flight counts as overdue; else now.
            offsets: a kept consumerOffset.json, where the store has none.

        >>> sum(store.pop()["in_flight"]) == len(store.pop(messages=True, open_=True))
        True
        """
        return self._rows(
            "pop",
            group=group,
            topic=topic,
            messages=messages,
            open_=open_,
            revive=revive,
            now=instant(now),
            offsets=path_of(offsets),
        )
