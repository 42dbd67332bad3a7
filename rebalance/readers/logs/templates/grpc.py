"""What push consumers of the Java client for gRPC write (rocketmq-client-java, since 5.0.0), in rocketmq-client.log.

They pop through a proxy: a queue is handed to several of them, so that no line says that one owns it.
Source: PushConsumerImpl, ProcessQueueImpl of org.apache.rocketmq.client.java.impl.consumer, logback.xml of
apache/rocketmq-clients java 5.0.0 - 5.2.1. A log of 5.0.7 was recorded; the others were read by specification.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import templates

GRPC_TEMPLATES = templates(
    "grpc",
    """
grpc_consumer_starting | INFO | ≤5.0.8
    Begin to start the rocketmq push consumer, clientId={client_id}
grpc_consumer_started | INFO | ≤5.0.8
    The rocketmq push consumer starts successfully, clientId={client_id}
grpc_consumer_stopping | INFO | ≤5.0.8
    Begin to shutdown the rocketmq push consumer, clientId={client_id}
grpc_consumer_stopped | INFO | ≤5.0.8
    Shutdown the rocketmq push consumer successfully, clientId={client_id}
grpc_simple_consumer_starting | INFO | ≤5.1.0
    Begin to start the rocketmq simple consumer, clientId={client_id}
grpc_simple_consumer_started | INFO | ≤5.1.0
    The rocketmq simple consumer starts successfully, clientId={client_id}
grpc_simple_consumer_stopping | INFO | ≤5.1.0
    Begin to shutdown the rocketmq simple consumer, clientId={client_id}
grpc_simple_consumer_stopped | INFO | ≤5.1.0
    Shutdown the rocketmq simple consumer successfully, clientId={client_id}
grpc_client_starting | INFO | all
    Begin to start the rocketmq {client_type}, clientId={client_id}
grpc_client_started | INFO | all
    The rocketmq {client_type} starts successfully, clientId={client_id}
grpc_client_stopping | INFO | all
    Begin to shutdown the rocketmq {client_type}, clientId={client_id}
grpc_client_stopped | INFO | all
    Shutdown the rocketmq {client_type} successfully, clientId={client_id}
grpc_consumer_named | INFO | ≥5.0.1
    Create standard consume service, consumerGroup={group}, clientId={client_id}
grpc_ordered_consumer_named | INFO | ≥5.0.8
    Create FIFO consume service, consumerGroup={group}, clientId={client_id}, enableFifoConsumeAccelerator={outcome}
grpc_ordered_consumer_named | INFO | 5.0.1–5.0.7
    Create FIFO consume service, consumerGroup={group}, clientId={client_id}
grpc_assignments_changed | INFO | all
    Assignments of topic={topic} has changed, {more} => {text}, clientId={client_id}
grpc_queue_added | INFO | all
    Start to fetch message from remote, mq={grpc_queue}, clientId={client_id}
grpc_queue_removed | INFO | all
    Drop message queue according to the latest assignmentList, mq={grpc_queue}, clientId={client_id}
grpc_queue_expired | WARN | all
    Drop message queue because it is expired, mq={grpc_queue}, clientId={client_id}
grpc_queue_idle | WARN | ≥5.0.1
    Process queue is idle, idleDuration={timeout}, maxIdleDuration={most}, afterCacheFullDuration={since},
    mq={grpc_queue}, clientId={client_id}
grpc_nothing_assigned | INFO | all
    Acquired empty assignments from remote, would scan later, topic={topic}, clientId={client_id}
grpc_all_taken_away | INFO | all
    Attention!!! acquired empty assignments from remote, but existed assignments is not empty, topic={topic},
    clientId={client_id}
grpc_assignment_failed | ERROR | all
    Exception raised while scanning the assignments, topic={topic}, clientId={client_id}
grpc_flow_control | WARN | all
    Process queue cache is full, would receive message later, mq={grpc_queue}, clientId={client_id}
grpc_received_later | INFO | all
    Try to receive message later, mq={grpc_queue}, delay={timeout}, clientId={client_id}
grpc_dropped | INFO | all
    Process queue has been dropped, no longer receive message, mq={grpc_queue}, clientId={client_id}
grpc_receives_no_more | INFO | all
    Stop to receive message because consumer is not running, mq={grpc_queue}, clientId={client_id}
grpc_receive_failed | ERROR | all
    Exception raised during message reception, mq={grpc_queue}, {text}
grpc_cache_full | WARN | all
    Process queue total cached messages quantity exceeds the threshold, threshold={most}, actual={count},
    mq={grpc_queue}, clientId={client_id}
grpc_cache_full | WARN | all
    Process queue total cached messages memory exceeds the threshold, threshold={most} bytes, actual={count} bytes,
    mq={grpc_queue}, clientId={client_id}
grpc_listener_failed | ERROR | ≥5.0.7
    Message listener raised an exception while consuming messages, clientId={client_id}, mq={grpc_queue},
    messageId={message_id}
grpc_listener_failed | ERROR | 5.0.1–5.0.6
    Message listener raised an exception while consuming messages, clientId={client_id}
grpc_group_counted | INFO | all
    clientId={client_id}, consumerGroup={group}, receptionTimes={count}, receivedMessagesQuantity={received},
    consumptionOkQuantity={consumed}, consumptionErrorQuantity={failed}
grpc_queue_counted | INFO | ≥5.0.1
    Process queue stats: clientId={client_id}, mq={grpc_queue}, receptionTimes={count},
    receivedMessageQuantity={received}, cachedMessageCount={cached}, cachedMessageBytes={size}
grpc_queue_counted | INFO | ≤5.0.0
    Process queue stats: clientId={client_id}, mq={grpc_queue}, receptionTimes={count},
    receivedMessageQuantity={received}, pendingMessageCount={cached}, inflightMessageCount={in_flight},
    cachedMessageBytes={size}
grpc_ack_too_late | ERROR | all
    Failed to ack message due to the invalid receipt handle, forgive to retry, clientId={client_id},
    consumerGroup={group}, messageId={message_id}, attempt={count}, mq={grpc_queue}, endpoints={text}
grpc_ack_failed | ERROR | all
    Failed to ack message, would attempt to re-ack later, clientId={client_id}, consumerGroup={group}, attempt={count},
    messageId={message_id}, mq={grpc_queue}, code={text}
grpc_ack_failed | ERROR | all
    Exception raised while acknowledging message, clientId={client_id}, consumerGroup={group}, would attempt to re-ack
    later, attempt={count}, messageId={message_id}, mq={grpc_queue}, endpoints={text}
grpc_invisible_too_late | ERROR | all
    Failed to change invisible duration due to the invalid receipt handle, forgive to retry, clientId={client_id},
    consumerGroup={group}, messageId={message_id}, attempt={count}, mq={grpc_queue}, endpoints={text}
grpc_invisible_failed | ERROR | all
    Failed to change invisible duration, would retry later, clientId={client_id}, consumerGroup={group},
    messageId={message_id}, attempt={count}, mq={grpc_queue}, endpoints={text}
grpc_ordered_given_up | INFO | all
    Failed to consume fifo message finally, run out of attempt times, maxAttempts={most}, attempt={count},
    mq={grpc_queue}, messageId={message_id}, clientId={client_id}
grpc_dead_letter | INFO | all
    Forward message to dead letter queue successfully, clientId={client_id}, consumerGroup={group},
    messageId={message_id}, mq={grpc_queue}, endpoints={text}
grpc_dead_letter_failed | ERROR | all
    Failed to forward message to dead letter queue, would attempt to re-forward later, clientId={client_id},
    consumerGroup={group}, messageId={message_id}, attempt={count}, mq={grpc_queue}, endpoints={text}
grpc_discarded | INFO | all
    Discard message, mq={grpc_queue}, messageId={message_id}, clientId={client_id}
grpc_discarded | INFO | all
    Discard fifo message, mq={grpc_queue}, messageId={message_id}, clientId={client_id}
""",
)
