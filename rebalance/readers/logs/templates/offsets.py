"""What brokers write into broker.log about offsets that were reset, and pulls that they corrected; of pops in pop.log.

Source of the texts: PullMessageProcessor (5.x: DefaultPullMessageResultHandler), AdminBrokerProcessor, Broker2Client,
ConsumerOffsetManager @3.2.6 - 5.3.3; PopMessageProcessor, PopReviveService, PopBufferMergeService @5.0.0 - 5.5.0,
PopConsumerService @5.3.3.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import templates

OFFSET_TEMPLATES = templates(
    "broker",
    """
pull_corrected | WARN | all | OffsetLine
    PULL_OFFSET_MOVED:correction offset. topic={topic}, groupId={group}, requestOffset={requested},
    newOffset={queue_offset}, suggestBrokerId={broker_id}
pull_not_corrected | WARN | all
    PULL_OFFSET_MOVED:none correction. topic={topic}, groupId={group}, requestOffset={requested},
    suggestBrokerId={broker_id}
pull_below_minimum | INFO | all | cause of OffsetLine
    the request offset too small. group={group}, topic={topic}, requestOffset={requested},
    brokerMinOffset={queue_offset}, clientIp={remote}
pull_below_minimum | INFO | 4.0.0–4.1.0 | cause of OffsetLine
    The request offset is too small. group={group}, topic={topic}, requestOffset={requested},
    brokerMinOffset={queue_offset}, clientIp={remote}
pull_beyond_end | INFO | 4.0.0–4.1.0 | cause of OffsetLine
    The request offset:{requested} over flow badly, broker max offset:{stored} , consumer: {remote}
pull_below_minimum_of_nobody | INFO | 3.2.6–3.2.6
    the request offset: {requested} too small, broker min offset: {queue_offset}, consumer: {remote}
pull_moved | WARN | 3.2.6–3.2.6
    PULL_OFFSET_MOVED:topic={topic}, groupId={group}, clientId={requested}, offset={broker_id}, suggestBrokerId={text}
pull_beyond_end | INFO | ≤4.9.8 | cause of OffsetLine
    the request offset: {requested} over flow badly, broker max offset: {stored}, consumer: {remote}
pull_beyond_end_fixed | INFO | ≥5.0.0 | cause of OffsetLine
    the request offset: {requested} over flow badly, fix to {queue_offset}, broker max offset: {stored}, consumer:
    {remote}
pull_of_empty_queue | INFO | ≤4.9.8 | cause of OffsetLine
    the broker store no queue data, fix the request offset {requested} to {queue_offset}, Topic: {topic} QueueId:
    {queue_id} Consumer Group: {group}
pull_of_empty_queue | INFO | ≥5.0.0 | cause of OffsetLine
    the broker stores no queue data, fix the request offset {requested} to {queue_offset}, Topic: {topic} QueueId:
    {queue_id} Consumer Group: {group}
pull_was_reset | INFO | ≥5.1.0
    The queue under pulling was previously reset to start from {queue_offset}
reset_requested | INFO | all | OffsetLine
    [reset-offset] reset offset started by {remote}. topic={topic}, group={group}, timestamp={timestamp},
    isForce={is_force}
reset_sent | INFO | all | OffsetLine
    [reset-offset] reset offset success. topic={topic}, group={group}, clientId={client_id}
reset_failed | ERROR | ≤4.7.0
    [reset-offset] reset offset exception. topic={topic}, group={group}
reset_failed | ERROR | ≥4.7.1
    [reset-offset] reset offset exception. topic={topic}, group={group} ,error={text}
reset_topic_unknown | ERROR | all
    [reset-offset] reset offset failed, no topic in this broker. topic={topic}
reset_done | INFO | ≥5.1.0 | OffsetLine
    Reset offset, topic={topic}, group={group}, queues={text}
reset_refused | WARN | ≥5.1.0
    Reset offset failed, group does not exist. topic={topic}, group={group}
reset_refused | WARN | ≥5.1.0
    Reset offset failed, topic does not exist. topic={topic}, group={group}
topic_offsets_dropped | WARN | ≥5.0.0 | OffsetLine
    Clean topic's offset, {topic_at_group}, {text}
group_offsets_dropped | WARN | 4.9.0–5.3.1
    clean group offset {topic_at_group}
group_offsets_dropped | INFO | ≥5.3.2
    Consumer offset manager clean group offset, groupName={group}, offsetTable={is_offset},
    resetOffsetTable={is_reset}, pullOffsetTable={is_pull}
pop_offset_corrected | WARN | ≥5.0.0 | OffsetLine
    Pop initial offset, because store is no correct, {lock_key}, {requested}->{answered}
pop_service_offset_corrected | WARN | ≥5.3.3 | OffsetLine
    PopConsumerService getMessageAsync, initial offset because store is no correct, groupId={group}, topicId={topic},
    queueId={queue_id}, batchSize={count}, offset={requested}->{queue_offset}
revive_skipped | WARN | ≥5.1.1
    skip revive topic because timerWheelEnable is false
pop_buffer_scanned | INFO | ≥5.0.0
    [PopBuffer]scan, {text}
pop_revived | INFO | ≥5.0.0
    reviveQueueId={queue_id},retry msg{text}, msg queueId {origin_queue_id}, offset {queue_offset},
    reviveDelay={seconds}, result is {more}
pop_revive_round | INFO | 5.0.0–5.1.4
    reviveQueueId={queue_id},revive finish,old offset is {stored}, new offset is {queue_offset}, ckDelay={seconds}
pop_revive_round | INFO | ≥5.2.0
    reviveQueueId={queue_id}, revive finish,old offset is {stored}, new offset is {queue_offset}, ckDelay={seconds}
pop_revive_step | INFO | ≥5.0.0
    reviveQueueId={queue_id},{text}
pop_invisible_changed | INFO | 5.0.0–5.3.1
    change Invisible , appendCheckPoint, topic {topic}, queueId {queue_id},reviveId {revive_queue_id}, cid {group},
    startOffset {queue_offset}, rt {timestamp}, result {text}
pop_invisible_changed | INFO | ≥5.3.2
    change Invisible, appendCheckPoint, topic {topic}, queueId {queue_id},reviveId {revive_queue_id}, cid {group},
    startOffset {queue_offset}, rt {timestamp}, result {text}
reset_of_nothing | WARN | ≥5.1.0
    Reset offset aborted: no queues to reset
""",
)
