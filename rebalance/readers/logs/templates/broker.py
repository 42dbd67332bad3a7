"""What brokers write into broker.log about clients, topics and groups. An ordinary heartbeat leaves no line.

Source of the texts: ConsumerManager, ConsumerGroupInfo, ClientManageProcessor, ConsumerOffsetManager,
TopicConfigManager, SubscriptionGroupManager, AdminBrokerProcessor, BrokerStartup @4.4.0 - 5.3.3.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import templates

BROKER_TEMPLATES = templates(
    "broker",
    """
broker_started | INFO | all | BrokerStarted
    The broker[{broker_name}, {remote}] boot success.{text}
broker_stopping | INFO | all | BrokerStopping
    Shutdown hook was invoked, {count}
dispatch_behind | INFO | ≤4.9.8
    dispatch behind commit log {count} bytes
dispatch_behind | INFO | ≥5.0.0
    Dispatch task fall behind commit log {count}bytes
slave_behind | INFO | all
    Slave fall behind master: {count} bytes
broker_holds_pulls | INFO | all
    PullRequestHoldService service started
broker_holds_no_pulls | INFO | all
    PullRequestHoldService service end
broker_unregistered | INFO | all
    unregisterBroker OK, NamesrvAddr: {remote}
consumer_connected | INFO | all | ChannelConnected
    new consumer connected, group: {group} {consume_type} {message_model} channel: {channel_info}
channel_of_other_client | ERROR | ≤4.9.8
    [BUG] consumer channel exist in broker, but clientId not equal. GROUP: {group} OLD: {channel_info} NEW:
    {other_channel_info}
channel_of_other_client | ERROR | ≥5.0.0
    ConsumerGroupInfo: consumer channel exists in broker, but clientId is not the same one, group={group}, old
    clientChannelInfo={channel_info}, new clientChannelInfo={other_channel_info}
consumer_unregistered | INFO | all | ClientUnregistered
    unregister a consumer[{group}] from consumerGroupInfo {channel_info}
channel_closed | WARN | all | ChannelClosed
    NETTY EVENT: remove not active channel[{channel_info}] from ConsumerGroupInfo groupChannelTable, consumer group:
    {group}
channel_expired | WARN | all | ChannelExpired
    SCAN: remove expired channel from ConsumerManager consumerTable. channel={remote}, consumerGroup={group}
group_expired | WARN | all
    SCAN: remove expired channel from ConsumerManager consumerTable, all clear, consumerGroup={group}
group_gone | INFO | all
    unregister consumer ok, no any connection, and remove consumer group, {group}
group_gone | INFO | 3.2.6–3.2.6
    ungister consumer ok, no any connection, and remove consumer group, {group}
subscription_added | INFO | all | SubscriptionChanged
    subscription changed, add new topic, group: {group} {subscription}
subscription_replaced | INFO | all | SubscriptionChanged
    subscription changed, group: {group} OLD: {subscription} NEW: {other_subscription}
subscription_removed | WARN | all | SubscriptionChanged
    subscription changed, group: {group} remove topic {topic} {text}
consumer_registered | INFO | ≤4.9.8 | HeartbeatReceived
    registerConsumer info changed {consumer_data} {remote}
consumer_registered_by_address | INFO | ≥5.0.0 | HeartbeatReceived
    ClientManageProcessor: registerConsumer info changed, SDK address={remote}, consumerData={consumer_data}
consumer_registered_by_address | INFO | ≥5.1.3 | HeartbeatReceived
    heartBeatV2 ClientManageProcessor: registerConsumer info changed, SDK address={remote}, consumerData={consumer_data}
notify_failed | ERROR | ≤4.7.0
    notifyConsumerIdsChanged exception, {text}
notify_failed | ERROR | ≥4.7.1
    notifyConsumerIdsChanged exception. group={group}, error={text}
notify_failed | ERROR | ≥5.0.0
    Failed to notify consumer when some consumers changed, consumerId to notify: {text}
list_unknown_group | WARN | all | ConsumerListAnswered
    getConsumerGroupInfo failed, {group} {remote}
list_empty_group | WARN | all | ConsumerListAnswered
    getAllClientId failed, {group} {remote}
pull_group_unknown | WARN | all
    the consumer's group info not exist, group: {group}
pull_topic_unknown | WARN | all
    the consumer's subscription not exist, group: {group}, topic:{topic}
pull_not_latest | WARN | all
    The broker's subscription is not latest, group: {group} {text}
commit_rolled_back | WARN | all | CommitRolledBack, OffsetLine
    [NOTIFYME]update consumer offset less than store. clientHost={remote}, key={topic_at_group}, queueId={queue_id},
    requestOffset={requested}, storeOffset={stored}
commit_rejected | INFO | ≥5.1.0 | OffsetLine
    Update consumer offset is rejected because of previous offset-reset. Group={group}, Topic={topic},
    QueueId={queue_id}, Offset={queue_offset}
put_refused | WARN | ≥5.0.0
    message store is not writeable, so putMessage is forbidden {count}
unused_topics_dropped | WARN | all
    invoke cleanUnusedTopic start.
group_created | INFO | all
    auto create a subscription group, {text}
group_created | INFO | all
    create new subscription group, {text}
group_changed | INFO | all
    update subscription group config, old: {text} new: {more}
group_deleted | INFO | all
    delete subscription group OK, subscription group:{text}
group_delete_unknown | WARN | all
    delete subscription group failed, subscription groupName: {group} not exist
group_create_requested | INFO | ≤4.9.8
    updateAndCreateSubscriptionGroup called by {remote}
group_create_requested | INFO | ≥5.0.0
    AdminBrokerProcessor#updateAndCreateSubscriptionGroup called by {remote}
group_delete_requested | INFO | ≤4.9.8
    deleteSubscriptionGroup called by {remote}
group_delete_requested | INFO | ≥5.0.0
    AdminBrokerProcessor#deleteSubscriptionGroup, caller={remote}
topic_created | INFO | all | RouteSeen
    create new topic {topic_config}
topic_created | INFO | all | RouteSeen
    create new topic [{topic_config}]
topic_created | INFO | 3.2.6–3.2.6 | RouteSeen
    create new topic, {topic_config}
topic_created_by_default | INFO | 3.2.6–3.2.6 | RouteSeen
    create new topic by default topic[{topic}], {topic_config} producer: {text}
topic_changed | INFO | 3.2.6–3.2.6 | RouteSeen
    update topic config, old: {other_topic_config} new: {topic_config}
topic_created_by_default | INFO | all | RouteSeen
    Create new topic by default topic:[{topic}] config:[{topic_config}] producer:[{text}]
topic_changed | INFO | all | RouteSeen
    update topic config, old:[{other_topic_config}] new:[{topic_config}]
topic_deleted | INFO | all
    delete topic config OK, topic: {topic_config}
topic_deleted | INFO | 4.0.0–4.1.0
    Delete topic config OK, topic:{topic_config}
topic_delete_unknown | WARN | 3.2.6–3.2.6
    delete topic config failed, topic: {topic} not exist
topic_delete_unknown | WARN | 4.0.0–4.1.0
    Delete topic config failed, topic:{topic} not exist
topic_delete_unknown | WARN | all
    delete topic config failed, topic: {topic} not exists
topic_delete_requested | INFO | ≤4.9.8
    deleteTopic called by {remote}
topic_delete_requested | INFO | ≥5.0.0
    AdminBrokerProcessor#deleteTopic: broker receive request to delete topic={topic}, caller={remote}
topic_create_requested | INFO | ≤4.9.8
    updateAndCreateTopic called by {remote}
topic_create_requested | INFO | ≥5.0.0
    Broker receive request to update or create topic={topic}, caller address={remote}
topic_unchanged | INFO | ≥5.2.0
    Broker receive request to update or create topic={topic}, but topicConfig has  no changes , so idempotent, caller
    address={remote}
assignment_no_list | WARN | ≥5.0.0
    QueryLoad: no assignment for group[{group}] topic[{topic}], get consumer id list failed
assignment_no_topic | WARN | ≥5.0.0
    QueryLoad: no assignment for group[{group}], the topic[{topic}] does not exist.
assignment_failed | ERROR | ≥5.0.0
    QueryLoad: no assignment for group[{group}] topic[{topic}], allocate message queue exception. strategy name:
    {strategy}, ex: {text}
assignment_no_strategy | WARN | ≥5.0.0
    QueryLoad: unsupported strategy [{strategy}],  {text}
producer_connected | INFO | all
    new producer connected, group: {group} channel: {channel_info}
producer_channel_closed | INFO | all
    NETTY EVENT: remove channel[{channel_info}][{remote}] from ProducerManager groupChannelTable, producer group:
    {group}
producer_channel_expired | WARN | ≤4.9.8 | cause of ChannelClosed
    SCAN: remove expired channel[{channel}] from ProducerManager groupChannelTable, producer group name: {group}
producer_channel_expired | WARN | ≥5.0.0 | cause of ChannelClosed
    ProducerManager#scanNotActiveChannel: remove expired channel[{channel}] from ProducerManager groupChannelTable,
    producer group name: {group}
producer_unregistered | INFO | all
    unregister a producer[{group}] from groupChannelTable {channel_info}
""",
)
