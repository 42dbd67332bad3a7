"""What consumers of 3.x write into rocketmq_client.log where 4.x writes it otherwise.

Source of the texts: RebalanceImpl, MQClientInstance, RemoteBrokerOffsetStore @3.2.6.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.client import COMMIT
from rebalance.readers.logs.templates.template import Template


def _client(name: str, text: str, yields: str = "") -> Template:
    return Template(name, "client", "INFO", "3.2.6–3.2.6", text, yields)


OLD_CLIENT_TEMPLATES = (
    _client(
        "result_changed_unsized",
        "rebalanced result changed. allocateMessageQueueStrategyName={strategy}, group={group}, topic={topic}, "
        "ConsumerId={client_id}, rebalanceSize={result_size}, rebalanceMqSet={mqs}",
        "RebalanceResultChanged",
    ),
    _client("rebalance_source", "rebalanced allocate source. {text}"),
    _client("offset_persisted", COMMIT, "OffsetPersisted, OffsetLine"),
    _client("offset_forgotten", "remove unnecessary messageQueue offset. mq={mq}, offsetTableSize={count}"),
    _client("route_changed", "the topic[{topic}] route info changed, odl[{other_route}] ,new[{route}]", "RouteSeen"),
    _client("route_put", "topicRouteTable.put TopicRouteData[{route}]"),
    _client(
        "instance_created",
        "created a new client Instance, FactoryIndex: {index} ClinetID: {client_id} {text}",
        "start of a process",
    ),
)
