"""What consumers of the Go client write: the text of `msg`, then ` key=value` for each field, by key.

Source: consumer/consumer.go, consumer/push_consumer.go, consumer/offset_store.go, consumer/strategy.go,
internal/client.go, internal/route.go of apache/rocketmq-client-go v2.0.0 - v2.1.2. The default level is INFO; the
level comes from ROCKETMQ_GO_LOG_LEVEL. An application that sets a logger of its own writes other lines.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import templates

GO_TEMPLATES = templates(
    "go",
    """
go_consumer_starting | INFO | all | ConsumerStarting
    the consumer start beginning consumerGroup={group} messageModel={message_model} unitMode={unit_mode}
go_result_changed | INFO since 2.1.2, DEBUG before | all | RebalanceResultChanged, QueueAdded
    MessageQueue do balance done cidAllSize={cid_all_size} clientID={client_id} consumerGroup={group}
    mqAllSize={mq_all_size} rebalanceResultSet={mqs} rebalanceResultSize={result_size} topic={topic}
go_offset_fetched | INFO since 2.1.2, WARN before | ≥2.1.1 | start of QueueAdded
    fetch offset of mq from broker success MessageQueue={mq} consumerGroup={group} offset={queue_offset}
go_queue_added | DEBUG | ≥2.1.2 | start of QueueAdded
    updateProcessQueueTable do defaultConsumer, add a new mq MessageQueue={mq} consumerGroup={group}
go_queue_added | DEBUG | ≤2.1.1 | start of QueueAdded
    do defaultConsumer, add a new mq MessageQueue={mq} consumerGroup={group}
go_queue_removed | INFO since 2.1.2, DEBUG before | all | QueueRemoved
    remove unnecessary mq when updateProcessQueueTable MessageQueue={mq} consumerGroup={group}
go_queue_removed_pull_expired | WARN since 2.1.2, DEBUG before | ≥2.1.1 | QueueRemoved
    remove unnecessary mq because pull was expired, prepare to fix it MessageQueue={mq} consumerGroup={group}
go_queue_removed_pull_expired | DEBUG | ≤2.1.0 | QueueRemoved
    remove unnecessary mq because pull was paused, prepare to fix it MessageQueue={mq} consumerGroup={group}
go_queue_removed_not_my_topic | INFO | ≥2.1.2 | QueueRemoved
    remove unnecessary mq because unsubscribed MessageQueue={mq} consumerGroup={group}
go_queue_add_lock_failed | WARN | all | QueueAddFailed
    do defaultConsumer, add a new mq failed, because lock failed MessageQueue={mq} consumerGroup={group}
go_queue_add_offset_failed | WARN | all | QueueAddFailed
    do defaultConsumer, add a new mq failed MessageQueue={mq} consumerGroup={group}
go_topic_unknown | WARN | all | RoundSkipped
    do balance in group failed, the topic does not exist consumerGroup={group} topic={topic}
go_list_failed | WARN | all | RoundSkipped
    do balance in group failed, get consumer id list failed consumerGroup={group} topic={topic}
go_not_in_list | WARN | all | RoundSkipped
    [BUG] ConsumerId not in cidAll cidAll={client_ids} consumerGroup={group} consumerId={client_id}
go_round_paused | INFO | ≥2.1.1
    [BALANCE-SKIP] since consumer paused consumerGroup={group}
go_notified | INFO | all | Notified
    receive broker's notification to consumer group consumerGroup={group}
go_offset_persisted | INFO | all | OffsetPersisted, OffsetLine
    update offset to broker success MessageQueue={mq} consumerGroup={group} offset={queue_offset}
go_offset_not_persisted | WARN | all
    update offset to broker error MessageQueue={mq} consumerGroup={group} offset={queue_offset} underlayError={text}
go_offset_fetch_failed | ERROR | all
    fecth offset of mq from broker error MessageQueue={mq} consumerGroup={group} underlayError={text}
go_offset_forgotten | INFO, WARN in 2.1.0 and 2.1.1 | all
    delete mq from offset table MessageQueue={mq} consumerGroup={group}
go_version_bumped | INFO | all
    the MessageQueue changed, version also updated changeTo={new_nanos} changedFrom={old_nanos}
go_threshold_changed | INFO | all
    The PullThresholdForTopic is changed changeTo={text} changedFrom={more}
go_threshold_changed | INFO | all
    The PullThresholdSizeForTopic is changed changeTo={text} changedFrom={more}
go_lock_answered | INFO, DEBUG | all | LockAnswered
    lock MessageQueue MessageQueue={mq} consumerGroup={group} lockOK={outcome}
go_unlocked | INFO | all
    unlock MessageQueue MessageQueue={mq} clientID={client_id} consumerGroup={group}
go_lock_request_failed | ERROR | all
    lock MessageQueue to broker invoke error broker={address} underlayError={text}
go_list_request_failed | ERROR | all
    get consumer list of group from broker error broker={address} consumerGroup={group} underlayError={text}
go_route_changed | INFO | all
    the topic route info changed changeTo={route} changedFrom={other_route} topic={topic}
go_routes_changed | INFO | ≥2.1.1
    change the route for clients
go_route_not_found | WARN | all
    query topic route from server error underlayError={text}
go_route_not_found | WARN | all
    queryTopicRouteInfoFromServer return nil topic={topic}
go_queue_dropped | INFO | ≥2.1.0
    push consumer quit pullMessage for dropped queue. consumerGroup={group}
go_queue_dropped | INFO | all
    the message queue not be able to consume, because it was dropped MessageQueue={mq} consumerGroup={group}
go_queue_dropped | WARN | all
    processQueue is dropped without process consume result. MessageQueue={mq} message={text}
go_queue_not_locked | WARN | all
    the message queue not locked, so consume later MessageQueue={mq}
go_lock_expired | WARN | all
    the message queue lock expired, so consume later MessageQueue={mq}
go_pull_offset_illegal | WARN | all
    the pull request offset illegal PullRequest={text} result={more}
go_pull_failed | WARN | all
    pull message from broker error broker={address} underlayError={text}
go_pull_failed | WARN | all
    pull broker timeout broker={address}
go_heartbeat_failed | WARN | all
    send heart beat to broker error underlayError={text}
go_reset_received | INFO | ≥2.1.1
    receive reset consumer offset request... broker={address} consumerGroup={group} timestamp={text} topic={topic}
go_running_info_asked | INFO | all
    receive get consumer running info request...
go_listener_ends | INFO | all
    push consumer close {text} consumerGroup={group}
go_thread_ends | INFO | all | ConsumerShutdown
    The RMQClient stopping {text} clientID={client_id}
go_client_removed | INFO | ≥2.1.0 | ConsumerShutdown
    will remove client from clientMap clientID={client_id}
""",
)
