"""The lives of each topic: what was deleted, what was created again under the same name, and what lives now.

A topic created again counts its messages from 0, and its former messages stay in the log until their files expire. They
are in no queue, and nothing is lost: an operator deleted them. Decided from the log's numbering
(`recovery.lives.numbering`), the queues that are there, topics.json, and what a log of the broker says
(`recovery.knowledge.topic_events`). What a queue holds is of no former life. Where these do not decide it, the topic is
undecided and its messages count as living.
Source: AdminBrokerProcessor#deleteTopic, DefaultMessageStore#cleanUnusedTopic @4.9.7, #deleteTopics @5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parsers.damage.errors import unheard
from parsers.kernels.arrays import Longs
from parsers.queues.queue import Queue
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from parsers.values.topics import is_brokers_own, is_lmq
from recovery.knowledge.inference import StoreKnowledge, infer
from recovery.knowledge.topic_events import TopicEvent, TopicLog, by_topic
from recovery.lives.decision import Topic
from recovery.lives.life import TopicLives
from recovery.lives.numbering import END_AT, Numbering, read_numbering
from recovery.lives.topics_known import TopicsKnown
from recovery.rules.dispatch import DispatchRules


def lives_of(store: Store, rules: DispatchRules, events: Sequence[TopicEvent] = ()) -> TopicLives:
    """The lives of a store's topics, from one pass over its log; `events`: what a log of its broker says."""
    return lives_from(store, read_numbering(store.commitlog, rules), events)


def lives_from(store: Store, numbering: Numbering, events: Sequence[TopicEvent] = ()) -> TopicLives:
    """The lives of a store's topics, whose log is numbered so; none where its queues cannot be read."""
    with StoreQueues(store, damage=unheard) as queues:
        return lives_beside(store, queues, numbering, events)


def lives_beside(
    store: Store, queues: StoreQueues, numbering: Numbering, events: Sequence[TopicEvent] = ()
) -> TopicLives:
    """`lives_from` beside queues that are open already."""
    if queues.unread is not None:
        return TopicLives()
    return topic_lives(numbering, TopicsKnown.of(store.config), queues, events)


@dataclass(slots=True)
class StoreLives:
    """The lives of a store's topics, from a pass over its log when they are first asked for."""

    store: Store
    known: StoreKnowledge | None = None
    found: TopicLives | None = None

    def __call__(self) -> TopicLives:
        if self.found is None:
            known = self.known or infer(self.store)
            self.found = lives_of(self.store, known.rules, known.topic_events)
        return self.found


def topic_lives(
    numbering: Numbering, config: TopicsKnown, queues: Mapping[QueueKey, Queue], events: Sequence[TopicEvent] = ()
) -> TopicLives:
    """The lives of every topic; `queues`: those that the store has. Light queues (LMQ) have none of their own."""
    stretches_of: dict[str, dict[int, Longs]] = {}
    for (topic, queue_id), stretches in sorted(numbering.items(), key=lambda item: item[0]):
        if not is_lmq(topic):
            stretches_of.setdefault(topic, {})[queue_id] = stretches
    served = frozenset(topic for topic, _ in queues)
    users = config.users | {topic for topic in served if not is_brokers_own(topic)}
    logs, silent = by_topic(events), TopicLog()
    log_end = max((int(stretches[:, END_AT].max()) for stretches in numbering.values()), default=0)
    decided = [
        Topic(
            topic,
            stretches,
            config,
            queues,
            logs.get(topic, silent),
            is_served=topic in served,
            others=bool(users - {topic}),
            log_end=log_end,
        ).decide()
        for topic, stretches in stretches_of.items()
    ]
    return TopicLives(
        {lives[0].topic: lives for lives, _, _ in decided},
        {key: start for _, living, _ in decided for key, start in living.items()},
        {(queue.topic, queue.queue_id): queue for _, _, restarted in decided for queue in restarted},
    )
