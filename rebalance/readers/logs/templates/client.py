"""What consumers write into rocketmq_client.log.

Source of the texts: RebalanceImpl, RebalancePushImpl, DefaultMQPushConsumerImpl, DefaultLitePullConsumerImpl,
MQClientInstance, ClientRemotingProcessor, RemoteBrokerOffsetStore, ConsumeMessage*Service,
NettyRemotingClient @4.4.0 - 5.3.3. A round that changes nothing leaves no line.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import Template

_RESULT = (
    "rebalanced result changed. allocateMessageQueueStrategyName={strategy}, "
    "group={group}, topic={topic}, clientId={client_id}, "
)
_SIZES = (
    "mqAllSize={mq_all_size}, cidAllSize={cid_all_size}, rebalanceResultSize={result_size}, rebalanceResultSet={mqs}"
)
_ROUND = "doRebalance, {group}, "
_PULL_PAUSE = "remove unnecessary mq, {mq}, because pull is pause, so try to fixed it"
COMMIT = "Group: {group} ClientId: {client_id} updateConsumeOffsetToBroker {mq} {queue_offset}"
_TOO_MANY = "the cached message "


def _client(name: str, levels: str, versions: str, text: str, yields: str = "") -> Template:
    return Template(name, "client", levels, versions, text, yields)


_ROUND_TEMPLATES = (
    _client("result_changed", "INFO", "≤4.9.8", _RESULT + _SIZES, "RebalanceResultChanged"),
    _client("result_changed", "INFO", "≥5.0.0", "client " + _RESULT + _SIZES, "RebalanceResultChanged"),
    _client(
        "broker_result_changed", "INFO", "≥5.0.0", "broker " + _RESULT + "assignmentSet={mqs}", "RebalanceResultChanged"
    ),
    _client(
        "broadcast_changed",
        "INFO",
        "all",
        "messageQueueChanged {group} {topic} {other_mqs} {mqs}",
        "RebalanceResultChanged",
    ),
    _client(
        "version_bumped",
        "INFO",
        "≥4.1.0",
        "{topic} Rebalance changed, also update version: {old_version}, {new_version}",
        "SubscriptionVersionBumped",
    ),
    _client("threshold_changed", "INFO", "≥4.2.0", "The pullThresholdForQueue is changed from {text} to {more}"),
    _client("threshold_changed", "INFO", "≥4.2.0", "The pullThresholdSizeForQueue is changed from {text} to {more}"),
    _client("queue_added", "INFO", "all", _ROUND + "add a new mq, {mq}", "QueueAdded"),
    _client("pull_request_added", "INFO", "≤4.9.8", _ROUND + "add a new pull request {pull_request}", "OffsetLine"),
    _client("queue_removed", "INFO", "all", _ROUND + "remove unnecessary mq, {mq}", "QueueRemoved"),
    _client("queue_removed_pull_expired", "ERROR", "≤4.9.8", "[BUG]" + _ROUND + _PULL_PAUSE, "QueueRemoved"),
    _client("removal_tried_pull_expired", "ERROR", "≥5.0.0", "[BUG]" + _ROUND + "try " + _PULL_PAUSE),
    _client(
        "queue_removed_not_my_topic",
        "INFO",
        "all",
        _ROUND + "truncateMessageQueueNotMyTopic remove unnecessary mq, {mq}",
        "QueueRemoved",
    ),
    _client(
        "queue_removed_offset_repair",
        "INFO",
        "all",
        "Fix Offset, {group}, remove unnecessary mq, {mq} Droped: {text}",
        "QueueRemoved",
    ),
    _client("queue_exists", "INFO", "all", _ROUND + "mq already exists, {mq}"),
    _client(
        "queue_add_lock_failed",
        "WARN",
        "all",
        _ROUND + "add a new mq failed, {mq}, because lock failed",
        "QueueAddFailed",
    ),
    _client("queue_add_offset_failed", "WARN", "all", _ROUND + "add new mq failed, {mq}", "QueueAddFailed"),
    _client("queue_add_offset_failed", "INFO", "≥4.9.0", _ROUND + "compute offset failed, {mq}", "QueueAddFailed"),
    _client("offset_not_computed", "WARN", "≥4.9.0", "Compute consume offset exception, mq={mq}"),
    _client(
        "offset_not_computed",
        "WARN",
        "≥4.9.0",
        "Compute consume offset from last offset exception, mq={mq}, exception={text}",
    ),
    _client("topic_unknown", "WARN", "all", _ROUND + "but the topic[{topic}] not exist.", "RoundSkipped"),
    _client("list_failed", "WARN", "all", "doRebalance, {group} {topic}, get consumer id list failed", "RoundSkipped"),
    _client(
        "not_in_list",
        "INFO",
        "all",
        "[BUG] ConsumerGroup: {group} The consumerId: {client_id} not in cidAll: {mqs}",
        "RoundSkipped",
    ),
    _client(
        "strategy_failed",
        "ERROR",
        "≤4.9.8",
        "AllocateMessageQueueStrategy.allocate Exception. allocateMessageQueueStrategyName={strategy}",
        "RoundSkipped",
    ),
    _client(
        "strategy_failed",
        "ERROR",
        "≥5.0.0",
        "allocate message queue exception. strategy name: {strategy}, ex: {text}",
        "RoundSkipped",
    ),
    _client("round_failed", "WARN", "≤4.9.8", "rebalanceByTopic Exception"),
    _client("round_failed", "WARN", "≥5.0.0", "rebalance Exception"),
    _client("round_failed", "ERROR", "≤5.2.0", "doRebalance exception"),
    _client("round_failed", "ERROR", "≥5.3.0", "doRebalance for consumer group [{group}] exception"),
    _client("assignment_query_failed", "ERROR", "5.0.0–5.3.1", "tryQueryAssignment error."),
    _client("pop_queue_added", "INFO", "≥5.0.0", _ROUND + "add a new pop mq, {mq}", "PopQueueAdded"),
    _client("pop_queue_removed", "INFO", "≥5.0.0", _ROUND + "remove unnecessary pop mq, {mq}"),
    _client(
        "pop_removal_tried",
        "ERROR",
        "≥5.0.0",
        "[BUG]" + _ROUND + "try remove unnecessary pop mq, {mq}, because pop is pause, so try to fixed it",
    ),
)

_LOCK_TEMPLATES = (
    _client("lock_answered", "INFO", "≤4.9.8", "the message queue lock {outcome}, {group} {mq}", "LockAnswered"),
    _client("lock_answered", "INFO", "≥5.0.0", "message queue lock {outcome}, {group} {mq}", "LockAnswered"),
    _client(
        "lock_renewed", "INFO/WARN", "all", "the message queue locked {outcome}, Group: {group} {mq}", "LockAnswered"
    ),
    _client("queue_unlocked", "WARN", "all", "unlock messageQueue. group:{group}, clientId:{client_id}, mq:{mq}"),
    _client("queue_unlocked_at_shutdown", "INFO", "all", "the message queue unlock OK, Group: {group} {mq}"),
    _client("lock_call_failed", "ERROR", "all", "lockBatchMQ exception, {text}"),
    _client("unlock_call_failed", "ERROR", "all", "unlockBatchMQ exception, {text}"),
    _client(
        "still_consuming",
        "WARN",
        "≤5.1.4",
        "[WRONG]mq is consuming, so can not unlock it, {mq}. maybe hanged for a while, {count}",
    ),
    _client("unlock_delayed", "INFO", "≤5.1.4", "[{queue_id}]unlockDelay, begin {mq} "),
    _client("unlock_at_once", "INFO", "≤5.1.4", "[{queue_id}]unlockDelay, execute at once {mq}"),
)

_LIFE_TEMPLATES = (
    _client(
        "notified",
        "INFO",
        "all",
        "receive broker's notification[{remote}], the consumer group: {group} changed, rebalance immediately",
        "Notified",
    ),
    _client("heartbeat_sent", "INFO", "all", "send heart beat to broker[{broker_name} {broker_id} {remote}] success"),
    _client("heartbeat_text", "INFO", "all", "HeartbeatData {heartbeat_data}"),
    _client(
        "heartbeat_failed", "INFO/WARN", "all", "send heart beat to broker[{broker_name} {broker_id} {remote}] failed"
    ),
    _client(
        "heartbeat_failed",
        "INFO/WARN",
        "all",
        "send heart beat to broker[{broker_name} {broker_id} {remote}] exception, because the broker not up, forget it",
    ),
    _client("heartbeat_v2", "INFO", "≥5.1.3", "sendHeartbeatToAllBrokerV2 {text}"),
    _client("heartbeat_skipped", "WARN", "all", "lock heartBeat, but failed.{text}"),
    _client("heartbeat_skipped", "WARN", "≥5.1.3", "sendHeartbeatToAllBrokerWithLockV2 lock heartBeat, but failed."),
    _client("heartbeat_empty", "WARN", "all", "sending heartbeat, but no consumer and no producer{text}"),
    _client(
        "client_unregistered",
        "INFO",
        "all",
        "unregister client[Producer: {producer} Consumer: {group}] "
        "from broker[{broker_name} {broker_id} {remote}] success",
        "ConsumerShutdown",
    ),
    _client(
        "instance_created",
        "INFO",
        "≥4.3.1",
        "Created a new client Instance, InstanceIndex:{index}, ClientID:{client_id}, ClientConfig:{text}",
        "start of a process",
    ),
    _client(
        "instance_named",
        "INFO",
        "all",
        "Created new MQClientInstance for clientId:[{client_id}]",
        "client id of the facts",
    ),
    _client("instance_started", "INFO", "all", "the client factory [{client_id}] start OK"),
    _client("instance_shutdown", "INFO", "all", "the client factory [{client_id}] shutdown OK"),
    _client(
        "consumer_starting",
        "INFO",
        "all",
        "the consumer [{group}] start beginning. messageModel={message_model}, isUnitMode={unit_mode}",
        "ConsumerStarting",
    ),
    _client("consumer_started", "INFO", "all", "the consumer [{group}] start OK{more}", "ConsumerStarted"),
    _client("consumer_shutdown", "INFO", "all", "the consumer [{group}] shutdown OK{more}", "ConsumerShutdown"),
    _client("list_call_failed", "WARN", "all", "getConsumerIdListByGroup exception, {remote} {group}"),
    _client(
        "route_changed",
        "INFO",
        "all",
        "the topic[{topic}] route info changed, old[{other_route}] ,new[{route}]",
        "RouteSeen",
    ),
    _client("route_put", "INFO", "all", "topicRouteTable.put. Topic = {topic}, TopicRouteData[{route}]"),
    _client("broker_address_offline", "INFO", "all", "the broker addr[{broker_name} {remote}] is offline, remove it"),
    _client("broker_offline", "INFO", "all", "the broker[{broker_name}] name's host is offline, remove it"),
    _client("connected", "INFO", "all", "NETTY CLIENT PIPELINE: CONNECT  {local} => {remote}"),
    _client("active", "INFO", "≥5.2.0", "NETTY CLIENT PIPELINE: ACTIVE, {text}"),
    _client("closed", "INFO", "all", "NETTY CLIENT PIPELINE: CLOSE {text}"),
)

_PULL_TEMPLATES = (
    _client("offset_persisted", "INFO", "all", "[persistAll] " + COMMIT, "OffsetPersisted, OffsetLine"),
    _client("offset_persisted", "INFO", "all", "[persist] " + COMMIT, "OffsetPersisted, OffsetLine"),
    _client(
        "offset_forgotten",
        "INFO",
        "all",
        "remove unnecessary messageQueue offset. group={group}, mq={mq}, offsetTableSize={count}",
    ),
    _client("offset_unused", "INFO", "all", "remove unused mq, {mq}, {group}"),
    _client("offset_fetch_failed", "WARN", "all", "fetchConsumeOffsetFromBroker exception, {mq}"),
    _client("persist_failed", "ERROR", "all", "updateConsumeOffsetToBroker exception, {mq}"),
    _client(
        "pull_went_back",
        "WARN",
        "all",
        "[BUG] pull message result maybe data wrong, nextBeginOffset: {queue_offset} firstMsgOffset: {stored} "
        "prevRequestOffset: {requested}",
    ),
    _client("pull_request_dropped", "INFO", "all", "the pull request[{pull_request}] is dropped."),
    _client(
        "pull_not_locked",
        "INFO",
        "all",
        "pull message later because not locked in broker, {pull_request}",
        "PullNotLocked",
    ),
    _client(
        "first_pull",
        "INFO",
        "all",
        "the first time to pull message, so fix offset from broker. "
        "pullRequest: {pull_request} NewOffset: {queue_offset} brokerBusy: {busy}",
        "OffsetLine",
    ),
    _client(
        "flow_control",
        "WARN",
        "≥4.2.0",
        _TOO_MANY + "count exceeds the threshold {text}, so do flow control, {more}",
        "OffsetLine",
    ),
    _client(
        "flow_control",
        "WARN",
        "≥4.2.0",
        _TOO_MANY + "size exceeds the threshold {text} MiB, so do flow control, {more}",
        "OffsetLine",
    ),
    _client(
        "flow_control",
        "WARN",
        "≥4.2.0",
        "the queue's messages, span too long, so do flow control, {more}",
        "OffsetLine",
    ),
    _client("offset_illegal", "WARN", "all", "the pull request offset illegal, {text}", "OffsetLine"),
    _client("offset_repaired", "WARN", "all", "fix the pull request offset, {text}"),
    _client("pull_failed", "WARN", "all", "execute the pull request exception{text}"),
    _client("pull_not_latest", "WARN", "≥5.2.0", "the subscription is not latest, group={group}, messageQueue={mq}"),
    _client(
        "paused", "WARN", "all", "consumer was paused, execute pull request later. instanceName={text}, group={group}"
    ),
    _client("suspended", "INFO", "all", "suspend this consumer, {group}"),
    _client("resumed", "INFO", "all", "resume this consumer, {group}"),
    _client(
        "offset_reset",
        "INFO",
        "all",
        "invoke reset offset operation from broker. "
        "brokerAddr={remote}, topic={topic}, group={group}, timestamp={timestamp}",
    ),
    _client("reset_group_unknown", "INFO", "≤5.3.1", "[reset-offset] consumer dose not exist. group={group}"),
    _client("reset_group_unknown", "INFO", "≥5.3.2", "[reset-offset] consumer does not exist. group={group}"),
    _client(
        "ordered_dropped", "WARN", "all", "run, the message queue not be able to consume, because it's dropped. {mq}"
    ),
    _client("ordered_not_locked", "WARN", "all", "the message queue not locked, so consume later, {mq}"),
    _client("ordered_lock_expired", "WARN", "all", "the message queue lock expired, so consume later, {mq}"),
    _client(
        "concurrent_dropped",
        "INFO",
        "all",
        "the message queue not be able to consume, because it's dropped. group={group} {mq}",
    ),
    _client(
        "results_dropped",
        "WARN",
        "all",
        "processQueue is dropped without process consume result. messageQueue={mq}, msgs={text}",
    ),
    _client(
        "lite_dropped",
        "WARN",
        "≥4.6.0",
        "The message queue not be able to poll, because it's dropped. group={group}, messageQueue={mq}",
    ),
    _client("lite_cancelled", "WARN", "all", "The Pull Task is cancelled after doPullTask, {mq}"),
)

CLIENT_TEMPLATES = (*_ROUND_TEMPLATES, *_LOCK_TEMPLATES, *_LIFE_TEMPLATES, *_PULL_TEMPLATES)
