"""What config/topics.json says of the topics of a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.config.document import read_document
from parsers.config.topics import FILE as TOPICS_FILE
from parsers.config.topics import TopicConfig, document_topics
from parsers.damage.errors import unheard
from parsers.store.store_file import StoreFile
from parsers.values.topics import is_brokers_own

PERM_INHERIT = 1


@dataclass(frozen=True, slots=True)
class TopicsKnown:
    """What topics.json says: the topics that it names, those of them that a broker does not make at its start, and when
    it was last changed (epoch ms). `names` None: it tells nothing."""

    names: frozenset[str] | None = None
    users: frozenset[str] = frozenset()
    changed_ms: int | None = None

    @classmethod
    def of(cls, files: Sequence[StoreFile]) -> TopicsKnown:
        """`files`: those of config/. A file without a single topic tells nothing: no broker writes one."""
        document = read_document(files, TOPICS_FILE, damage=unheard)
        topics = [] if document is None else list(document_topics(document, unheard))
        if document is None or not topics:
            return cls()
        users = frozenset(topic.topic for topic in topics if not _made_at_start(topic))
        return cls(frozenset(topic.topic for topic in topics), users, document.data_version.timestamp)

    def changed_before(self, time_ms: int) -> bool:
        """Whether it is known to be older than a message."""
        return self.changed_ms is not None and self.changed_ms < time_ms


def _made_at_start(topic: TopicConfig) -> bool:
    """Whether every start makes this topic, so that its entry tells nothing: topics named after cluster and broker."""
    inherits = topic.perm is not None and topic.perm & PERM_INHERIT
    return bool(inherits or topic.topic.endswith("_REPLY_TOPIC") or is_brokers_own(topic.topic))
