"""How long things take between a client and its brokers, as far as a judgement rests on it (ms)."""

from __future__ import annotations

from rebalance.model.settings import DEFAULTS

PERSIST_MS = DEFAULTS.persist_consumer_offset_interval_ms
SETTLED_MS = 3 * PERSIST_MS  # three periods of persistAll
LATE_COMMIT_MS = 1_000  # a one-way commit may be handled after its queue was removed, or after a heartbeat sent later
TOGETHER_MS = 1_000  # one-way commits of one run may be handled this far apart
ROUND_MS = 3_000  # a round's own requests follow its list answer, each within this of the one before
