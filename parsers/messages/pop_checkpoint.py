"""POP's checkpoint (`ck`): what one pop took, written to the revive topic when its ack is waited for on disk.

A checkpoint made in memory whose messages are all acked in time is never written (PopBufferMergeService), so that a
pop without one is no sign of loss.
"""

from __future__ import annotations

from parsers.messages.declared import Named
from parsers.messages.json_body import JsonKind

TAG = "ck"

POP_CHECKPOINT = JsonKind(
    "pop_checkpoint",
    "what one pop took from a queue (tag ck)",
    "PopCheckPoint, PopMessageProcessor#buildCkMsg @5.0.0 - 5.5.0",
    Named("topic", "t", "text", "popped from this topic"),
    Named("queue_id", "q", "int32", "and this queue"),
    Named("group", "c", "text", "by this consumer group"),
    Named("start_queue_offset", "so", "int64", "queue offset of the first message taken"),
    Named("message_count", "n", "int32", "messages taken"),
    Named("queue_offset_diffs", "d", "int64_list", "queue offset of each message taken, less the first"),
    Named("ack_bits", "bm", "int32", "bit i is set where message i was acked in memory"),
    Named("pop_time_ms", "pt", "time_ms", "when they were popped"),
    Named("invisible_ms", "it", "int64", "milliseconds for which no other pop gets them"),
    Named("revive_time_ms", "reviveTime", "time_ms", "when what is not acked is delivered again"),
    Named("revive_queue_offset", "ro", "int64", "queue offset in the revive topic, set when it is read"),
    Named("broker", "bn", "text", "name of the broker they were popped from"),
    Named("re_put_times", "rp", "text", "how often the checkpoint was written again (since 5.3.1)"),
    Named("suspend", "sp", "flag", "`suspend` of the checkpoint (since 5.5.0)"),
)
"""`d` and `bn` are absent in checkpoints of old clients of a broker: offsets then run on from the first one."""
