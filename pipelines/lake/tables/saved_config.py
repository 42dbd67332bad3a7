"""Tables of a broker's config/: each state of it that an ingest has seen."""

from __future__ import annotations

from typing import get_args

from parsers.config.groups import FILE as GROUPS_FILE
from parsers.config.groups import GROUP_CONFIG_SCHEMA
from parsers.config.offsets import FILES as OFFSET_FILES
from parsers.config.offsets import OFFSET_SCHEMA, OffsetKind
from parsers.config.queue_mappings import FILE as MAPPINGS_FILE
from parsers.config.queue_mappings import QUEUE_MAPPING_SCHEMA
from parsers.config.topics import FILE as TOPICS_FILE
from parsers.config.topics import TOPIC_CONFIG_SCHEMA
from pipelines.lake.tables.raw_table import ORIGIN, SnapshotTable
from pipelines.lake.tables.table import columns, described

SNAPSHOT = ORIGIN + columns("""
written_at time when the broker wrote the file (its modification time): the instant the row holds for
""")

TOPIC_CONFIGS = SnapshotTable(
    "topic_configs",
    "one topic's configuration at one snapshot of config/topics.json",
    described(
        TOPIC_CONFIG_SCHEMA,
        """
topic topic
read_queue_nums queues consumers are given
write_queue_nums queues producers are given
perm bits: 4 read, 2 write, 1 inherit
topic_filter_type SINGLE_TAG or MULTI_TAG
topic_sys_flag system flag
is_ordered ordered by name server configuration
attributes further attributes as JSON, e.g. the queue type; null for versions without them
""",
        leading=SNAPSHOT,
    ),
    main_files=(TOPICS_FILE,),
)

GROUP_CONFIGS = SnapshotTable(
    "group_configs",
    "one consumer group's configuration at one snapshot of config/subscriptionGroup.json",
    described(
        GROUP_CONFIG_SCHEMA,
        """
group consumer group
broker_id broker id the group is told to consume from
consume_enable may it consume
consume_from_min_enable may it start from the minimum offset
consume_broadcast_enable may it consume as broadcasting
retry_queue_nums queues of its retry topic
retry_max_times deliveries before the dead-letter topic
is_ordered consumes in order; null for versions that do not say
settings every stored field as JSON
""",
        leading=SNAPSHOT,
    ),
    main_files=(GROUPS_FILE,),
)

QUEUE_MAPPINGS = SnapshotTable(
    "queue_mappings",
    "one item of a static topic's logical queue at one snapshot of config/topicQueueMapping.json: a queue of one "
    "broker that holds a range of it",
    described(
        QUEUE_MAPPING_SCHEMA,
        """
topic static topic
scope cluster, or a name that clusters share
total_queues logical queues of the topic
broker_name the broker that the file is of, by its own word
epoch when the mapping was made or changed, epoch ms of the tool's clock; the greatest of a topic counts
is_dirty the mapping was not confirmed by all brokers
logic_queue_id queue as clients number it; null, as all that follows, for a topic of which this broker has none
generation place in the chain of items, from 0
item_broker_name broker that holds this range
queue_id its queue
start_queue_offset first message of the range in that queue
end_queue_offset where the range ends there; null: not decided, so it is the one that is written to, or has no message
logic_start_offset first message of the range as clients count; null: not decided yet
logic_end_offset where the range ends as clients count; null where either end is not decided
is_led_here this broker takes the messages of the logical queue now
""",
        leading=SNAPSHOT,
    ),
    main_files=(MAPPINGS_FILE,),
)

OFFSET_SNAPSHOTS = SnapshotTable(
    "offset_snapshots",
    "one stored consumer offset at one snapshot of consumerOffset.json, lmqConsumerOffset.json or their database",
    described(
        OFFSET_SCHEMA,
        """
group consumer group (with @broadcast where the broker keeps a broadcasting group's position)
topic topic
queue_id queue
consumer_offset next message number to consume
kind pull is the next message to pull, lmq of a light topic
""",
        leading=SNAPSHOT,
    ),
    main_files=OFFSET_FILES,
).holding(kind=get_args(OffsetKind))
