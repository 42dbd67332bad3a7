"""What consumers of the Go client write: the text of `msg`, then ` key=value` for each field, by key.

Source: consumer/consumer.go, consumer/push_consumer.go, consumer/offset_store.go, consumer/strategy.go,
internal/client.go, internal/route.go of apache/rocketmq-client-go v2.0.0 - v2.1.2. The default level is INFO; the
level comes from ROCKETMQ_GO_LOG_LEVEL. An application that sets a logger of its own writes other lines.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import Template

_MQ_GROUP = " MessageQueue={mq} consumerGroup={group}"
_GROUP_TOPIC = " consumerGroup={group} topic={topic}"


_TOLD = "INFO since 2.1.2, DEBUG before"


def _go(name: str, levels: str, text: str, yields: str = "", versions: str = "all") -> Template:
    return Template(name, "go", levels, versions, text, yields)


GO_TEMPLATES: tuple[Template, ...] = (
    _go(
        "go_consumer_starting",
        "INFO",
        "the consumer start beginning consumerGroup={group} messageModel={message_model} unitMode={unit_mode}",
        "ConsumerStarting",
    ),
    _go(
        "go_result_changed",
        _TOLD,
        "MessageQueue do balance done cidAllSize={cid_all_size} clientID={client_id} consumerGroup={group} "
        "mqAllSize={mq_all_size} rebalanceResultSet={mqs} rebalanceResultSize={result_size} topic={topic}",
        "RebalanceResultChanged, QueueAdded",
    ),
    _go(
        "go_offset_fetched",
        "INFO since 2.1.2, WARN before",
        "fetch offset of mq from broker success" + _MQ_GROUP + " offset={queue_offset}",
        "start of QueueAdded",
        "≥2.1.1",
    ),
    _go(
        "go_queue_added",
        "DEBUG",
        "updateProcessQueueTable do defaultConsumer, add a new mq" + _MQ_GROUP,
        "start of QueueAdded",
        "≥2.1.2",
    ),
    _go("go_queue_added", "DEBUG", "do defaultConsumer, add a new mq" + _MQ_GROUP, "start of QueueAdded", "≤2.1.1"),
    _go("go_queue_removed", _TOLD, "remove unnecessary mq when updateProcessQueueTable" + _MQ_GROUP, "QueueRemoved"),
    _go(
        "go_queue_removed_pull_expired",
        "WARN since 2.1.2, DEBUG before",
        "remove unnecessary mq because pull was expired, prepare to fix it" + _MQ_GROUP,
        "QueueRemoved",
        "≥2.1.1",
    ),
    _go(
        "go_queue_removed_pull_expired",
        "DEBUG",
        "remove unnecessary mq because pull was paused, prepare to fix it" + _MQ_GROUP,
        "QueueRemoved",
        "≤2.1.0",
    ),
    _go(
        "go_queue_removed_not_my_topic",
        "INFO",
        "remove unnecessary mq because unsubscribed" + _MQ_GROUP,
        "QueueRemoved",
        "≥2.1.2",
    ),
    _go(
        "go_queue_add_lock_failed",
        "WARN",
        "do defaultConsumer, add a new mq failed, because lock failed" + _MQ_GROUP,
        "QueueAddFailed",
    ),
    _go("go_queue_add_offset_failed", "WARN", "do defaultConsumer, add a new mq failed" + _MQ_GROUP, "QueueAddFailed"),
    _go(
        "go_topic_unknown",
        "WARN",
        "do balance in group failed, the topic does not exist" + _GROUP_TOPIC,
        "RoundSkipped",
    ),
    _go(
        "go_list_failed",
        "WARN",
        "do balance in group failed, get consumer id list failed" + _GROUP_TOPIC,
        "RoundSkipped",
    ),
    _go(
        "go_not_in_list",
        "WARN",
        "[BUG] ConsumerId not in cidAll cidAll={client_ids} consumerGroup={group} consumerId={client_id}",
        "RoundSkipped",
    ),
    _go("go_round_paused", "INFO", "[BALANCE-SKIP] since consumer paused consumerGroup={group}", versions="≥2.1.1"),
    _go("go_notified", "INFO", "receive broker's notification to consumer group consumerGroup={group}", "Notified"),
    _go(
        "go_offset_persisted",
        "INFO",
        "update offset to broker success" + _MQ_GROUP + " offset={queue_offset}",
        "OffsetPersisted, OffsetLine",
    ),
    _go(
        "go_offset_not_persisted",
        "WARN",
        "update offset to broker error" + _MQ_GROUP + " offset={queue_offset} underlayError={text}",
    ),
    _go(
        "go_offset_fetch_failed", "ERROR", "fecth offset of mq from broker error" + _MQ_GROUP + " underlayError={text}"
    ),
    _go("go_offset_forgotten", "INFO, WARN in 2.1.0 and 2.1.1", "delete mq from offset table" + _MQ_GROUP),
    _go(
        "go_version_bumped",
        "INFO",
        "the MessageQueue changed, version also updated changeTo={new_nanos} changedFrom={old_nanos}",
    ),
    _go("go_threshold_changed", "INFO", "The PullThresholdForTopic is changed changeTo={text} changedFrom={more}"),
    _go("go_threshold_changed", "INFO", "The PullThresholdSizeForTopic is changed changeTo={text} changedFrom={more}"),
    _go(
        "go_lock_answered",
        "INFO, DEBUG",
        "lock MessageQueue MessageQueue={mq} consumerGroup={group} lockOK={outcome}",
        "LockAnswered",
    ),
    _go("go_unlocked", "INFO", "unlock MessageQueue MessageQueue={mq} clientID={client_id} consumerGroup={group}"),
    _go(
        "go_lock_request_failed",
        "ERROR",
        "lock MessageQueue to broker invoke error broker={address} underlayError={text}",
    ),
    _go(
        "go_list_request_failed",
        "ERROR",
        "get consumer list of group from broker error broker={address} consumerGroup={group} underlayError={text}",
    ),
    _go(
        "go_route_changed",
        "INFO",
        "the topic route info changed changeTo={route} changedFrom={other_route} topic={topic}",
    ),
    _go("go_routes_changed", "INFO", "change the route for clients", versions="≥2.1.1"),
    _go("go_route_not_found", "WARN", "query topic route from server error underlayError={text}"),
    _go("go_route_not_found", "WARN", "queryTopicRouteInfoFromServer return nil topic={topic}"),
    _go(
        "go_queue_dropped",
        "INFO",
        "push consumer quit pullMessage for dropped queue. consumerGroup={group}",
        versions="≥2.1.0",
    ),
    _go("go_queue_dropped", "INFO", "the message queue not be able to consume, because it was dropped" + _MQ_GROUP),
    _go(
        "go_queue_dropped",
        "WARN",
        "processQueue is dropped without process consume result. MessageQueue={mq} message={text}",
    ),
    _go("go_queue_not_locked", "WARN", "the message queue not locked, so consume later MessageQueue={mq}"),
    _go("go_lock_expired", "WARN", "the message queue lock expired, so consume later MessageQueue={mq}"),
    _go("go_pull_offset_illegal", "WARN", "the pull request offset illegal PullRequest={text} result={more}"),
    _go("go_pull_failed", "WARN", "pull message from broker error broker={address} underlayError={text}"),
    _go("go_pull_failed", "WARN", "pull broker timeout broker={address}"),
    _go("go_heartbeat_failed", "WARN", "send heart beat to broker error underlayError={text}"),
    _go(
        "go_reset_received",
        "INFO",
        "receive reset consumer offset request... broker={address} consumerGroup={group} timestamp={text} "
        "topic={topic}",
        versions="≥2.1.1",
    ),
    _go("go_running_info_asked", "INFO", "receive get consumer running info request..."),
    _go("go_listener_ends", "INFO", "push consumer close {text} consumerGroup={group}"),
    _go("go_thread_ends", "INFO", "The RMQClient stopping {text} clientID={client_id}", "ConsumerShutdown"),
    _go(
        "go_client_removed",
        "INFO",
        "will remove client from clientMap clientID={client_id}",
        "ConsumerShutdown",
        "≥2.1.0",
    ),
)
