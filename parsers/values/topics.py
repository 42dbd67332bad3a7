"""Topics by their names: those a broker makes for itself, for a group, or for a lightweight queue.

Source: MixAll, TopicValidator, TopicConfigManager, TimerMessageStore @4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

RETRY_PREFIX, DLQ_PREFIX, LMQ_PREFIX = "%RETRY%", "%DLQ%", "%LMQ%"
SYSTEM_PREFIX = "rmq_sys_"
SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
TRANSACTION_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
TRANSACTION_OP_TOPIC = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
DATABASE_HALF_TOPIC = "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC"
DATABASE_OP_TOPIC = "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"
"""Of half messages that rocksdbstore keeps (transRocksDBEnable, and transWriteOriginTransHalfEnable off, since 5.4.0).
Source: TopicValidator, TransactionalMessageUtil#buildHalfTopicForRocksDB @5.4.0 - 5.5.1."""
GIVEN_UP_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC"
"""The topic of transactions that were checked too often (TopicValidator#RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC)."""
TIMER_TOPIC = "rmq_sys_wheel_timer"
TRACE_TOPIC = "RMQ_SYS_TRACE_TOPIC"
CLOUD_TRACE_PREFIX = f"{SYSTEM_PREFIX}TRACE_DATA_"
"""Then the region: where a client with AccessChannel.CLOUD sends its traces."""
REVIVE_PREFIX = "rmq_sys_REVIVE_LOG_"
"""The prefix of the topic of POP's checkpoints and acks; the cluster's name follows (PopAckConstants#REVIVE_TOPIC)."""
OFFSET_MOVED_TOPIC = "OFFSET_MOVED_EVENT"
HEARTBEAT_TOPIC = "DefaultHeartBeatSyncerTopic"
"""In which proxies in cluster mode tell each other of their consumers, unless they are set to another one
(`heartbeatSyncerTopicName`). Source: AbstractSystemMessageSyncer#getBroadcastTopicName, ProxyConfig @5.1.0 - 5.5.0."""
REVIVE_GROUP = "CID_RMQ_SYS_REVIVE_GROUP"
"""The broker's own group, whose offset on a queue of that topic is the last checkpoint that it is done with."""
SYSTEM_TOPICS = (SCHEDULE_TOPIC, "TBW102", "SELF_TEST_TOPIC", "BenchmarkTest", OFFSET_MOVED_TOPIC, GIVEN_UP_TOPIC)
BROKERS_OWN = (SYSTEM_PREFIX, "RMQ_SYS_")


def is_retry(topic: str) -> bool:
    """Whether messages of the topic are a group's own, to be consumed again."""
    return topic.startswith(RETRY_PREFIX)


def is_dead_letter(topic: str) -> bool:
    """Whether the topic keeps what a group gave up."""
    return topic.startswith(DLQ_PREFIX)


def is_revive(topic: str) -> bool:
    """Whether the topic keeps checkpoints and acknowledgements of POP."""
    return topic.startswith(REVIVE_PREFIX)


def pop_retry_topics(group: str, topic: str) -> tuple[str, ...]:
    """Where what a group popped of a topic is delivered again: of a retry topic that topic itself, else a topic of its
    own, by the name of each version (since 5.2.0 enableRetryTopicV2 chooses `+`).

    Source: KeyBuilder#buildPopRetryTopicV1, #buildPopRetryTopicV2, PopReviveService#reviveRetry @5.3.3.
    """
    if is_retry(topic):
        return (topic,)
    return f"{RETRY_PREFIX}{group}_{topic}", f"{RETRY_PREFIX}{group}+{topic}"


@dataclass(frozen=True, slots=True)
class RetryTopic:
    """A retry or dead letter topic. `origin`: the topic it is of, where its name says so (POP)."""

    group: str
    origin: str | None = None


def retry_topic_of(
    name: str, *, is_pushed: bool = False, topics: Collection[str] = (), groups: Collection[str] = ()
) -> RetryTopic:
    """Whose a retry or dead letter topic is, by its name (`pop_retry_topics`, `%RETRY%group` of a push consumer).

    A `+` is in no name of a group or topic. A `_` may be in both: the name is split between a known group and a known
    topic, else before the longest known topic, else after the longest known group; without any it is a push
    consumer's.

    Args:
        is_pushed: a message of the topic has the property RETRY_TOPIC, which copies of push consumers have, those of
            POP have not (AbstractSendMessageProcessor#consumerSendMsgBack, PopReviveService#reviveRetry @5.3.3).
        topics, groups: names that are known, retry and dead letter topics not among them.
    """
    if is_dead_letter(name):
        return RetryTopic(name.removeprefix(DLQ_PREFIX))
    rest = name.removeprefix(RETRY_PREFIX)
    group, plus, origin = rest.partition("+")
    if is_pushed or (not plus and rest in groups):
        return RetryTopic(rest)
    if plus:
        return RetryTopic(group, origin)
    splits = [(rest[:at], rest[at + 1 :]) for at in range(1, len(rest) - 1) if rest[at] == "_"]
    by_topic = [split for split in splits if split[1] in topics]
    by_both = [split for split in by_topic if split[0] in groups]
    by_group = [split for split in reversed(splits) if split[0] in groups]
    return RetryTopic(*next(iter((*by_both, *by_topic, *by_group)), (rest, None)))


def is_lmq(topic: str) -> bool:
    """Whether the topic is a lightweight queue, filled by dispatch from messages of other topics."""
    return topic.startswith(LMQ_PREFIX)


def is_brokers_own(topic: str) -> bool:
    """Whether no user deletes the topic, which need not be in topics.json either (RMQ_SYS_TRANS_OP_HALF_TOPIC)."""
    return topic in SYSTEM_TOPICS or topic.startswith(BROKERS_OWN)
