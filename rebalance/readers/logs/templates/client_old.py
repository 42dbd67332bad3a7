"""What consumers of 3.x write into rocketmq_client.log where 4.x writes it otherwise.

Source of the texts: RebalanceImpl, MQClientInstance, RemoteBrokerOffsetStore @3.2.6.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import templates

OLD_CLIENT_TEMPLATES = templates(
    "client",
    """
result_changed_unsized | INFO | 3.2.6–3.2.6 | RebalanceResultChanged
    rebalanced result changed. allocateMessageQueueStrategyName={strategy}, group={group}, topic={topic},
    ConsumerId={client_id}, rebalanceSize={result_size}, rebalanceMqSet={mqs}
rebalance_source | INFO | 3.2.6–3.2.6
    rebalanced allocate source. {text}
offset_persisted | INFO | 3.2.6–3.2.6 | OffsetPersisted, OffsetLine
    Group: {group} ClientId: {client_id} updateConsumeOffsetToBroker {mq} {queue_offset}
offset_forgotten | INFO | 3.2.6–3.2.6
    remove unnecessary messageQueue offset. mq={mq}, offsetTableSize={count}
route_changed | INFO | 3.2.6–3.2.6 | RouteSeen
    the topic[{topic}] route info changed, odl[{other_route}] ,new[{route}]
route_put | INFO | 3.2.6–3.2.6
    topicRouteTable.put TopicRouteData[{route}]
instance_created | INFO | 3.2.6–3.2.6 | start of a process
    created a new client Instance, FactoryIndex: {index} ClinetID: {client_id} {text}
""",
)
