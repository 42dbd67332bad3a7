"""One broker's store, and every question about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pipelines.cli.frame.options import BrokerOptions
from rocketlens.forecast import Forecast, foretell
from rocketlens.gathered import Instant, Place, document_of, instant, rows_of, said_of, sentences, topics_told
from rocketlens.piece import Piece
from rocketlens.retention import Retention, look_ahead
from rocketlens.rows import Rows

if TYPE_CHECKING:
    from recovery.knowledge.knowledge import Said


class Store:
    """Asks the files at `path` anew with each call. Every method raises RocketlensError: one sentence."""

    def __init__(self, path: Path, broker: BrokerOptions, logs: Sequence[Path] = ()) -> None:
        self.path = path
        self._broker, self._logs = broker, list(logs)

    def __repr__(self) -> str:
        return f"<Store {self.path}{f', version {self._broker.version}' if self._broker.version else ''}>"

    def _repr_html_(self) -> str:
        from pipelines.notebook.outlines import store_outline

        queues = self.queues().printed()
        with sentences():
            return Piece(store_outline(self.path, self.said, queues))._repr_html_()

    @property
    def said(self) -> Said:
        """What was said of the broker, as recovery is told. Raises RocketlensError: a wrong version or setting."""
        return said_of(self._broker)

    def messages(
        self,
        *,
        topic: str | None = None,
        queue: int | None = None,
        key: str | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        unread_by: str | None = None,
        lost_by_start: bool = False,
        body_contains: str | None = None,
        where: str | None = None,
        offsets: Place | None = None,
        bodies: bool = False,
        sendable: bool = False,
        decode: bool = False,
        columns: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> Rows:
        """Messages of the CommitLog in physical order, every header field decoded (`dump commitlog`).

        Args:
            until: stored before.
            unread_by: what this group has not read, by its stored offsets, or a kept copy of them (`offsets`).
            lost_by_start: what the next start of the broker loses.
            where: an SQL condition over the columns.
            bodies: with `body` as stored, `body_decompressed`, and `body_text` where it is UTF-8.
            sendable: only what a producer says of a message, to send it again.
            decode: what messages of brokers and clients say instead, a row for each record (docs/formats/messages.md).
            columns, limit: only these, and only so many; both are much faster on a large log.

        >>> store.messages(topic="OrderTopic1", columns=["physical_offset", "tags"], limit=2).to_pylist()
        [{'physical_offset': 0, 'tags': '标签'}, {'physical_offset': 1238, 'tags': 'TagA'}]
        """
        from pipelines.cli.commands.dump.commitlog import commitlog

        return rows_of(
            commitlog,
            self._broker,
            columns=columns,
            limit=limit,
            source=self.path,
            topic=topic,
            queue=queue,
            key=key,
            since=instant(since),
            until=instant(until),
            unread_by=unread_by,
            lost_by_start=lost_by_start,
            body_contains=body_contains,
            where=where,
            offsets=None if offsets is None else Path(offsets),
            logs=self._logs,
            bodies=bodies,
            sendable=sendable,
            decode=decode,
        )

    def regions(self) -> Rows:
        """What every byte of the CommitLog is: messages, blank, damage, stale, unwritten (`dump regions`).

        >>> sum(store.regions()["length"])
        4194304
        """
        from pipelines.cli.commands.dump.commitlog import regions

        return rows_of(regions, self._broker, source=self.path)

    def units(self, *, topic: str | None = None, queue: int | None = None, limit: int | None = None) -> Rows:
        """Units of ConsumeQueues, in files or in RocksDB: which message is where (`dump consumequeue`).

        >>> store.units(topic="OrderTopic1", queue=2, limit=1)["physical_offset"]
        [0]
        """
        from pipelines.cli.commands.dump.dump import consumequeue

        return rows_of(consumequeue, self._broker, limit=limit, source=self.path, topic=topic, queue=queue)

    def index_entries(self, *, limit: int | None = None) -> Rows:
        """Entries of index files: key hash, message, chain (`dump index`).

        >>> store.index_entries(limit=2)["physical_offset"]
        [0, 0]
        """
        from pipelines.cli.commands.dump.dump import index

        return rows_of(index, self._broker, limit=limit, source=self.path)

    def queues(self, *, topic: str | None = None, queue: int | None = None) -> Rows:
        """Per topic and queue: offsets, units, files, messages that can still be read (`queues`).

        >>> store.queues(topic="OrderTopic2")["messages"]
        [531, 571]
        """
        from pipelines.cli.commands.queues import queues

        return rows_of(queues, self._broker, store=self.path, topic=topic, queue=queue)

    def topics(self, *, topic: str | None = None) -> Rows:
        """The lives of each topic: alive, deleted, vanished, created again under its name (`topics`).

        >>> store.topics(topic="OrderTopic2")["state"]
        ['alive']
        """
        from pipelines.cli.commands.topics import topics

        return rows_of(topics, self._broker, store=self.path, topic=topic, logs=self._logs)

    def lives(self, *, topic: str | None = None, group: str | None = None, kept: Place | None = None) -> Rows:
        """What happened to topics and groups: created, changed, deleted, created again, vanished (`lives`).

        Args:
            kept: copies of topics.json and subscriptionGroup.json, beside the store's own.

        >>> store.lives(topic="OrderTopic2")["happened"]
        ['created']
        """
        from pipelines.cli.commands.lives import lives

        return rows_of(
            lives,
            self._broker,
            store=self.path,
            topic=topic,
            group=group,
            logs=self._logs,
            kept=None if kept is None else Path(kept),
        )

    def groups(self, *, group: str | None = None, offsets: Place | None = None) -> Rows:
        """Consumer groups: is each alive, and what would be lost if somebody deleted it (`groups`).

        Args:
            offsets: kept copies of consumerOffset.json, which tell since when its offsets stand.

        >>> store.groups(group="CG_failing")["dead_letters"]
        [11]
        """
        from pipelines.cli.commands.lives import groups

        return rows_of(
            groups,
            self._broker,
            store=self.path,
            group=group,
            logs=self._logs,
            offsets=None if offsets is None else Path(offsets),
        )

    def compaction(
        self, *, topic: str | None = None, queue: int | None = None, messages: bool = False, from_offset: int = 0
    ) -> Rows:
        """Copies of compacted topics: what consumers get of them, and what the next pass drops (`compaction`).

        Args:
            messages: one row per message instead, as pulls from `from_offset` on are given them.

        >>> store.compaction()["topic"]
        []
        """
        from pipelines.cli.commands.compaction import compaction

        return rows_of(
            compaction,
            self._broker,
            store=self.path,
            topic=topic,
            queue=queue,
            messages=messages,
            from_offset=from_offset,
        )

    def tiered(self, *, segments: Place | None = None) -> Rows:
        """What the broker has handed to its tiered store, per queue (`tiered`).

        Args:
            segments: the folder of PosixFileSegment; what is in it is held against the log.

        >>> store.tiered()["topic"]
        []
        """
        from pipelines.cli.commands.tiered import tiered

        return rows_of(tiered, self._broker, store=self.path, segments=None if segments is None else Path(segments))

    def find(
        self,
        *,
        topic: str | None = None,
        key: str | None = None,
        unique_id: str | None = None,
        message_id: str | None = None,
        begin: Instant | None = None,
        end: Instant | None = None,
        most: int = 32,
    ) -> Rows:
        """Messages by a key, a unique id or a message id through the index, newest first, as the broker finds them.

        Args:
            most: so many entries of the index are looked at, those of other keys with the same hash included.

        >>> store.find(topic="OrderTopic0", key="cAaAa")["physical_offset"][:2]
        [3298400, 3292887]
        """
        from pipelines.cli.commands.find import find

        return rows_of(
            find,
            self._broker,
            store=self.path,
            topic=topic,
            key=key,
            unique_id=unique_id,
            message_id=message_id,
            begin=instant(begin),
            end=instant(end),
            max_=most,
        )

    def episodes(
        self,
        offsets: Place,
        *,
        group: str | None = None,
        topic: str | None = None,
        logs: Iterable[Place] = (),
        least: int = 100,
        status: bool = False,
    ) -> Rows:
        """When groups fell behind, and what share each cause has in it (`episodes`).

        Args:
            offsets: a folder of kept copies of consumerOffset.json.
            logs: logs of the broker and of clients, captures, or folders of them.
            least: less messages behind are no episode.
            status: a status word for each queue instead, after Burrow's rules.

        >>> kept = rl.bundle("orders-cluster") / "offsets"
        >>> sorted(set(rl.store(rl.bundled_store("orders-cluster")).episodes(kept, status=True)["status"]))
        ['OK', 'WARN']
        """
        from pipelines.cli.commands.episodes import episodes

        return rows_of(
            episodes,
            self._broker,
            store=self.path,
            offsets=Path(offsets),
            group=group,
            topic=topic,
            logs=list(map(Path, logs)) or None,
            least=least,
            status=status,
        )

    def offset_at(
        self, topic: str, queue: int, at: Instant, *, boundary: Literal["lower", "upper"] = "lower"
    ) -> int | None:
        """The queue offset that the broker's search by time gives; None where the queue cannot be read.

        >>> store.offset_at("OrderTopic0", 0, "2026-11-21T15:14:00Z")
        89
        """
        from pipelines.cli.commands.find import BoundaryName, offset_at

        answer = rows_of(
            offset_at,
            self._broker,
            store=self.path,
            topic=topic,
            queue=queue,
            at=instant(at),
            boundary=BoundaryName(boundary),
        )
        found: int | None = answer["queue_offset"][0]
        return found

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
        from pipelines.cli.commands.lag import lag

        kept = None if offsets is None else Path(offsets)
        return rows_of(
            lag,
            self._broker,
            store=self.path,
            group=group,
            topic=topic,
            at=instant(at),
            offsets=kept,
            logs=self._logs,
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
        from pipelines.cli.commands.backlog import backlog

        return rows_of(
            backlog,
            self._broker,
            store=self.path,
            group=group,
            topic=topic,
            tags=tags,
            sql92=sql92,
            offsets=None if offsets is None else Path(offsets),
            logs=self._logs,
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
            logs: broker.log of this broker, which says when topics were deleted and created.

        >>> found = store.ledger(group="CG_lagging", queue=0)
        >>> list(zip(found["state"], found["messages"]))
        [('consumed', 207), ('waiting', 214)]
        """
        from pipelines.cli.commands.ledger import ledger

        return rows_of(
            ledger,
            self._broker,
            store=self.path,
            group=group,
            topic=topic,
            queue=queue,
            lost=lost,
            offsets=None if offsets is None else Path(offsets),
            logs=list(map(Path, logs)) or None,
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
        from pipelines.cli.commands.offsets import offsets as command

        return rows_of(
            command,
            self._broker,
            store=self.path,
            group=group,
            topic=topic,
            queue=queue,
            logs=list(map(Path, logs)) or None,
            offsets=None if offsets is None else Path(offsets),
        )

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
        from pipelines.cli.commands.delays import delays

        return rows_of(
            delays,
            self._broker,
            store=self.path,
            topic=topic,
            level=level,
            messages=messages,
            pending=pending,
            now=instant(now),
        )

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
        from pipelines.cli.commands.retries import retries

        return rows_of(
            retries,
            self._broker,
            store=self.path,
            group=group,
            topic=topic,
            messages=messages,
            dead=dead,
            offsets=None if offsets is None else Path(offsets),
        )

    def transactions(self, *, topic: str | None = None, messages: bool = False, open_: bool = False) -> Rows:
        """Transactions: committed, rolled back, pending, given up, and how often checked (`transactions`).

        Args:
            messages: a row for each transaction, else one for each producer group and topic.
            open_: only those that were not decided.

        >>> sum(store.transactions()["pending"]) == len(store.transactions(messages=True, open_=True))
        True
        """
        from pipelines.cli.commands.transactions import transactions

        return rows_of(transactions, self._broker, store=self.path, topic=topic, messages=messages, open_=open_)

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
        from pipelines.cli.commands.pop import pop

        return rows_of(
            pop,
            self._broker,
            store=self.path,
            group=group,
            topic=topic,
            messages=messages,
            open_=open_,
            revive=revive,
            now=instant(now),
            offsets=None if offsets is None else Path(offsets),
        )

    def traces(self, *, message_id: str | None = None, messages: bool = False, trace_topic: Iterable[str] = ()) -> Rows:
        """Message trace: what clients wrote about each send and each call of a listener (`traces`).

        Args:
            message_id: only records of this message, by unique id or message id.
            messages: a row for each record, else one for each group and kind of record.
            trace_topic: topics that carry traces besides those that tell so.

        >>> store.traces(messages=True).to_pylist()
        []
        """
        from pipelines.cli.commands.traces import traces

        return rows_of(
            traces,
            self._broker,
            store=self.path,
            messages=messages,
            message_id=message_id,
            trace_topic=list(trace_topic) or None,
        )

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
        told = topics_told(self._logs)
        with sentences():
            rows = read_lag_history(
                self.path, Path(offsets), problems.append, said_of(self._broker), topic_events=told.events
            )
        return Rows(rows, (*told.unread, *problems), told.notes)

    def verify(self, *, deep: bool = False) -> Rows:
        """Where the files of the store disagree, worst first; a clean store has no rows (`verify`).

        Args:
            deep: decompress every compressed body as well.

        >>> len(store.verify())
        0
        """
        from pipelines.cli.commands.verify import verify

        return rows_of(verify, self._broker, store=self.path, deep=deep, logs=self._logs)

    def rebuild(self, to: Place) -> dict[str, Any]:
        """Write ConsumeQueue and index from the CommitLog alone into the new folder `to`, and report (`rebuild`).

        >>> store.rebuild("rebuilt")["units"]
        6114
        """
        from pipelines.cli.commands.rebuild import rebuild

        return document_of(rebuild, self._broker, store=self.path, to=Path(to), logs=self._logs)

    def forecast(self) -> Forecast:
        """What this broker would do with these files if it were started now; nothing is touched (`forecast`).

        >>> store.forecast()["commitlog"]["max_physical_offset"]
        3948232
        """
        return foretell(self.path, self._broker, self._logs)

    def retention(self, *, now: Instant | None = None) -> Retention:
        """Which files the broker's cleaners would delete when, and whose unread messages with them (`retention`).

        Args:
            now: look ahead from there; without it, from this moment.

        >>> ahead = store.retention(now="2026-11-22T00:00:00Z")
        >>> len(ahead.files), sum(ahead.at_risk["unread_messages"][i] or 0 for i in range(len(ahead.at_risk)))
        (4, 880)
        """
        return look_ahead(self.path, self._broker, instant(now))

    def last_written(self) -> int:
        """When the log was last written to, epoch milliseconds by the times of its files; 0 without any.

        >>> store.last_written() > 0
        True
        """
        from recovery.knowledge.knowledge import open_known

        with sentences():
            log = open_known(self.path, said_of(self._broker)).commitlog
        return max((file.mtime_ns // 1_000_000 for file in log), default=0)

    def who(self, message_id: str, *, logs: Iterable[Place] = (), offsets: Place | None = None) -> Rows:
        """The way of one message: sent, stored, indexed, owned, pulled, committed past, retried, traced (`who`).

        Args:
            logs: further logs and captures of brokers and clients.
            offsets: a kept copy of consumerOffset.json, or a folder of such copies; else the store's own.

        >>> store.who("7F00000100002A9F0000000000000000")["step"]
        ['sent', 'stored', 'queued', 'indexed', 'committed', 'committed']
        """
        from pipelines.cli.commands.who import who

        return rows_of(
            who,
            self._broker,
            source=self.path,
            message_id=message_id,
            logs=[*self._logs, *map(Path, logs)],
            offsets=None if offsets is None else Path(offsets),
        )

    def journey(self, message_id: str, *, logs: Iterable[Place] = (), offsets: Place | None = None) -> Piece:
        """The steps that `who` tells, in a picture on a time axis and in words; arguments as of `who`.

        >>> store.journey("7F00000100002A9F0000000000000000").content.verdict
        '6 steps, 2 of them not certain.'
        """
        from pipelines.report.journey_section import journey_section

        return Piece(journey_section(message_id, self.who(message_id, logs=logs, offsets=offsets).to_pylist()))
