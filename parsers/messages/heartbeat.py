"""What a proxy in cluster mode tells other proxies of its consumers: a message for each heartbeat and each farewell.

Each goes to one broker of the cluster, so that a broker's log has a part of them.
"""

from __future__ import annotations

from parsers.messages.declared import Named
from parsers.messages.json_body import JsonKind

PROXY_HEARTBEAT = JsonKind(
    "proxy_heartbeat",
    "a consumer's heartbeat at a proxy in cluster mode",
    "HeartbeatSyncerData, HeartbeatSyncer#onConsumerRegister, #onConsumerUnRegister @5.1.0 - 5.5.0",
    Named("heartbeat_type", "heartbeatType", "text", "REGISTER: it is there; UNREGISTER: it has left"),
    Named("group", "group", "text", "consumer group"),
    Named("client_id", "clientId", "text", "the consumer's client id"),
    Named("sent_at_ms", "lastUpdateTimestamp", "time_ms", "when the proxy told it, by its clock"),
    Named("proxy", "localProxyId", "text", "proxy it is connected to: address%remoting port%gRPC port"),
    Named("subscriptions", "subscriptionDataSet", "json", "topics and expressions, JSON; null at a farewell"),
    Named("consume_type", "consumeType", "text", "CONSUME_PASSIVELY: a push consumer; CONSUME_ACTIVELY: a simple one"),
    Named("message_model", "messageModel", "text", "CLUSTERING or BROADCASTING"),
    Named("consume_from", "consumeFromWhere", "text", "where a group without an offset begins"),
    Named("language", "language", "text", "language of the client"),
    Named("client_version", "version", "int32", "number of its version"),
    Named("channel", "channelData", "text", "its connection to that proxy, JSON as the proxy wrote it"),
)
