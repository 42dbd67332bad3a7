"""What brokers write into broker.log about clients, topics and groups. An ordinary heartbeat leaves no line.

Source of the texts: ConsumerManager, ConsumerGroupInfo, ClientManageProcessor, ConsumerOffsetManager,
TopicConfigManager, SubscriptionGroupManager, AdminBrokerProcessor, BrokerStartup @4.4.0 - 5.3.3.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import Template

_NETTY = "NETTY EVENT: remove "
_SCAN = "SCAN: remove expired channel"
_REGISTERED = "ClientManageProcessor: registerConsumer info changed, SDK address={remote}, consumerData={consumer_data}"


def _broker(name: str, levels: str, versions: str, text: str, yields: str = "") -> Template:
    return Template(name, "broker", levels, versions, text, yields)


BROKER_TEMPLATES = (
    _broker(
        "broker_started", "INFO", "all", "The broker[{broker_name}, {remote}] boot success.{text}", "BrokerStarted"
    ),
    _broker("broker_stopping", "INFO", "all", "Shutdown hook was invoked, {count}", "BrokerStopping"),
    _broker("dispatch_behind", "INFO", "≤4.9.8", "dispatch behind commit log {count} bytes"),
    _broker("dispatch_behind", "INFO", "≥5.0.0", "Dispatch task fall behind commit log {count}bytes"),
    _broker("slave_behind", "INFO", "all", "Slave fall behind master: {count} bytes"),
    _broker("broker_holds_pulls", "INFO", "all", "PullRequestHoldService service started"),
    _broker("broker_holds_no_pulls", "INFO", "all", "PullRequestHoldService service end"),
    _broker("broker_unregistered", "INFO", "all", "unregisterBroker OK, NamesrvAddr: {remote}"),
    _broker(
        "consumer_connected",
        "INFO",
        "all",
        "new consumer connected, group: {group} {consume_type} {message_model} channel: {channel_info}",
        "ChannelConnected",
    ),
    _broker(
        "channel_of_other_client",
        "ERROR",
        "≤4.9.8",
        "[BUG] consumer channel exist in broker, but clientId not equal. "
        "GROUP: {group} OLD: {channel_info} NEW: {other_channel_info} ",
    ),
    _broker(
        "channel_of_other_client",
        "ERROR",
        "≥5.0.0",
        "ConsumerGroupInfo: consumer channel exists in broker, but clientId is not the same one, group={group}, "
        "old clientChannelInfo={channel_info}, new clientChannelInfo={other_channel_info}",
    ),
    _broker(
        "consumer_unregistered",
        "INFO",
        "all",
        "unregister a consumer[{group}] from consumerGroupInfo {channel_info}",
        "ClientUnregistered",
    ),
    _broker(
        "channel_closed",
        "WARN",
        "all",
        _NETTY + "not active channel[{channel_info}] from ConsumerGroupInfo groupChannelTable, consumer group: {group}",
        "ChannelClosed",
    ),
    _broker(
        "channel_expired",
        "WARN",
        "all",
        _SCAN + " from ConsumerManager consumerTable. channel={remote}, consumerGroup={group}",
        "ChannelExpired",
    ),
    _broker(
        "group_expired", "WARN", "all", _SCAN + " from ConsumerManager consumerTable, all clear, consumerGroup={group}"
    ),
    _broker(
        "group_gone", "INFO", "all", "unregister consumer ok, no any connection, and remove consumer group, {group}"
    ),
    _broker(
        "group_gone",
        "INFO",
        "3.2.6–3.2.6",
        "ungister consumer ok, no any connection, and remove consumer group, {group}",
    ),
    _broker(
        "subscription_added",
        "INFO",
        "all",
        "subscription changed, add new topic, group: {group} {subscription}",
        "SubscriptionChanged",
    ),
    _broker(
        "subscription_replaced",
        "INFO",
        "all",
        "subscription changed, group: {group} OLD: {subscription} NEW: {other_subscription}",
        "SubscriptionChanged",
    ),
    _broker(
        "subscription_removed",
        "WARN",
        "all",
        "subscription changed, group: {group} remove topic {topic} {text}",
        "SubscriptionChanged",
    ),
    _broker(
        "consumer_registered",
        "INFO",
        "≤4.9.8",
        "registerConsumer info changed {consumer_data} {remote}",
        "HeartbeatReceived",
    ),
    _broker("consumer_registered_by_address", "INFO", "≥5.0.0", _REGISTERED, "HeartbeatReceived"),
    _broker("consumer_registered_by_address", "INFO", "≥5.1.3", "heartBeatV2 " + _REGISTERED, "HeartbeatReceived"),
    _broker("notify_failed", "ERROR", "≤4.7.0", "notifyConsumerIdsChanged exception, {text}"),
    _broker("notify_failed", "ERROR", "≥4.7.1", "notifyConsumerIdsChanged exception. group={group}, error={text}"),
    _broker(
        "notify_failed",
        "ERROR",
        "≥5.0.0",
        "Failed to notify consumer when some consumers changed, consumerId to notify: {text}",
    ),
    _broker(
        "list_unknown_group", "WARN", "all", "getConsumerGroupInfo failed, {group} {remote}", "ConsumerListAnswered"
    ),
    _broker("list_empty_group", "WARN", "all", "getAllClientId failed, {group} {remote}", "ConsumerListAnswered"),
    _broker("pull_group_unknown", "WARN", "all", "the consumer's group info not exist, group: {group}"),
    _broker(
        "pull_topic_unknown", "WARN", "all", "the consumer's subscription not exist, group: {group}, topic:{topic}"
    ),
    _broker("pull_not_latest", "WARN", "all", "The broker's subscription is not latest, group: {group} {text}"),
    _broker(
        "commit_rolled_back",
        "WARN",
        "all",
        "[NOTIFYME]update consumer offset less than store. "
        "clientHost={remote}, key={topic_at_group}, queueId={queue_id}, "
        "requestOffset={requested}, storeOffset={stored}",
        "CommitRolledBack, OffsetLine",
    ),
    _broker(
        "commit_rejected",
        "INFO",
        "≥5.1.0",
        "Update consumer offset is rejected because of previous offset-reset. "
        "Group={group}, Topic={topic}, QueueId={queue_id}, Offset={queue_offset}",
        "OffsetLine",
    ),
    _broker("put_refused", "WARN", "≥5.0.0", "message store is not writeable, so putMessage is forbidden {count}"),
    _broker("unused_topics_dropped", "WARN", "all", "invoke cleanUnusedTopic start."),
    _broker("group_created", "INFO", "all", "auto create a subscription group, {text}"),
    _broker("group_created", "INFO", "all", "create new subscription group, {text}"),
    _broker("group_changed", "INFO", "all", "update subscription group config, old: {text} new: {more}"),
    _broker("group_deleted", "INFO", "all", "delete subscription group OK, subscription group:{text}"),
    _broker(
        "group_delete_unknown",
        "WARN",
        "all",
        "delete subscription group failed, subscription groupName: {group} not exist",
    ),
    _broker("group_create_requested", "INFO", "≤4.9.8", "updateAndCreateSubscriptionGroup called by {remote}"),
    _broker(
        "group_create_requested",
        "INFO",
        "≥5.0.0",
        "AdminBrokerProcessor#updateAndCreateSubscriptionGroup called by {remote}",
    ),
    _broker("group_delete_requested", "INFO", "≤4.9.8", "deleteSubscriptionGroup called by {remote}"),
    _broker(
        "group_delete_requested", "INFO", "≥5.0.0", "AdminBrokerProcessor#deleteSubscriptionGroup, caller={remote}"
    ),
    _broker("topic_created", "INFO", "all", "create new topic {topic_config}", "RouteSeen"),
    _broker("topic_created", "INFO", "all", "create new topic [{topic_config}]", "RouteSeen"),
    _broker("topic_created", "INFO", "3.2.6–3.2.6", "create new topic, {topic_config}", "RouteSeen"),
    _broker(
        "topic_created_by_default",
        "INFO",
        "3.2.6–3.2.6",
        "create new topic by default topic[{topic}], {topic_config} producer: {text}",
        "RouteSeen",
    ),
    _broker(
        "topic_changed",
        "INFO",
        "3.2.6–3.2.6",
        "update topic config, old: {other_topic_config} new: {topic_config}",
        "RouteSeen",
    ),
    _broker(
        "topic_created_by_default",
        "INFO",
        "all",
        "Create new topic by default topic:[{topic}] config:[{topic_config}] producer:[{text}]",
        "RouteSeen",
    ),
    _broker(
        "topic_changed",
        "INFO",
        "all",
        "update topic config, old:[{other_topic_config}] new:[{topic_config}]",
        "RouteSeen",
    ),
    _broker("topic_deleted", "INFO", "all", "delete topic config OK, topic: {topic_config}"),
    _broker("topic_deleted", "INFO", "4.0.0–4.1.0", "Delete topic config OK, topic:{topic_config}"),
    _broker("topic_delete_unknown", "WARN", "3.2.6–3.2.6", "delete topic config failed, topic: {topic} not exist"),
    _broker("topic_delete_unknown", "WARN", "4.0.0–4.1.0", "Delete topic config failed, topic:{topic} not exist"),
    _broker("topic_delete_unknown", "WARN", "all", "delete topic config failed, topic: {topic} not exists"),
    _broker("topic_delete_requested", "INFO", "≤4.9.8", "deleteTopic called by {remote}"),
    _broker(
        "topic_delete_requested",
        "INFO",
        "≥5.0.0",
        "AdminBrokerProcessor#deleteTopic: broker receive request to delete topic={topic}, caller={remote}",
    ),
    _broker("topic_create_requested", "INFO", "≤4.9.8", "updateAndCreateTopic called by {remote}"),
    _broker(
        "topic_create_requested",
        "INFO",
        "≥5.0.0",
        "Broker receive request to update or create topic={topic}, caller address={remote}",
    ),
    _broker(
        "topic_unchanged",
        "INFO",
        "≥5.2.0",
        "Broker receive request to update or create topic={topic}, but topicConfig has  no changes , "
        "so idempotent, caller address={remote}",
    ),
    _broker(
        "assignment_no_list",
        "WARN",
        "≥5.0.0",
        "QueryLoad: no assignment for group[{group}] topic[{topic}], get consumer id list failed",
    ),
    _broker(
        "assignment_no_topic",
        "WARN",
        "≥5.0.0",
        "QueryLoad: no assignment for group[{group}], the topic[{topic}] does not exist.",
    ),
    _broker(
        "assignment_failed",
        "ERROR",
        "≥5.0.0",
        "QueryLoad: no assignment for group[{group}] topic[{topic}], allocate message queue exception. "
        "strategy name: {strategy}, ex: {text}",
    ),
    _broker("assignment_no_strategy", "WARN", "≥5.0.0", "QueryLoad: unsupported strategy [{strategy}],  {text}"),
    _broker("producer_connected", "INFO", "all", "new producer connected, group: {group} channel: {channel_info}"),
    _broker(
        "producer_channel_closed",
        "INFO",
        "all",
        _NETTY + "channel[{channel_info}][{remote}] from ProducerManager groupChannelTable, producer group: {group}",
    ),
    _broker(
        "producer_channel_expired",
        "WARN",
        "≤4.9.8",
        _SCAN + "[{channel}] from ProducerManager groupChannelTable, producer group name: {group}",
        "cause of ChannelClosed",
    ),
    _broker(
        "producer_channel_expired",
        "WARN",
        "≥5.0.0",
        "ProducerManager#scanNotActiveChannel: remove expired channel[{channel}] from ProducerManager "
        "groupChannelTable, producer group name: {group}",
        "cause of ChannelClosed",
    ),
    _broker(
        "producer_unregistered", "INFO", "all", "unregister a producer[{group}] from groupChannelTable {channel_info}"
    ),
)
