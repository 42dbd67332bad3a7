"""What consumers write into rocketmq_client.log.

Source of the texts: RebalanceImpl, RebalancePushImpl, DefaultMQPushConsumerImpl, DefaultLitePullConsumerImpl,
MQClientInstance, ClientRemotingProcessor, RemoteBrokerOffsetStore, ConsumeMessage*Service,
NettyRemotingClient @4.4.0 - 5.3.3. A round that changes nothing leaves no line.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import templates

_ROUND_TEMPLATES = templates(
    "client",
    """
result_changed | INFO | ≤4.9.8 | RebalanceResultChanged
    rebalanced result changed. allocateMessageQueueStrategyName={strategy}, group={group}, topic={topic},
    clientId={client_id}, mqAllSize={mq_all_size}, cidAllSize={cid_all_size}, rebalanceResultSize={result_size},
    rebalanceResultSet={mqs}
result_changed | INFO | ≥5.0.0 | RebalanceResultChanged
    client rebalanced result changed. allocateMessageQueueStrategyName={strategy}, group={group}, topic={topic},
    clientId={client_id}, mqAllSize={mq_all_size}, cidAllSize={cid_all_size}, rebalanceResultSize={result_size},
    rebalanceResultSet={mqs}
broker_result_changed | INFO | ≥5.0.0 | RebalanceResultChanged
    broker rebalanced result changed. allocateMessageQueueStrategyName={strategy}, group={group}, topic={topic},
    clientId={client_id}, assignmentSet={mqs}
broadcast_changed | INFO | all | RebalanceResultChanged
    messageQueueChanged {group} {topic} {other_mqs} {mqs}
version_bumped | INFO | ≥4.1.0 | SubscriptionVersionBumped
    {topic} Rebalance changed, also update version: {old_version}, {new_version}
threshold_changed | INFO | ≥4.2.0
    The pullThresholdForQueue is changed from {text} to {more}
threshold_changed | INFO | ≥4.2.0
    The pullThresholdSizeForQueue is changed from {text} to {more}
queue_added | INFO | all | QueueAdded
    doRebalance, {group}, add a new mq, {mq}
pull_request_added | INFO | ≤4.9.8 | OffsetLine
    doRebalance, {group}, add a new pull request {pull_request}
queue_removed | INFO | all | QueueRemoved
    doRebalance, {group}, remove unnecessary mq, {mq}
queue_removed_pull_expired | ERROR | ≤4.9.8 | QueueRemoved
    [BUG]doRebalance, {group}, remove unnecessary mq, {mq}, because pull is pause, so try to fixed it
removal_tried_pull_expired | ERROR | ≥5.0.0
    [BUG]doRebalance, {group}, try remove unnecessary mq, {mq}, because pull is pause, so try to fixed it
queue_removed_not_my_topic | INFO | all | QueueRemoved
    doRebalance, {group}, truncateMessageQueueNotMyTopic remove unnecessary mq, {mq}
queue_removed_offset_repair | INFO | all | QueueRemoved
    Fix Offset, {group}, remove unnecessary mq, {mq} Droped: {text}
queue_exists | INFO | all
    doRebalance, {group}, mq already exists, {mq}
queue_add_lock_failed | WARN | all | QueueAddFailed
    doRebalance, {group}, add a new mq failed, {mq}, because lock failed
queue_add_offset_failed | WARN | all | QueueAddFailed
    doRebalance, {group}, add new mq failed, {mq}
queue_add_offset_failed | INFO | ≥4.9.0 | QueueAddFailed
    doRebalance, {group}, compute offset failed, {mq}
offset_not_computed | WARN | ≥4.9.0
    Compute consume offset exception, mq={mq}
offset_not_computed | WARN | ≥4.9.0
    Compute consume offset from last offset exception, mq={mq}, exception={text}
topic_unknown | WARN | all | RoundSkipped
    doRebalance, {group}, but the topic[{topic}] not exist.
list_failed | WARN | all | RoundSkipped
    doRebalance, {group} {topic}, get consumer id list failed
not_in_list | INFO | all | RoundSkipped
    [BUG] ConsumerGroup: {group} The consumerId: {client_id} not in cidAll: {mqs}
strategy_failed | ERROR | ≤4.9.8 | RoundSkipped
    AllocateMessageQueueStrategy.allocate Exception. allocateMessageQueueStrategyName={strategy}
strategy_failed | ERROR | ≥5.0.0 | RoundSkipped
    allocate message queue exception. strategy name: {strategy}, ex: {text}
round_failed | WARN | ≤4.9.8
    rebalanceByTopic Exception
round_failed | WARN | ≥5.0.0
    rebalance Exception
round_failed | ERROR | ≤5.2.0
    doRebalance exception
round_failed | ERROR | ≥5.3.0
    doRebalance for consumer group [{group}] exception
assignment_query_failed | ERROR | 5.0.0–5.3.1
    tryQueryAssignment error.
pop_queue_added | INFO | ≥5.0.0 | PopQueueAdded
    doRebalance, {group}, add a new pop mq, {mq}
pop_queue_removed | INFO | ≥5.0.0
    doRebalance, {group}, remove unnecessary pop mq, {mq}
pop_removal_tried | ERROR | ≥5.0.0
    [BUG]doRebalance, {group}, try remove unnecessary pop mq, {mq}, because pop is pause, so try to fixed it
""",
)

_LOCK_TEMPLATES = templates(
    "client",
    """
lock_answered | INFO | ≤4.9.8 | LockAnswered
    the message queue lock {outcome}, {group} {mq}
lock_answered | INFO | ≥5.0.0 | LockAnswered
    message queue lock {outcome}, {group} {mq}
lock_renewed | INFO/WARN | all | LockAnswered
    the message queue locked {outcome}, Group: {group} {mq}
queue_unlocked | WARN | all
    unlock messageQueue. group:{group}, clientId:{client_id}, mq:{mq}
queue_unlocked_at_shutdown | INFO | all
    the message queue unlock OK, Group: {group} {mq}
lock_call_failed | ERROR | all
    lockBatchMQ exception, {text}
unlock_call_failed | ERROR | all
    unlockBatchMQ exception, {text}
still_consuming | WARN | ≤5.1.4
    [WRONG]mq is consuming, so can not unlock it, {mq}. maybe hanged for a while, {count}
unlock_delayed | INFO | ≤5.1.4
    [{queue_id}]unlockDelay, begin {mq}
unlock_at_once | INFO | ≤5.1.4
    [{queue_id}]unlockDelay, execute at once {mq}
""",
)

_LIFE_TEMPLATES = templates(
    "client",
    """
notified | INFO | all | Notified
    receive broker's notification[{remote}], the consumer group: {group} changed, rebalance immediately
heartbeat_sent | INFO | all
    send heart beat to broker[{broker_name} {broker_id} {remote}] success
heartbeat_text | INFO | all
    HeartbeatData {heartbeat_data}
heartbeat_failed | INFO/WARN | all
    send heart beat to broker[{broker_name} {broker_id} {remote}] failed
heartbeat_failed | INFO/WARN | all
    send heart beat to broker[{broker_name} {broker_id} {remote}] exception, because the broker not up, forget it
heartbeat_v2 | INFO | ≥5.1.3
    sendHeartbeatToAllBrokerV2 {text}
heartbeat_skipped | WARN | all
    lock heartBeat, but failed.{text}
heartbeat_skipped | WARN | ≥5.1.3
    sendHeartbeatToAllBrokerWithLockV2 lock heartBeat, but failed.
heartbeat_empty | WARN | all
    sending heartbeat, but no consumer and no producer{text}
client_unregistered | INFO | all | ConsumerShutdown
    unregister client[Producer: {producer} Consumer: {group}] from broker[{broker_name} {broker_id} {remote}] success
instance_created | INFO | ≥4.3.1 | start of a process
    Created a new client Instance, InstanceIndex:{index}, ClientID:{client_id}, ClientConfig:{text}
instance_named | INFO | all | client id of the facts
    Created new MQClientInstance for clientId:[{client_id}]
instance_started | INFO | all
    the client factory [{client_id}] start OK
instance_shutdown | INFO | all
    the client factory [{client_id}] shutdown OK
consumer_starting | INFO | all | ConsumerStarting
    the consumer [{group}] start beginning. messageModel={message_model}, isUnitMode={unit_mode}
consumer_started | INFO | all | ConsumerStarted
    the consumer [{group}] start OK{more}
consumer_shutdown | INFO | all | ConsumerShutdown
    the consumer [{group}] shutdown OK{more}
list_call_failed | WARN | all
    getConsumerIdListByGroup exception, {remote} {group}
route_changed | INFO | all | RouteSeen
    the topic[{topic}] route info changed, old[{other_route}] ,new[{route}]
route_put | INFO | all
    topicRouteTable.put. Topic = {topic}, TopicRouteData[{route}]
broker_address_offline | INFO | all
    the broker addr[{broker_name} {remote}] is offline, remove it
broker_offline | INFO | all
    the broker[{broker_name}] name's host is offline, remove it
connected | INFO | all
    NETTY CLIENT PIPELINE: CONNECT  {local} => {remote}
active | INFO | ≥5.2.0
    NETTY CLIENT PIPELINE: ACTIVE, {text}
closed | INFO | all
    NETTY CLIENT PIPELINE: CLOSE {text}
""",
)

_PULL_TEMPLATES = templates(
    "client",
    """
offset_persisted | INFO | all | OffsetPersisted, OffsetLine
    [persistAll] Group: {group} ClientId: {client_id} updateConsumeOffsetToBroker {mq} {queue_offset}
offset_persisted | INFO | all | OffsetPersisted, OffsetLine
    [persist] Group: {group} ClientId: {client_id} updateConsumeOffsetToBroker {mq} {queue_offset}
offset_forgotten | INFO | all
    remove unnecessary messageQueue offset. group={group}, mq={mq}, offsetTableSize={count}
offset_unused | INFO | all
    remove unused mq, {mq}, {group}
offset_fetch_failed | WARN | all
    fetchConsumeOffsetFromBroker exception, {mq}
persist_failed | ERROR | all
    updateConsumeOffsetToBroker exception, {mq}
pull_went_back | WARN | all
    [BUG] pull message result maybe data wrong, nextBeginOffset: {queue_offset} firstMsgOffset: {stored}
    prevRequestOffset: {requested}
pull_request_dropped | INFO | all
    the pull request[{pull_request}] is dropped.
pull_not_locked | INFO | all | PullNotLocked
    pull message later because not locked in broker, {pull_request}
first_pull | INFO | all | OffsetLine
    the first time to pull message, so fix offset from broker. pullRequest: {pull_request} NewOffset: {queue_offset}
    brokerBusy: {busy}
flow_control | WARN | ≥4.2.0 | OffsetLine
    the cached message count exceeds the threshold {text}, so do flow control, {more}
flow_control | WARN | ≥4.2.0 | OffsetLine
    the cached message size exceeds the threshold {text} MiB, so do flow control, {more}
flow_control | WARN | ≥4.2.0 | OffsetLine
    the queue's messages, span too long, so do flow control, {more}
offset_illegal | WARN | all | OffsetLine
    the pull request offset illegal, {text}
offset_repaired | WARN | all
    fix the pull request offset, {text}
pull_failed | WARN | all
    execute the pull request exception{text}
pull_not_latest | WARN | ≥5.2.0
    the subscription is not latest, group={group}, messageQueue={mq}
paused | WARN | all
    consumer was paused, execute pull request later. instanceName={text}, group={group}
suspended | INFO | all
    suspend this consumer, {group}
resumed | INFO | all
    resume this consumer, {group}
offset_reset | INFO | all
    invoke reset offset operation from broker. brokerAddr={remote}, topic={topic}, group={group}, timestamp={timestamp}
reset_group_unknown | INFO | ≤5.3.1
    [reset-offset] consumer dose not exist. group={group}
reset_group_unknown | INFO | ≥5.3.2
    [reset-offset] consumer does not exist. group={group}
ordered_dropped | WARN | all
    run, the message queue not be able to consume, because it's dropped. {mq}
ordered_not_locked | WARN | all
    the message queue not locked, so consume later, {mq}
ordered_lock_expired | WARN | all
    the message queue lock expired, so consume later, {mq}
concurrent_dropped | INFO | all
    the message queue not be able to consume, because it's dropped. group={group} {mq}
results_dropped | WARN | all
    processQueue is dropped without process consume result. messageQueue={mq}, msgs={text}
lite_dropped | WARN | ≥4.6.0
    The message queue not be able to poll, because it's dropped. group={group}, messageQueue={mq}
lite_cancelled | WARN | all
    The Pull Task is cancelled after doPullTask, {mq}
""",
)

CLIENT_TEMPLATES = (*_ROUND_TEMPLATES, *_LOCK_TEMPLATES, *_LIFE_TEMPLATES, *_PULL_TEMPLATES)
