"""What push consumers of the Java client for gRPC write (rocketmq-client-java, since 5.0.0), in rocketmq-client.log.

They pop through a proxy: a queue is handed to several of them, so that no line says that one owns it.
Source: PushConsumerImpl, ProcessQueueImpl of org.apache.rocketmq.client.java.impl.consumer, logback.xml of
apache/rocketmq-clients java 5.0.0 - 5.2.1. Read by specification: no log of such a client was recorded.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import Template

_WHERE = ", mq={grpc_queue}, clientId={client_id}"


def _grpc(name: str, levels: str, text: str, versions: str = "all") -> Template:
    return Template(name, "grpc", levels, versions, text, "")


GRPC_TEMPLATES: tuple[Template, ...] = (
    _grpc(
        "grpc_consumer_starting", "INFO", "Begin to start the rocketmq push consumer, clientId={client_id}", "≤5.0.8"
    ),
    _grpc("grpc_client_starting", "INFO", "Begin to start the rocketmq {client_type}, clientId={client_id}", "≥5.1.0"),
    _grpc(
        "grpc_consumer_started",
        "INFO",
        "The rocketmq push consumer starts successfully, clientId={client_id}",
        "≤5.0.8",
    ),
    _grpc(
        "grpc_client_started", "INFO", "The rocketmq {client_type} starts successfully, clientId={client_id}", "≥5.1.0"
    ),
    _grpc(
        "grpc_consumer_stopping", "INFO", "Begin to shutdown the rocketmq push consumer, clientId={client_id}", "≤5.0.8"
    ),
    _grpc(
        "grpc_client_stopping", "INFO", "Begin to shutdown the rocketmq {client_type}, clientId={client_id}", "≥5.1.0"
    ),
    _grpc(
        "grpc_consumer_stopped",
        "INFO",
        "Shutdown the rocketmq push consumer successfully, clientId={client_id}",
        "≤5.0.8",
    ),
    _grpc(
        "grpc_client_stopped",
        "INFO",
        "Shutdown the rocketmq {client_type} successfully, clientId={client_id}",
        "≥5.1.0",
    ),
    _grpc(
        "grpc_consumer_named",
        "INFO",
        "Create standard consume service, consumerGroup={group}, clientId={client_id}",
        "≥5.0.1",
    ),
    _grpc(
        "grpc_ordered_consumer_named",
        "INFO",
        "Create FIFO consume service, consumerGroup={group}, clientId={client_id}, "
        "enableFifoConsumeAccelerator={outcome}",
        "≥5.0.8",
    ),
    _grpc(
        "grpc_ordered_consumer_named",
        "INFO",
        "Create FIFO consume service, consumerGroup={group}, clientId={client_id}",
        "5.0.1–5.0.7",
    ),
    _grpc(
        "grpc_assignments_changed",
        "INFO",
        "Assignments of topic={topic} has changed, {more} => {text}, clientId={client_id}",
    ),
    _grpc("grpc_queue_added", "INFO", "Start to fetch message from remote" + _WHERE),
    _grpc("grpc_queue_removed", "INFO", "Drop message queue according to the latest assignmentList" + _WHERE),
    _grpc("grpc_queue_expired", "WARN", "Drop message queue because it is expired" + _WHERE),
    _grpc(
        "grpc_queue_idle",
        "WARN",
        "Process queue is idle, idleDuration={timeout}, maxIdleDuration={most}, afterCacheFullDuration={since}"
        + _WHERE,
        "≥5.0.1",
    ),
    _grpc(
        "grpc_nothing_assigned",
        "INFO",
        "Acquired empty assignments from remote, would scan later, topic={topic}, clientId={client_id}",
    ),
    _grpc(
        "grpc_all_taken_away",
        "INFO",
        "Attention!!! acquired empty assignments from remote, but existed assignments is not empty, topic={topic}, "
        "clientId={client_id}",
    ),
    _grpc(
        "grpc_assignment_failed",
        "ERROR",
        "Exception raised while scanning the assignments, topic={topic}, clientId={client_id}",
    ),
    _grpc("grpc_flow_control", "WARN", "Process queue cache is full, would receive message later" + _WHERE),
    _grpc(
        "grpc_received_later",
        "INFO",
        "Try to receive message later, mq={grpc_queue}, delay={timeout}, clientId={client_id}",
    ),
    _grpc("grpc_dropped", "INFO", "Process queue has been dropped, no longer receive message" + _WHERE),
)
