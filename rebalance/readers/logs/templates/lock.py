"""What brokers write into lock.log (4.x) or filter.log (5.x) about locks of queues. A renewed lock leaves no line.

Source of the texts: RebalanceLockManager @4.4.0 - 5.3.3.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import templates

LOCK_TEMPLATES = templates(
    "lock",
    """
lock_locked | INFO | ≤4.9.8 | QueueLockDecided
    tryLockBatch, message queue not locked, I got it. Group: {group} NewClientId: {client_id} {mq}
lock_locked | INFO | ≥5.0.0 | QueueLockDecided
    RebalanceLockManager#tryLockBatch: lock a message which has not been locked yet, group={group},
    clientId={client_id}, mq={mq}
lock_taken_over | WARN | ≤4.9.8 | QueueLockDecided
    tryLockBatch, message queue lock expired, I got it. Group: {group} OldClientId: {other_client_id} NewClientId:
    {client_id} {mq}
lock_taken_over | WARN | ≥5.0.0 | QueueLockDecided
    RebalanceLockManager#tryLockBatch: try to lock a expired message queue, group={group}, mq={mq}, old client
    id={other_client_id}, new client id={client_id}
lock_refused | WARN | ≤4.9.8 | QueueLockDecided
    tryLockBatch, message queue locked by other client. Group: {group} OtherClientId: {other_client_id} NewClientId:
    {client_id} {mq}
lock_refused | WARN | ≥5.0.0 | QueueLockDecided
    RebalanceLockManager#tryLockBatch: message queue has been locked by other client, group={group}, mq={mq}, locked
    client id={other_client_id}, current client id={client_id}
lock_unlocked | INFO | ≤4.9.8 | QueueLockDecided
    unlockBatch, Group: {group} {mq} {client_id}
lock_unlocked | INFO | ≥5.0.0 | QueueLockDecided
    RebalanceLockManager#unlockBatch: unlock mq, group={group}, clientId={client_id}, mqs={mq}
unlock_of_other | WARN | ≤4.9.8 | QueueLockDecided
    unlockBatch, but mq locked by other client: {other_client_id}, Group: {group} {mq} {client_id}
unlock_of_other | WARN | ≥5.0.0 | QueueLockDecided
    RebalanceLockManager#unlockBatch: mq locked by other client, group={group}, locked clientId={other_client_id},
    current clientId={client_id}, mqs={mq}
unlock_of_none | WARN | ≤4.9.8 | QueueLockDecided
    unlockBatch, but mq not locked, Group: {group} {mq} {client_id}
unlock_of_none | WARN | ≥5.0.0 | QueueLockDecided
    RebalanceLockManager#unlockBatch: mq not locked, group={group}, clientId={client_id}, mq={mq}
unlock_no_group | WARN | ≤4.9.8
    unlockBatch, group not exist, Group: {group} {client_id}
unlock_no_group | WARN | ≥5.0.0
    RebalanceLockManager#unlockBatch: group not exist, group={group}, clientId={client_id}, mqs={text}
""",
)
