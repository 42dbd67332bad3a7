"""Topics that a broker makes for itself. Source: TopicValidator, TopicConfigManager @4.9.7, 5.3.3."""

from __future__ import annotations

from parsers.commitlog.tags import SCHEDULE_TOPIC

SYSTEM_TOPICS = (
    SCHEDULE_TOPIC,
    "TBW102",
    "SELF_TEST_TOPIC",
    "BenchmarkTest",
    "OFFSET_MOVED_EVENT",
    "TRANS_CHECK_MAX_TIME_TOPIC",
)
BROKERS_OWN = ("rmq_sys_", "RMQ_SYS_")


def is_brokers_own(topic: str) -> bool:
    """Whether no user deletes the topic, which need not be in topics.json either (RMQ_SYS_TRANS_OP_HALF_TOPIC)."""
    return topic in SYSTEM_TOPICS or topic.startswith(BROKERS_OWN)
