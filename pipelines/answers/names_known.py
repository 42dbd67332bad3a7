"""Names that the files of a store tell, for whoever asks for one that is not there."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from parsers.config.document import read_document
from parsers.config.groups import FILE as GROUPS_FILE
from parsers.config.offsets import read_offsets
from parsers.damage.errors import unheard
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.values.topics import is_dead_letter, is_retry, retry_topic_of
from recovery.lives.topics_known import TopicsKnown

NAMED = 5
"""How many near names are listed; an ellipsis stands for more."""
LEAST_ALIKE = 0.4


def topics_named(store: Store) -> set[str]:
    """Topics that have a queue, in files or in a database. Damage is not reported."""
    with StoreQueues(store, damage=unheard) as queues:
        return {topic for topic, _ in (*store.queues, *store.batch_queues, *dict(queues.items()))}


def is_no_topic(store: Store, topic: str) -> bool:
    """Whether topics.json is there and does not name it: a topic without a queue was never one, or is deleted."""
    known = TopicsKnown.of(store.config).names
    return known is not None and topic not in known


def groups_named(store: Store) -> set[str]:
    """Groups in the tables of offsets and of groups, and those of retry and dead letter topics. Damage is not
    reported."""
    found = {offset.group for _, offset in read_offsets(store.config, damage=unheard)}
    document = read_document(store.config, GROUPS_FILE, damage=unheard)
    found |= set() if document is None else set(document.table("subscriptionGroupTable"))
    topics = topics_named(store) | (TopicsKnown.of(store.config).names or frozenset())
    copies = {topic for topic in topics if is_retry(topic) or is_dead_letter(topic)}
    return found | {retry_topic_of(each, topics=topics - copies, groups=found).group for each in copies}


def nearest(asked: str, there: Collection[str]) -> str:
    """The names that are nearest to the one asked for, as a list in words; the first ones where none is near."""
    near = get_close_matches(asked, sorted(there), NAMED + 1, LEAST_ALIKE) or sorted(there)
    return ", ".join(near[:NAMED]) + (", …" if len(near) > NAMED else "")
