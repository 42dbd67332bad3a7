"""What brokers write into broker.log about offsets that were reset, and pulls that they corrected; of pops in pop.log.

Source of the texts: PullMessageProcessor (5.x: DefaultPullMessageResultHandler), AdminBrokerProcessor, Broker2Client,
ConsumerOffsetManager @3.2.6 - 5.3.3; PopMessageProcessor, PopReviveService, PopBufferMergeService @5.0.0 - 5.5.0,
PopConsumerService @5.3.3.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import Template

_MOVED = "PULL_OFFSET_MOVED:"
_REVIVED = "reviveQueueId={queue_id}"
_ROUND = ",old offset is {stored}, new offset is {queue_offset}, ckDelay={seconds}"
_CHANGED = (
    ", topic {topic}, queueId {queue_id},reviveId {revive_queue_id}, cid {group}, startOffset {queue_offset}, "
    "rt {timestamp}, result {text}"
)
_RESET = "[reset-offset] "


def _broker(name: str, levels: str, versions: str, text: str, yields: str = "") -> Template:
    return Template(name, "broker", levels, versions, text, yields)


OFFSET_TEMPLATES = (
    _broker(
        "pull_corrected",
        "WARN",
        "all",
        _MOVED + "correction offset. topic={topic}, groupId={group}, requestOffset={requested}, "
        "newOffset={queue_offset}, suggestBrokerId={broker_id}",
        "OffsetLine",
    ),
    _broker(
        "pull_not_corrected",
        "WARN",
        "all",
        _MOVED + "none correction. topic={topic}, groupId={group}, requestOffset={requested}, "
        "suggestBrokerId={broker_id}",
    ),
    _broker(
        "pull_below_minimum",
        "INFO",
        "all",
        "the request offset too small. group={group}, topic={topic}, requestOffset={requested}, "
        "brokerMinOffset={queue_offset}, clientIp={remote}",
        "cause of OffsetLine",
    ),
    _broker(
        "pull_below_minimum",
        "INFO",
        "4.0.0–4.1.0",
        "The request offset is too small. group={group}, topic={topic}, requestOffset={requested}, "
        "brokerMinOffset={queue_offset}, clientIp={remote}",
        "cause of OffsetLine",
    ),
    _broker(
        "pull_beyond_end",
        "INFO",
        "4.0.0–4.1.0",
        "The request offset:{requested} over flow badly, broker max offset:{stored} , consumer: {remote}",
        "cause of OffsetLine",
    ),
    _broker(
        "pull_below_minimum_of_nobody",
        "INFO",
        "3.2.6–3.2.6",
        "the request offset: {requested} too small, broker min offset: {queue_offset}, consumer: {remote}",
    ),
    _broker(
        "pull_moved",
        "WARN",
        "3.2.6–3.2.6",
        "PULL_OFFSET_MOVED:topic={topic}, groupId={group}, clientId={requested}, offset={broker_id}, "
        "suggestBrokerId={text}",
    ),
    _broker(
        "pull_beyond_end",
        "INFO",
        "≤4.9.8",
        "the request offset: {requested} over flow badly, broker max offset: {stored}, consumer: {remote}",
        "cause of OffsetLine",
    ),
    _broker(
        "pull_beyond_end_fixed",
        "INFO",
        "≥5.0.0",
        "the request offset: {requested} over flow badly, fix to {queue_offset}, broker max offset: {stored}, "
        "consumer: {remote}",
        "cause of OffsetLine",
    ),
    _broker(
        "pull_of_empty_queue",
        "INFO",
        "≤4.9.8",
        "the broker store no queue data, fix the request offset {requested} to {queue_offset}, Topic: {topic} "
        "QueueId: {queue_id} Consumer Group: {group}",
        "cause of OffsetLine",
    ),
    _broker(
        "pull_of_empty_queue",
        "INFO",
        "≥5.0.0",
        "the broker stores no queue data, fix the request offset {requested} to {queue_offset}, Topic: {topic} "
        "QueueId: {queue_id} Consumer Group: {group}",
        "cause of OffsetLine",
    ),
    _broker(
        "pull_was_reset",
        "INFO",
        "≥5.1.0",
        "The queue under pulling was previously reset to start from {queue_offset}",
    ),
    _broker(
        "reset_requested",
        "INFO",
        "all",
        _RESET + "reset offset started by {remote}. topic={topic}, group={group}, timestamp={timestamp}, "
        "isForce={is_force}",
        "OffsetLine",
    ),
    _broker(
        "reset_sent",
        "INFO",
        "all",
        _RESET + "reset offset success. topic={topic}, group={group}, clientId={client_id}",
        "OffsetLine",
    ),
    _broker("reset_failed", "ERROR", "≤4.7.0", _RESET + "reset offset exception. topic={topic}, group={group}"),
    _broker(
        "reset_failed",
        "ERROR",
        "≥4.7.1",
        _RESET + "reset offset exception. topic={topic}, group={group} ,error={text}",
    ),
    _broker(
        "reset_topic_unknown", "ERROR", "all", _RESET + "reset offset failed, no topic in this broker. topic={topic}"
    ),
    _broker(
        "reset_done",
        "INFO",
        "≥5.1.0",
        "Reset offset, topic={topic}, group={group}, queues={text}",
        "OffsetLine",
    ),
    _broker(
        "reset_refused", "WARN", "≥5.1.0", "Reset offset failed, group does not exist. topic={topic}, group={group}"
    ),
    _broker(
        "reset_refused", "WARN", "≥5.1.0", "Reset offset failed, topic does not exist. topic={topic}, group={group}"
    ),
    _broker("topic_offsets_dropped", "WARN", "≥5.0.0", "Clean topic's offset, {topic_at_group}, {text}", "OffsetLine"),
    _broker("group_offsets_dropped", "WARN", "4.9.0–5.3.1", "clean group offset {topic_at_group}"),
    _broker(
        "group_offsets_dropped",
        "INFO",
        "≥5.3.2",
        "Consumer offset manager clean group offset, groupName={group}, offsetTable={is_offset}, "
        "resetOffsetTable={is_reset}, pullOffsetTable={is_pull}",
    ),
    _broker(
        "pop_offset_corrected",
        "WARN",
        "≥5.0.0",
        "Pop initial offset, because store is no correct, {lock_key}, {requested}->{answered}",
        "OffsetLine",
    ),
    _broker(
        "pop_service_offset_corrected",
        "WARN",
        "≥5.3.3",
        "PopConsumerService getMessageAsync, initial offset because store is no correct, groupId={group}, "
        "topicId={topic}, queueId={queue_id}, batchSize={count}, offset={requested}->{queue_offset}",
        "OffsetLine",
    ),
    _broker("revive_skipped", "WARN", "≥5.1.1", "skip revive topic because timerWheelEnable is false"),
    _broker("pop_buffer_scanned", "INFO", "≥5.0.0", "[PopBuffer]scan, {text}"),
    _broker(
        "pop_revived",
        "INFO",
        "≥5.0.0",
        "reviveQueueId={queue_id},retry msg{text}, msg queueId {origin_queue_id}, offset {queue_offset}, "
        "reviveDelay={seconds}, result is {more}",
    ),
    _broker("pop_revive_round", "INFO", "5.0.0–5.1.4", _REVIVED + ",revive finish" + _ROUND),
    _broker("pop_revive_round", "INFO", "≥5.2.0", _REVIVED + ", revive finish" + _ROUND),
    _broker("pop_revive_step", "INFO", "≥5.0.0", _REVIVED + ",{text}"),
    _broker("pop_invisible_changed", "INFO", "5.0.0–5.3.1", "change Invisible , appendCheckPoint" + _CHANGED),
    _broker("pop_invisible_changed", "INFO", "≥5.3.2", "change Invisible, appendCheckPoint" + _CHANGED),
    _broker("reset_of_nothing", "WARN", "≥5.1.0", "Reset offset aborted: no queues to reset"),
)
