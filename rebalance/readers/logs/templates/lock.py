"""What brokers write into lock.log (4.x) or filter.log (5.x) about locks of queues. A renewed lock leaves no line.

Source of the texts: RebalanceLockManager @4.4.0 - 5.3.3.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import Template

_LOCK = "RebalanceLockManager#tryLockBatch: "
_UNLOCK = "RebalanceLockManager#unlockBatch: "


def _lock(name: str, levels: str, versions: str, text: str, yields: str = "QueueLockDecided") -> Template:
    return Template(name, "lock", levels, versions, text, yields)


LOCK_TEMPLATES = (
    _lock(
        "lock_locked",
        "INFO",
        "≤4.9.8",
        "tryLockBatch, message queue not locked, I got it. Group: {group} NewClientId: {client_id} {mq}",
    ),
    _lock(
        "lock_locked",
        "INFO",
        "≥5.0.0",
        _LOCK + "lock a message which has not been locked yet, group={group}, clientId={client_id}, mq={mq}",
    ),
    _lock(
        "lock_taken_over",
        "WARN",
        "≤4.9.8",
        "tryLockBatch, message queue lock expired, I got it. Group: {group} OldClientId: {other_client_id} "
        "NewClientId: {client_id} {mq}",
    ),
    _lock(
        "lock_taken_over",
        "WARN",
        "≥5.0.0",
        _LOCK + "try to lock a expired message queue, group={group}, mq={mq}, old client id={other_client_id}, "
        "new client id={client_id}",
    ),
    _lock(
        "lock_refused",
        "WARN",
        "≤4.9.8",
        "tryLockBatch, message queue locked by other client. Group: {group} OtherClientId: {other_client_id} "
        "NewClientId: {client_id} {mq}",
    ),
    _lock(
        "lock_refused",
        "WARN",
        "≥5.0.0",
        _LOCK + "message queue has been locked by other client, group={group}, mq={mq}, "
        "locked client id={other_client_id}, current client id={client_id}",
    ),
    _lock("lock_unlocked", "INFO", "≤4.9.8", "unlockBatch, Group: {group} {mq} {client_id}"),
    _lock("lock_unlocked", "INFO", "≥5.0.0", _UNLOCK + "unlock mq, group={group}, clientId={client_id}, mqs={mq}"),
    _lock(
        "unlock_of_other",
        "WARN",
        "≤4.9.8",
        "unlockBatch, but mq locked by other client: {other_client_id}, Group: {group} {mq} {client_id}",
    ),
    _lock(
        "unlock_of_other",
        "WARN",
        "≥5.0.0",
        _UNLOCK + "mq locked by other client, group={group}, locked clientId={other_client_id}, "
        "current clientId={client_id}, mqs={mq}",
    ),
    _lock("unlock_of_none", "WARN", "≤4.9.8", "unlockBatch, but mq not locked, Group: {group} {mq} {client_id}"),
    _lock("unlock_of_none", "WARN", "≥5.0.0", _UNLOCK + "mq not locked, group={group}, clientId={client_id}, mq={mq}"),
    _lock("unlock_no_group", "WARN", "≤4.9.8", "unlockBatch, group not exist, Group: {group} {client_id}", ""),
    _lock(
        "unlock_no_group",
        "WARN",
        "≥5.0.0",
        _UNLOCK + "group not exist, group={group}, clientId={client_id}, mqs={text}",
        "",
    ),
)
