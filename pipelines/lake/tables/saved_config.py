"""Tables of a broker's config/: each state of it that an ingest has seen."""

from __future__ import annotations

from typing import get_args

from parsers.config.groups import FILE as GROUPS_FILE
from parsers.config.groups import GROUP_CONFIG_SCHEMA
from parsers.config.offsets import FILES as OFFSET_FILES
from parsers.config.offsets import OFFSET_SCHEMA, OffsetKind
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
