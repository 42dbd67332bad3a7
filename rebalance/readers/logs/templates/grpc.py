"""What push consumers of the Java client for gRPC write (rocketmq-client-java, since 5.0.0), in rocketmq-client.log.

They pop through a proxy: a queue is handed to several of them, so that no line says that one owns it.
Source: PushConsumerImpl, ProcessQueueImpl of org.apache.rocketmq.client.java.impl.consumer, logback.xml of
apache/rocketmq-clients java 5.0.0 - 5.2.1. A log of 5.0.7 was recorded; the others were read by specification.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import Template

_WHERE = ", mq={grpc_queue}, clientId={client_id}"
_MESSAGE = "clientId={client_id}, consumerGroup={group}, messageId={message_id}, "
_ATTEMPT = "attempt={count}, mq={grpc_queue}, endpoints={text}"
_FULL = "Process queue total cached messages "


def _grpc(name: str, levels: str, text: str, versions: str = "all") -> Template:
    return Template(name, "grpc", levels, versions, text, "")


def _life(word: str, versions: str) -> tuple[Template, ...]:
    """How a consumer of this kind starts and stops."""
    name = "grpc_client" if word.startswith("{") else f"grpc_{word.removeprefix('push ').replace(' ', '_')}"
    texts = {
        "starting": f"Begin to start the rocketmq {word}",
        "started": f"The rocketmq {word} starts successfully",
        "stopping": f"Begin to shutdown the rocketmq {word}",
        "stopped": f"Shutdown the rocketmq {word} successfully",
    }
    return tuple(
        _grpc(f"{name}_{step}", "INFO", text + ", clientId={client_id}", versions) for step, text in texts.items()
    )


GRPC_TEMPLATES: tuple[Template, ...] = (
    *_life("push consumer", "≤5.0.8"),
    *_life("simple consumer", "≤5.1.0"),
    *_life("{client_type}", "all"),
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
    _grpc("grpc_receives_no_more", "INFO", "Stop to receive message because consumer is not running" + _WHERE),
    _grpc("grpc_receive_failed", "ERROR", "Exception raised during message reception, mq={grpc_queue}, {text}"),
    _grpc(
        "grpc_cache_full", "WARN", _FULL + "quantity exceeds the threshold, threshold={most}, actual={count}" + _WHERE
    ),
    _grpc(
        "grpc_cache_full",
        "WARN",
        _FULL + "memory exceeds the threshold, threshold={most} bytes, actual={count} bytes" + _WHERE,
    ),
    _grpc(
        "grpc_listener_failed",
        "ERROR",
        "Message listener raised an exception while consuming messages, clientId={client_id}, mq={grpc_queue}, "
        "messageId={message_id}",
        "≥5.0.7",
    ),
    _grpc(
        "grpc_listener_failed",
        "ERROR",
        "Message listener raised an exception while consuming messages, clientId={client_id}",
        "5.0.1–5.0.6",
    ),
    _grpc(
        "grpc_group_counted",
        "INFO",
        "clientId={client_id}, consumerGroup={group}, receptionTimes={count}, receivedMessagesQuantity={received}, "
        "consumptionOkQuantity={consumed}, consumptionErrorQuantity={failed}",
    ),
    _grpc(
        "grpc_queue_counted",
        "INFO",
        "Process queue stats: clientId={client_id}, mq={grpc_queue}, receptionTimes={count}, "
        "receivedMessageQuantity={received}, cachedMessageCount={cached}, cachedMessageBytes={size}",
        "≥5.0.1",
    ),
    _grpc(
        "grpc_queue_counted",
        "INFO",
        "Process queue stats: clientId={client_id}, mq={grpc_queue}, receptionTimes={count}, "
        "receivedMessageQuantity={received}, pendingMessageCount={cached}, inflightMessageCount={in_flight}, "
        "cachedMessageBytes={size}",
        "≤5.0.0",
    ),
    _grpc(
        "grpc_ack_too_late",
        "ERROR",
        "Failed to ack message due to the invalid receipt handle, forgive to retry, " + _MESSAGE + _ATTEMPT,
    ),
    _grpc(
        "grpc_ack_failed",
        "ERROR",
        "Failed to ack message, would attempt to re-ack later, clientId={client_id}, consumerGroup={group}, "
        "attempt={count}, messageId={message_id}, mq={grpc_queue}, code={text}",
    ),
    _grpc(
        "grpc_ack_failed",
        "ERROR",
        "Exception raised while acknowledging message, clientId={client_id}, consumerGroup={group}, would attempt to "
        "re-ack later, attempt={count}, messageId={message_id}, mq={grpc_queue}, endpoints={text}",
    ),
    _grpc(
        "grpc_invisible_too_late",
        "ERROR",
        "Failed to change invisible duration due to the invalid receipt handle, forgive to retry, "
        + _MESSAGE
        + _ATTEMPT,
    ),
    _grpc(
        "grpc_invisible_failed",
        "ERROR",
        "Failed to change invisible duration, would retry later, " + _MESSAGE + _ATTEMPT,
    ),
    _grpc(
        "grpc_ordered_given_up",
        "INFO",
        "Failed to consume fifo message finally, run out of attempt times, maxAttempts={most}, attempt={count}, "
        "mq={grpc_queue}, messageId={message_id}, clientId={client_id}",
    ),
    _grpc(
        "grpc_dead_letter",
        "INFO",
        "Forward message to dead letter queue successfully, " + _MESSAGE + "mq={grpc_queue}, endpoints={text}",
    ),
    _grpc(
        "grpc_dead_letter_failed",
        "ERROR",
        "Failed to forward message to dead letter queue, would attempt to re-forward later, " + _MESSAGE + _ATTEMPT,
    ),
    _grpc(
        "grpc_discarded",
        "INFO",
        "Discard message, mq={grpc_queue}, messageId={message_id}, clientId={client_id}",
    ),
    _grpc(
        "grpc_discarded",
        "INFO",
        "Discard fifo message, mq={grpc_queue}, messageId={message_id}, clientId={client_id}",
    ),
)
