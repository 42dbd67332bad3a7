"""Version and settings of a store, inferred from its own files; each fact has its evidence.

A broker writes neither into its store; what dispatch needs of them leaves traces. What leaves none is assumed, and said
to be. Given values are taken as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from parsers.config.topics import broker_named_by, read_topics
from parsers.damage.errors import unheard
from parsers.store.store import Store
from parsers.values.topics import is_lmq
from recovery.knowledge.setting_signs import settings_told
from recovery.knowledge.signs import Inferred, Sample
from recovery.knowledge.topic_events import TopicEvent
from recovery.knowledge.version_signs import version_told
from recovery.rules.dispatch import DispatchRules
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion


@dataclass(frozen=True, slots=True)
class StoreKnowledge:
    """Version and settings of a store's broker, and where they come from.

    `version_is_said` is False where the version was inferred from the files; `may_be` then has every version that they
    leave open, of those that are tried and those whose starts were recorded. `topic_events`: what a log of the broker
    says of its topics. `broker_name`: as topics.json tells it, None where it does not. `light_queues`: files of such
    are there.
    """

    version: BrokerVersion
    settings: StoreSettings
    batch_topics: frozenset[str]
    facts: tuple[Inferred, ...]
    version_is_said: bool = False
    topic_events: tuple[TopicEvent, ...] = ()
    may_be: tuple[BrokerVersion, ...] = ()
    broker_name: str | None = None
    light_queues: bool = False

    @property
    def as_written(self) -> StoreKnowledge:
        """What is known of the store, with the settings that its queues were made by where given ones say otherwise."""
        settings = self.settings
        if not self.light_queues or (settings.enable_lmq and settings.enable_multi_dispatch):
            return self
        with_light = settings.with_config({"enableLmq": "true", "enableMultiDispatch": "true"})
        return replace(self, settings=with_light)

    @property
    def rules(self) -> DispatchRules:
        return DispatchRules.of(self.version, self.settings, self.batch_topics)


def infer(
    store: Store, *, version: BrokerVersion | None = None, settings: StoreSettings | None = None
) -> StoreKnowledge:
    """Everything dispatch needs to know. Given settings are complete: nothing of them is inferred then."""
    facts: list[Inferred] = []
    version_is_said = version is not None
    may_be: tuple[BrokerVersion, ...] = ()
    if version is None:
        version, may_be, why = version_told(store, Sample(store))
        facts.append(Inferred("version", str(version), why, False))
    if settings is None:
        settings, found = settings_told(store)
        facts += found
    topics = frozenset(topic for topic, _ in store.batch_queues)
    if topics:
        facts.append(
            Inferred("queue.type=BatchCQ", ", ".join(sorted(topics)), "they have folders in batchconsumequeue/")
        )
    own_name = broker_name_in(store)
    return StoreKnowledge(
        version,
        settings,
        topics,
        tuple(facts),
        version_is_said,
        may_be=may_be,
        broker_name=own_name,
        light_queues=any(is_lmq(topic) for topic, _ in store.queues),
    )


def broker_name_in(store: Store) -> str | None:
    """The broker's name as its topics.json tells it; None where it does not."""
    return broker_named_by(
        (topic.topic, topic.perm, (topic.read_queue_nums, topic.write_queue_nums))
        for _, topic in read_topics(store.config, damage=unheard)
    )
