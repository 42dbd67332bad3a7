"""The tables that follow from others, in the order in which pages list them."""

from __future__ import annotations

from pipelines.lake.tables.fates import DELAYED_MESSAGES, POPPED_MESSAGES, RETRY_CHAINS, TRACE_EVENTS, TRANSACTIONS
from pipelines.lake.tables.judgements import (
    CONSISTENCY_FINDINGS,
    LOSS_LEDGER,
    RECOVERY_FORECAST,
    REPLICA_DIFFERENCES,
    RETENTION_RISK,
    TIERED_QUEUES,
)
from pipelines.lake.tables.lag import BACKLOG, GROUP_STARTS, LAG, LAG_EPISODES, LAG_HISTORY, OFFSET_EVENTS
from pipelines.lake.tables.lives import GROUP_LIVES, LIFE_EVENTS, TOPIC_LIVES

DERIVED_TABLES = (
    LAG,
    LAG_HISTORY,
    LAG_EPISODES,
    CONSISTENCY_FINDINGS,
    RECOVERY_FORECAST,
    RETENTION_RISK,
    LOSS_LEDGER,
    BACKLOG,
    GROUP_STARTS,
    OFFSET_EVENTS,
    DELAYED_MESSAGES,
    RETRY_CHAINS,
    TRANSACTIONS,
    POPPED_MESSAGES,
    TRACE_EVENTS,
    TIERED_QUEUES,
    REPLICA_DIFFERENCES,
    TOPIC_LIVES,
    LIFE_EVENTS,
    GROUP_LIVES,
)
