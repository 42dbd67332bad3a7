"""What consumers of the C++ client write.

Source: src/consumer/Rebalance.cpp, src/consumer/DefaultMQPushConsumerImpl.cpp, src/consumer/OffsetStore.cpp,
src/consumer/PullRequest.cpp, src/consumer/ConsumeMessageOrderlyService.cpp, src/MQClientFactory.cpp of
apache/rocketmq-client-cpp v1.2.0 - v2.2.0. Read by specification: no log of such a client was recorded.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import Template


def _cpp(name: str, levels: str, text: str, yields: str = "", versions: str = "all") -> Template:
    return Template(name, "cpp", levels, versions, text, yields)


CPP_TEMPLATES: tuple[Template, ...] = (
    _cpp(
        "cpp_consumer_starting",
        "INFO",
        "DefaultMQPushConsumerImpl:{group} start",
        "ConsumerStarting",
        "≥1.2.5",
    ),
    _cpp("cpp_client_starting", "INFO", "MQClientFactory:{client_id} start"),
    _cpp("cpp_client_shutdown", "INFO", "MQClientFactory:{client_id} shutdown", "ConsumerShutdown"),
    _cpp(
        "cpp_round_begins",
        "INFO",
        "Client factory:{client_id} start dorebalance for consumer:{group}",
        "client id of the facts",
    ),
    _cpp("cpp_rounds_begin", "INFO", "Client factory:{client_id} start dorebalance", versions="≤1.2.4"),
    _cpp(
        "cpp_result_changed",
        "INFO",
        "Allocation result for [Consumer Group: {group}, Topic: {topic}, Current Consumer ID: {client_id}] is changed.",
        "client id of the facts",
        "≥1.2.5",
    ),
    _cpp(
        "cpp_pull_started",
        "INFO",
        "Start to pull {mq}, offset:{queue_offset}, GroupName {group}",
        "QueueAdded",
        "≥1.2.5",
    ),
    _cpp("cpp_queue_added", "INFO", "Add mq:{mq}, request initial offset:{queue_offset}", versions="≥1.2.5"),
    _cpp("cpp_queue_added", "INFO", "add mq:{mq}, request initiall offset:{queue_offset}", versions="≤1.2.4"),
    _cpp(
        "cpp_queue_add_failed",
        "WARN",
        "Failed to add pull request for {mq} due to failure of querying consume offset, request initial "
        "offset:{queue_offset}",
        versions="≥1.2.5",
    ),
    _cpp("cpp_queue_removed", "INFO", "Drop mq:{mq},because not responsive", "QueueRemoved", "≥1.2.5"),
    _cpp("cpp_queue_removed_pull_expired", "INFO", "Drop mq:{mq} according Pull timeout.", "QueueRemoved", "≥1.2.5"),
    _cpp("cpp_queue_dropped", "INFO", "drop mq:{mq}, delete opaque:{count}", versions="1.2.1–1.2.2"),
    _cpp("cpp_queue_dropped", "INFO", "drop mq:{mq}", versions="≤1.2.4"),
    _cpp(
        "cpp_pull_expired",
        "WARN",
        "PullRequest for [{mq}] has been expired {expired_ms} ms,m_lastPullTimestamp = {timestamp_ms} ms",
        versions="≥1.2.5",
    ),
    _cpp("cpp_nothing_allocated", "WARN", "allocated queue is empty for topic:{topic}"),
    _cpp(
        "cpp_list_empty",
        "ERROR",
        "[ERROR] Get empty consumer IDs. Consumer Group: {group}, Topic: {topic}",
        "RoundSkipped",
        "≥1.2.5",
    ),
    _cpp("cpp_topic_without_queues", "ERROR", "Queues to allocate are empty. Msg: {text}", versions="≥1.2.5"),
    _cpp(
        "cpp_offset_persisted",
        "INFO",
        "oneway updateConsumeOffsetToBroker of mq:{mq}, its offset is:{queue_offset}",
        "OffsetPersisted",
    ),
    _cpp("cpp_locked", "INFO", "lock success of mq:{mq}", "LockAnswered"),
    _cpp("cpp_locked_again", "INFO", "lockBatchMQ success of mq:{mq}", "LockAnswered"),
    _cpp("cpp_lock_failed", "ERROR", "lock fails of mq:{mq}"),
    _cpp("cpp_lock_failed", "ERROR", "lockBatchMQ fails of mq:{mq}"),
    _cpp("cpp_lock_refused", "ERROR", "lock mq on broker:{address} failed"),
    _cpp("cpp_unlocked", "INFO", "unlock success of mq:{mq}"),
    _cpp("cpp_unlocked", "INFO", "unlockBatchMQ success of mq:{mq}"),
    _cpp("cpp_not_locked", "ERROR", "message queue:{mq} was not locked"),
    _cpp(
        "cpp_flow_control",
        "INFO",
        "Pull request for [{mq}] has Cached with {count} Messages and The Max size is {more}, Sleep 3s.",
        versions="≥1.2.5",
    ),
    _cpp(
        "cpp_flow_control",
        "INFO",
        "Sync Pull request for {mq} has Cached with {count} Messages and The Max size is {more}, Sleep 1s.",
        versions="≥1.2.5",
    ),
    _cpp("cpp_pull_dropped", "INFO", "[Dropped]Remove pullmsg event of mq:{mq}", versions="≥1.2.5"),
    _cpp("cpp_reset", "INFO", "resetOffset setDropped for mq:{mq}", versions="≥1.2.5"),
)
