"""The lives of one topic, decided from what its queues, topics.json and a log of the broker say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from parsers.kernels.arrays import Longs
from parsers.queues.queue import Queue
from parsers.store.store_file import QueueKey
from parsers.values.topics import is_brokers_own
from recovery.knowledge.topic_events import DELETION_MS, Contradiction, Deletion, Logged, TopicLog
from recovery.lives.life import ALIVE, DELETED, NEVER, Ground, QueueLife, RestartedQueue, State, TopicLife
from recovery.lives.numbering import (
    EARLIEST,
    END_AT,
    FIRST,
    FIRST_AT,
    LAST,
    LAST_AT,
    LATEST,
    MESSAGES,
    SIZE,
    UNKNOWN_MS,
)
from recovery.lives.queue_starts import QueueStarts
from recovery.lives.topics_known import TopicsKnown


@dataclass(slots=True)
class _Cut:
    """A place where a topic may have been created again: after `after`, at or before `at` (epoch ms `at_ms`).

    `queues` start again, each at a place of its own.
    """

    after: int
    at: int
    at_ms: int
    queues: dict[int, int] = field(default_factory=dict)
    goes_on: bool = False
    deletion: Deletion | None = None

    def of_queue(self, queue_id: int) -> int:
        """The place from which on messages of a queue are after the cut."""
        return self.queues.get(queue_id, self.at)


@dataclass(slots=True)
class Topic:
    """One topic of the log, which ends at `log_end`; `others`: queues or topics.json hold another topic of a user."""

    topic: str
    stretches: dict[int, Longs]
    config: TopicsKnown
    queues: Mapping[QueueKey, Queue]
    log: TopicLog
    is_served: bool
    others: bool
    log_end: int
    holds_from_before: bool = False
    """A queue that did not start again holds messages from before a place where others did."""

    @property
    def _starts(self) -> QueueStarts:
        return QueueStarts(self.topic, self.queues, self.log_end)

    def decide(self) -> tuple[tuple[TopicLife, ...], dict[QueueKey, int], list[RestartedQueue]]:
        self.stretches = {q: self._starts.stretches_of(q, rows) for q, rows in self.stretches.items()}
        cuts = [self._placed(cut) for cut in self._cuts()]
        lost = [cut for cut in cuts if cut.goes_on or self._was_not_deleted(cut)]
        open_cuts = self._held_from_before(cut for cut in cuts if cut not in lost)
        self.holds_from_before = bool(open_cuts)
        cuts = [cut for cut in cuts if cut not in lost and cut not in open_cuts]
        cuts = sorted((*cuts, *self._logged_cuts(cuts)), key=lambda cut: cut.at)
        restarted = list(self._restarted(lost, open_cuts))
        lives = tuple(self._lives(cuts))
        living = {(queue.topic, queue.queue_id): queue.first_physical_offset for queue in restarted}
        none_lives = lives[-1].state == "deleted" or not lives[-1].messages
        if cuts or none_lives:
            for queue_id, rows in self.stretches.items():
                start = NEVER if none_lives else cuts[-1].of_queue(queue_id)
                if rows[0, FIRST_AT] < start:
                    key = self.topic, queue_id
                    living[key] = max(start, living.get(key, 0))
        return lives, living, restarted

    def _cuts(self) -> list[_Cut]:
        """The fewest places that explain every new start of a queue."""
        starts = sorted(
            (int(row[FIRST_AT]), int(row[EARLIEST]), int(before[LAST_AT]), int(before[LATEST]), queue_id)
            for queue_id, rows in self.stretches.items()
            for before, row in pairwise(rows)
        )
        cuts: list[_Cut] = []
        for at, at_ms, after, after_ms, queue_id in starts:
            cut = cuts[-1] if cuts else None
            if cut is None or (after >= cut.at and (after_ms > cut.at_ms + DELETION_MS or queue_id in cut.queues)):
                cut = _Cut(after, at, at_ms)
                cuts.append(cut)
            cut.after = max(cut.after, min(after, cut.at - 1))
            cut.queues[queue_id] = at
        return cuts

    def _placed(self, cut: _Cut) -> _Cut:
        """The cut before the first message that belongs after it: queues that only start there start the new life."""
        rows = np.concatenate(list(self.stretches.values()))
        ends = rows[(rows[:, FIRST_AT] <= cut.after) & (rows[:, LAST_AT] < cut.at), LAST_AT]
        cut.after = max(cut.after, int(ends.max(initial=cut.after)))
        begins = rows[(rows[:, FIRST_AT] > cut.after) & (rows[:, FIRST] == 0), FIRST_AT]
        cut.at = min(cut.at, int(begins.min(initial=cut.at)))
        crosses = (rows[:, FIRST_AT] < cut.at) & (rows[:, LAST_AT] >= cut.at)
        cut.goes_on = bool((crosses & (rows[:, LATEST] > cut.at_ms + DELETION_MS)).any())
        cut.deletion = self.log.deletion_between(self._latest_before(cut), cut.at_ms)
        return cut

    def _held_from_before(self, cuts: Iterable[_Cut]) -> list[_Cut]:
        """The cuts before which another queue holds messages: what a queue serves is of no life that is over.

        Dispatch may have given a queue its messages again that got none since the deletion: of the others it takes
        those for units that are there (ConsumeQueue#putMessagePositionInfo @4.9.7, 5.3.3). Where nothing but the log
        is left, any queue may have held its messages.
        """
        cuts, is_bare = list(cuts), not self.queues and self.config.names is None
        held_at, of_queue = self._starts.held_at, self.stretches.items() if cuts else ()
        held = {q: min(held_at(q, row) for row in rows) for q, rows in of_queue}
        begun = {q: int(rows[0, FIRST_AT]) for q, rows in self.stretches.items()}

        def is_open(cut: _Cut) -> bool:
            first = begun if is_bare and cut.deletion is None else held
            return any(at < cut.at for queue_id, at in first.items() if queue_id not in cut.queues)

        return list(filter(is_open, cuts))

    def _latest_before(self, cut: _Cut) -> int:
        """The latest store time of a message before a cut."""
        return max(
            int(rows[rows[:, FIRST_AT] < cut.of_queue(queue_id), LATEST].max(initial=0))
            for queue_id, rows in self.stretches.items()
        )

    def _was_not_deleted(self, cut: _Cut) -> bool:
        """A deletion changes topics.json: one that is older than a message before the cut saw none.

        Not even where a log says so: it may be of another broker, and messages that live are not given up for it.
        """
        rows = np.concatenate(list(self.stretches.values()))
        return self.config.changed_before(int(rows[rows[:, FIRST_AT] < cut.at, LATEST].max()))

    def _logged_cuts(self, cuts: Sequence[_Cut]) -> Iterator[_Cut]:
        """The places of deletions that only a log of the broker tells: no queue of both lives has messages."""
        known = {cut.deletion for cut in cuts}
        rows = np.concatenate(list(self.stretches.values()))
        for deletion in self.log.deletions:
            before = rows[:, LATEST] <= deletion.over_ms
            behind = ~before & (rows[:, EARLIEST] >= deletion.event.from_ms) & (rows[:, FIRST] == 0)
            if deletion in known or not before.any() or before.all() or not (before | behind).all():
                continue
            if self.config.changed_before(int(rows[before, LATEST].max())):
                continue
            after, at = int(rows[before, LAST_AT].max()), int(rows[behind, FIRST_AT].min())
            if after < at and not any(after < cut.at <= at for cut in cuts):
                yield _Cut(after, at, int(rows[behind, EARLIEST].min()), deletion=deletion)

    def _restarted(self, lost: Sequence[_Cut], open_cuts: Sequence[_Cut]) -> Iterable[RestartedQueue]:
        """The queues that lost their files, or may have (`open_cuts`), each where it last started again."""
        found = sorted((*lost, *open_cuts), key=lambda cut: cut.at)
        last = {queue_id: (at, cut not in open_cuts) for cut in found for queue_id, at in cut.queues.items()}
        for queue_id, (at, lost_files) in last.items():
            rows = self.stretches[queue_id]
            former = _queue_life(queue_id, rows[rows[:, FIRST_AT] < at])
            yield RestartedQueue(self.topic, queue_id, at, former, lost_files)

    def _lives(self, cuts: Sequence[_Cut]) -> Iterable[TopicLife]:
        of_queue = {q: np.array([cut.of_queue(q) for cut in cuts], np.int64) for q in self.stretches}
        number = {q: np.searchsorted(of_queue[q], rows[:, FIRST_AT], "right") for q, rows in self.stretches.items()}
        for life in range(len(cuts) + 1):
            within = {q: rows[number[q] == life] for q, rows in self.stretches.items()}
            around = (cuts[life - 1].deletion if life else None, cuts[life].deletion if life < len(cuts) else None)
            queues = {q: rows for q, rows in within.items() if len(rows)}
            found = self._life(life + 1, queues, around, is_last=life == len(cuts))
            yield found
        yield from self._without_message(found)

    def _life(
        self, life: int, queues: dict[int, Longs], around: tuple[Deletion | None, Deletion | None], *, is_last: bool
    ) -> TopicLife:
        """One life; `around`: the logged deletions that end the life before it, and this one where another follows."""
        rows = np.concatenate(list(queues.values()))
        earliest_ms, latest_ms = int(rows[:, EARLIEST].min()), int(rows[:, LATEST].max())
        deletion = self._ended_by(latest_ms, around[0]) if is_last else around[1]
        ground = self._ground(latest_ms, queues, deletion) if is_last else Ground.FOLLOWED
        created = self.log.created_before(earliest_ms)
        contradiction = self._contradiction(rows, ground, deletion)
        is_told = any(around) or ground is Ground.DELETION_LOGGED
        return TopicLife(
            topic=self.topic,
            life=life,
            state=_state(ground, is_first=life == 1),
            first_physical_offset=int(rows[:, FIRST_AT].min()),
            end_physical_offset=int(rows[:, END_AT].max()),
            queues=tuple(_queue_life(queue_id, of_queue) for queue_id, of_queue in queues.items()),
            messages=int(rows[:, MESSAGES].sum()),
            earliest_ms=None if earliest_ms == UNKNOWN_MS else earliest_ms,
            latest_ms=None if latest_ms == UNKNOWN_MS else latest_ms,
            certain=ground.is_proof and (self.config.names is not None or is_told) and contradiction is None,
            ground=ground,
            logged=Logged(
                None if created is None else created.from_ms,
                None if deletion is None else deletion.event.from_ms,
                contradiction,
            ),
            size_bytes=int(rows[:, SIZE].sum()),
        )

    def _without_message(self, last: TopicLife) -> Iterator[TopicLife]:
        """The life that was created after the last one with messages, as the log says."""
        created = None if last.latest_ms is None else self.log.created_behind(last.latest_ms)
        is_named = self.config.names is None or self.topic in self.config.names
        if last.state == "deleted" and created is not None and is_named:
            end, life = last.end_physical_offset, last.life + 1
            logged, ground = Logged(created.from_ms), Ground.NO_MESSAGE_YET
            yield TopicLife(self.topic, life, "recreated", end, end, (), 0, None, None, True, ground, logged, 0)

    def _ended_by(self, latest_ms: int, before: Deletion | None) -> Deletion | None:
        """The logged deletion after the last message of the last life; `before`: the one that it follows."""
        behind = (d for d in self.log.deletions if d != before and d.over_ms >= latest_ms)
        return next(behind, None)

    def _contradiction(self, rows: Longs, ground: Ground, deletion: Deletion | None) -> Contradiction | None:
        """How the log contradicts the files about a life with these stretches, which `deletion` ended by the log."""
        begin, end = rows[:, EARLIEST].min(), rows[:, LATEST].max()
        within = [d for d in self.log.deletions if d != deletion and begin < d.event.from_ms and d.over_ms < end]
        if within:
            is_older = self.config.changed_before(within[0].event.from_ms)
            return Contradiction.CONFIG_OLDER if is_older else Contradiction.WENT_ON
        if deletion is None:
            return None
        if ground in ALIVE:
            return Contradiction.SERVED
        names, created = self.config.names, self.log.created_behind(int(end))
        is_named = names is None or self.topic in names
        return None if is_named or created is None or ground is Ground.FOLLOWED else Contradiction.NOT_NAMED

    def _holds_last(self, queues: Mapping[int, Longs]) -> bool:
        """Whether any queue of the store has a unit for messages of its last stretch of the life."""
        return any(self._starts.held_at(queue_id, rows[-1]) != NEVER for queue_id, rows in queues.items())

    def _ground(self, latest_ms: int, queues: Mapping[int, Longs], deletion: Deletion | None) -> Ground:
        """What shows the state of the last life, which `deletion` ended by a log of the broker."""
        told = None if is_brokers_own(self.topic) else self._logged_ground(latest_ms, queues, deletion)
        return told or self._ground_of_files(latest_ms)

    def _logged_ground(self, latest_ms: int, queues: Mapping[int, Longs], deletion: Deletion | None) -> Ground | None:
        """What a log of the broker shows, None where it does not tell or the queues contradict it."""
        created = self.log.created_behind(latest_ms)
        if (deletion is None and created is None) or self._holds_last(queues):
            return None
        if deletion is None:
            return Ground.CREATION_LOGGED if self.queues and not self.is_served else None
        if self.topic in (self.config.names or ()) and created is None:
            return Ground.NAMED_THOUGH_DELETED
        return Ground.DELETION_NOT_SAVED if self.config.changed_before(latest_ms) else Ground.DELETION_LOGGED

    def _ground_of_files(self, latest_ms: int) -> Ground:
        """What the queues and topics.json show."""
        if self.is_served:
            return Ground.SERVED_FROM_BEFORE if self.holds_from_before else Ground.SERVED
        if is_brokers_own(self.topic):
            return Ground.BROKERS_OWN
        if self.config.names is None:
            return Ground.NO_CONFIG if self.queues else Ground.BARE_LOG
        older = self.config.changed_before(latest_ms)
        if self.topic in self.config.names:
            found = Ground.QUEUES_LOST if older else Ground.CREATED_OR_LOST
            return found if self.queues else Ground.ALL_QUEUES_LOST
        if older or self.config.changed_ms is None:
            return Ground.CONFIG_OLDER
        return Ground.NOT_CONFIGURED if self.others else Ground.NOTHING_LEFT


def _state(ground: Ground, *, is_first: bool) -> State:
    if ground in DELETED:
        return "deleted"
    if ground in ALIVE:
        return "alive" if is_first else "recreated"
    return "vanished"


def _queue_life(queue_id: int, rows: Longs) -> QueueLife:
    first, last = int(rows[:, FIRST].min()), int(rows[:, LAST].max())
    return QueueLife(queue_id, first, last, int(rows[:, MESSAGES].sum()), int(rows[0, FIRST_AT]))
