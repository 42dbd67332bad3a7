"""What brokers write into transaction.log and protection.log and proxies into proxy.log, and what it means.

Source of the texts: EndTransactionProcessor, TransactionalMessageServiceImpl, DefaultTransactionalMessageCheckListener,
AbstractTransactionalMessageCheckListener, BrokerController#protectBroker @4.3.0 - 5.3.3; ProxyClientRemotingProcessor
@5.0.0 - 5.3.3.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import templates

BESIDE_TEMPLATES = (
    *templates(
        "transaction",
        """
transaction_asked_about | INFO | ≥5.1.0
    Check transaction. real_topic={topic},uniqKey={unique_id},offset={queue_offset},commitLogOffset={physical_offset}
transaction_nobody_to_ask | WARN | ≥4.3.0
    Check transaction failed, channel is null. groupId={group}
transaction_still_open | WARN | ≥4.3.0
    Check producer[{remote}] transaction state, but it's pending status.RequestHeader: {text} Remark: {more}
transaction_committed_late | WARN | ≥4.3.0
    Check producer[{remote}] transaction state, the producer commit the message.RequestHeader: {text} Remark: {more}
transaction_rolled_back_late | WARN | ≥4.3.0
    Check producer[{remote}] transaction state, the producer rollback the message.RequestHeader: {text} Remark: {more}
transaction_left_open | WARN | ≥4.3.0
    The producer[{remote}] end transaction in sending message,  and it's pending status.RequestHeader: {text} Remark:
    {more}
transaction_rolled_back | WARN | ≥4.3.0
    The producer[{remote}] end transaction in sending message, rollback the message.RequestHeader: {text} Remark: {more}
transaction_end_refused | WARN | ≥5.1.1
    Message commit fail [producer end]. currentTimeMillis - bornTime > checkImmunityTime,
    msgId={unique_id},commitLogOffset={physical_offset}, wait check
transaction_end_refused | WARN | ≥5.1.1
    Message rollback fail [producer end]. currentTimeMillis - bornTime > checkImmunityTime,
    msgId={unique_id},commitLogOffset={physical_offset}, wait check
transaction_given_up | INFO | ≥4.5.1
    Put checked-too-many-time half message to TRANS_CHECK_MAXTIME_TOPIC OK. Restored in queueOffset={queue_offset},
    commitLogOffset={physical_offset}, real topic={topic}
transaction_thrown_away | ERROR | 4.3.0–4.4.0
    MsgExt:{text} has been checked too many times, so discard it
transaction_expired | INFO | ≥4.3.0
    Half message exceed file reserved time ,so skip it.messageId {message_id},bornTime {timestamp_ms}
transaction_not_on_slave | WARN | ≥4.3.0
    Message store is slave mode, so end transaction is forbidden.
""",
    ),
    *templates(
        "protection",
        """
group_stopped_as_too_slow | INFO | all
    [PROTECT_BROKER] the consumer[{group}] consume slowly, {size} bytes, disable it
""",
    ),
    *templates(
        "proxy",
        """
transaction_nobody_at_proxy | WARN | ≥5.0.0
    check transaction failed, channel is empty. groupId={group}, requestHeader:{text}
""",
    ),
)
_GIVEN_UP_AFTER = "after transactionCheckMax checks (15) the broker gives it up"
BESIDE_MEANINGS = {
    "transaction_asked_about": "the broker asks a producer about a half message that nobody committed or rolled back; "
    "`transactions --messages` tells of each how often, and what became of it",
    "transaction_nobody_to_ask": "no producer of the group was connected, so nobody could be asked; the check counts "
    f"all the same, and {_GIVEN_UP_AFTER}. Of messages sent through a proxy the group is the name of their topic",
    "transaction_nobody_at_proxy": "no producer of the topic was connected to this proxy, so nobody could be asked; "
    f"the check counts all the same, and {_GIVEN_UP_AFTER}",
    "transaction_still_open": f"a producer that was asked did not know: the half message stays, and {_GIVEN_UP_AFTER}",
    "transaction_committed_late": "a producer that was asked committed: what it decided when it sent did not arrive, "
    "or was not known then",
    "transaction_rolled_back_late": "a producer that was asked rolled back: its message is never delivered",
    "transaction_left_open": "the producer did not know yet when it sent: the broker asks it later",
    "transaction_rolled_back": "the producer rolled back when it sent: its message is never delivered",
    "transaction_end_refused": "a commit or rollback came after CHECK_IMMUNITY_TIME_IN_SECONDS of its message and was "
    "not taken: the broker asks the producer instead",
    "transaction_given_up": "a half message was checked too often and lies in TRANS_CHECK_MAX_TIME_TOPIC now: it is "
    "neither committed nor rolled back, and nobody got it; `transactions --messages` tells which",
    "transaction_thrown_away": "a half message was checked too often and is checked no more: it is neither committed "
    "nor rolled back, and nobody got it; it is in the log until that expires",
    "transaction_expired": "a half message is older than fileReservedTime and is checked no more: it is neither "
    "committed nor rolled back, and goes with its log file",
    "transaction_not_on_slave": "a commit or rollback reached a slave, which takes none: the half message stays open "
    "on the master, which asks the producer later",
    "group_stopped_as_too_slow": "with disableConsumeIfConsumerReadSlowly the broker set consumeEnable of the group to "
    "false, as its last read lay further behind the end of the log than consumerFallbehindThreshold: the group gets no "
    "message from this broker until somebody sets it to true again (`mqadmin updateSubGroup -s true` with all its "
    "other settings: it sets those that are not given to their defaults)",
}
BESIDE_WRONG = frozenset(
    {
        "transaction_nobody_to_ask",
        "transaction_nobody_at_proxy",
        "transaction_end_refused",
        "transaction_given_up",
        "transaction_thrown_away",
        "transaction_expired",
        "transaction_not_on_slave",
        "group_stopped_as_too_slow",
    }
)
"""Those of something wrong. Levels do not tell: a rollback is a warning, a message that was given up none."""
