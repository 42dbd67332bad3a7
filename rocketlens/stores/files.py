"""What is in the store's files: messages, units, entries, queues, copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict, Unpack

from pipelines.cli.frame.asked.options import Format
from rocketlens.gathered import Gathered, Instant, Place, at_hand, instant, rows_of
from rocketlens.rows import Rows
from rocketlens.stores.asked import Asked, path_of


class Wanted(TypedDict, total=False):
    """Which messages are wanted; what is not said asks nothing."""

    topic: str | None
    queue: int | None
    key: str | None
    since: Instant | None
    until: Instant | None
    unread_by: str | None
    lost_by_start: bool
    body_contains: str | None
    where: str | None
    offsets: Place | None


class Files(Asked):
    """Questions about what is in the files."""

    def messages(
        self,
        *,
        bodies: bool = False,
        columns: Sequence[str] | None = None,
        limit: int | None = None,
        **wanted: Unpack[Wanted],
    ) -> Rows:
        """Messages of the CommitLog in physical order, every header field decoded (`dump commitlog`).

        Args:
            bodies: with `body` as stored, `body_decompressed`, and `body_text` where it is UTF-8.
            columns, limit: only these, and only so many; both are much faster on a large log.
            wanted: only these messages: `topic`, `queue`, `key`; stored `since` and before `until`; not read by the
                group `unread_by` (by its stored offsets, or by a kept copy of them, `offsets`); lost by the next start
                of the broker (`lost_by_start`); with a text in their bodies (`body_contains`); `where` an SQL condition
                over the columns holds.

        >>> store.messages(topic="OrderTopic1", columns=["physical_offset", "tags"], limit=2).to_pylist()
        [{'physical_offset': 0, 'tags': '标签'}, {'physical_offset': 1238, 'tags': 'TagA'}]
        """
        return self._messages(wanted, columns=columns, limit=limit, bodies=bodies)

    def sendable(self, *, limit: int | None = None, **wanted: Unpack[Wanted]) -> Rows:
        """What a producer says of messages, properties and body, to send them again (`dump commitlog --sendable`).

        Args:
            wanted: which messages, as `messages` takes it.

        >>> store.sendable(topic="OrderTopic1", limit=1)["tags"]
        ['标签']
        """
        return self._messages(wanted, limit=limit, sendable=True)

    def decoded(self, *, limit: int | None = None, **wanted: Unpack[Wanted]) -> Rows:
        """What messages of brokers and clients say, a row for each record of them (`dump commitlog --decode`).

        Args:
            wanted: which messages, as `messages` takes it.

        >>> store.decoded(topic="OrderTopic1")["kind"]
        []
        """
        return self._messages(wanted, limit=limit, decode=True)

    def _messages(
        self, wanted: Wanted, *, limit: int | None, columns: Sequence[str] | None = None, **form: bool
    ) -> Rows:
        from pipelines.cli.commands.store.dump.commitlog import commitlog

        asked: dict[str, Any] = {**wanted, "offsets": path_of(wanted.get("offsets")), "logs": self._logs, **form}
        asked |= {name: instant(asked[name]) for name in ("since", "until") if name in asked}
        return rows_of(commitlog, self._broker, columns=columns, limit=limit, source=self.path, **asked)

    def regions(self) -> Rows:
        """What every byte of the CommitLog is: messages, blank, damage, stale, unwritten (`dump regions`).

        >>> sum(store.regions()["length"])
        4194304
        """
        from pipelines.cli.commands.store.dump.commitlog import regions

        return rows_of(regions, self._broker, source=self.path)

    def units(self, *, topic: str | None = None, queue: int | None = None, limit: int | None = None) -> Rows:
        """Units of ConsumeQueues, in files or in RocksDB: which message is where (`dump consumequeue`).

        >>> store.units(topic="OrderTopic1", queue=2, limit=1)["physical_offset"]
        [0]
        """
        from pipelines.cli.commands.store.dump.files import consumequeue

        return rows_of(consumequeue, self._broker, limit=limit, source=self.path, topic=topic, queue=queue)

    def index_entries(self, *, limit: int | None = None) -> Rows:
        """Entries of index files: key hash, message, chain (`dump index`).

        >>> store.index_entries(limit=2)["physical_offset"]
        [0, 0]
        """
        from pipelines.cli.commands.store.dump.files import index

        return rows_of(index, self._broker, limit=limit, source=self.path)

    def queues(self, *, topic: str | None = None, queue: int | None = None) -> Rows:
        """Per topic and queue: offsets, units, files, messages that can still be read (`queues`).

        >>> store.queues(topic="OrderTopic2")["messages"]
        [531, 571]
        """
        return self._rows("queues", topic=topic, queue=queue)

    def compaction(
        self,
        *,
        topic: str | None = None,
        queue: int | None = None,
        messages: bool = False,
        from_offset: int | None = None,
    ) -> Rows:
        """Copies of compacted topics: what consumers get of them, and what the next pass drops (`compaction`).

        Args:
            messages: one row per message instead, as pulls from `from_offset` on are given them.

        >>> store.compaction()["topic"]
        []
        """
        return self._rows("compaction", topic=topic, queue=queue, messages=messages, from_offset=from_offset)

    def tiered(self, *, segments: Place | None = None) -> Rows:
        """What the broker has handed to its tiered store, per queue (`tiered`).

        Args:
            segments: the folder of PosixFileSegment; what is in it is held against the log.

        >>> store.tiered()["topic"]
        []
        """
        return self._rows("tiered", segments=path_of(segments))

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
        return self._rows(
            "find",
            topic=topic,
            key=key,
            unique_id=unique_id,
            message_id=message_id,
            begin=instant(begin),
            end=instant(end),
            max_=most,
        )

    def key_entries(self, topic: str, keys: Sequence[str], *, most: int = 32) -> Rows:
        """Entries of the index that each of many keys leads to, newest first; no message is read.

        Entries of other keys with the same hash are among them, as `find` tells by the messages.

        Args:
            most: so many entries of each key.

        >>> store.key_entries("OrderTopic1", ["k509", "nobody's", "k539"])["physical_offset"]
        [1238, 0]
        """
        from pipelines.answers.key_entries import key_entries
        from recovery.knowledge.knowledge import open_known

        run = Gathered(Format.ARROW, None, None)
        with at_hand(self.path) as folder:
            table = key_entries(open_known(folder, self.said), topic, keys, most, run.damage)
        return Rows(table, tuple(run.sentences))

    def offset_at(
        self, topic: str, queue: int, at: Instant, *, boundary: Literal["lower", "upper"] = "lower"
    ) -> int | None:
        """The queue offset that the broker's search by time gives; None where the queue cannot be read.

        >>> store.offset_at("OrderTopic0", 0, "2026-11-21T15:14:00Z")
        89
        """
        from pipelines.cli.commands.store.offset_at import BoundaryName

        answer = self._rows("offset-at", topic=topic, queue=queue, at=instant(at), boundary=BoundaryName(boundary))
        found: int | None = answer["queue_offset"][0]
        return found
