"""What consumers of the C++ client write.

Source: src/consumer/Rebalance.cpp, src/consumer/DefaultMQPushConsumerImpl.cpp, src/consumer/OffsetStore.cpp,
src/consumer/PullRequest.cpp, src/consumer/ConsumeMessageOrderlyService.cpp, src/MQClientFactory.cpp of
apache/rocketmq-client-cpp v1.2.0 - v2.2.0. Read by specification: no log of such a client was recorded.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import templates

CPP_TEMPLATES = templates(
    "cpp",
    """
cpp_consumer_starting | INFO | ≥1.2.5 | ConsumerStarting
    DefaultMQPushConsumerImpl:{group} start
cpp_client_starting | INFO | all
    MQClientFactory:{client_id} start
cpp_client_shutdown | INFO | all | ConsumerShutdown
    MQClientFactory:{client_id} shutdown
cpp_round_begins | INFO | all | client id of the facts
    Client factory:{client_id} start dorebalance for consumer:{group}
cpp_rounds_begin | INFO | ≤1.2.4
    Client factory:{client_id} start dorebalance
cpp_result_changed | INFO | ≥1.2.5 | client id of the facts
    Allocation result for [Consumer Group: {group}, Topic: {topic}, Current Consumer ID: {client_id}] is changed.
cpp_pull_started | INFO | ≥1.2.5 | QueueAdded
    Start to pull {mq}, offset:{queue_offset}, GroupName {group}
cpp_queue_added | INFO | ≥1.2.5
    Add mq:{mq}, request initial offset:{queue_offset}
cpp_queue_added | INFO | ≤1.2.4
    add mq:{mq}, request initiall offset:{queue_offset}
cpp_queue_add_failed | WARN | ≥1.2.5
    Failed to add pull request for {mq} due to failure of querying consume offset, request initial offset:{queue_offset}
cpp_queue_removed | INFO | ≥1.2.5 | QueueRemoved
    Drop mq:{mq},because not responsive
cpp_queue_removed_pull_expired | INFO | ≥1.2.5 | QueueRemoved
    Drop mq:{mq} according Pull timeout.
cpp_queue_dropped | INFO | 1.2.1–1.2.2
    drop mq:{mq}, delete opaque:{count}
cpp_queue_dropped | INFO | ≤1.2.4
    drop mq:{mq}
cpp_pull_expired | WARN | ≥1.2.5
    PullRequest for [{mq}] has been expired {expired_ms} ms,m_lastPullTimestamp = {timestamp_ms} ms
cpp_nothing_allocated | WARN | all
    allocated queue is empty for topic:{topic}
cpp_list_empty | ERROR | ≥1.2.5 | RoundSkipped
    [ERROR] Get empty consumer IDs. Consumer Group: {group}, Topic: {topic}
cpp_topic_without_queues | ERROR | ≥1.2.5
    Queues to allocate are empty. Msg: {text}
cpp_offset_persisted | INFO | all | OffsetPersisted
    oneway updateConsumeOffsetToBroker of mq:{mq}, its offset is:{queue_offset}
cpp_locked | INFO | all | LockAnswered
    lock success of mq:{mq}
cpp_locked_again | INFO | all | LockAnswered
    lockBatchMQ success of mq:{mq}
cpp_lock_failed | ERROR | all
    lock fails of mq:{mq}
cpp_lock_failed | ERROR | all
    lockBatchMQ fails of mq:{mq}
cpp_lock_refused | ERROR | all
    lock mq on broker:{address} failed
cpp_unlocked | INFO | all
    unlock success of mq:{mq}
cpp_unlocked | INFO | all
    unlockBatchMQ success of mq:{mq}
cpp_not_locked | ERROR | all
    message queue:{mq} was not locked
cpp_flow_control | INFO | ≥1.2.5
    Pull request for [{mq}] has Cached with {count} Messages and The Max size is {more}, Sleep 3s.
cpp_flow_control | INFO | ≥1.2.5
    Sync Pull request for {mq} has Cached with {count} Messages and The Max size is {more}, Sleep 1s.
cpp_pull_dropped | INFO | ≥1.2.5
    [Dropped]Remove pullmsg event of mq:{mq}
cpp_reset | INFO | ≥1.2.5
    resetOffset setDropped for mq:{mq}
""",
)
