"""How long things take between a client and its brokers, and how much time a judgement allows: one table, all in ms.

Each name has its reason, and where it comes from: a class of Java, or `JUDGED`.
`docs/rebalance-timing.md` is printed from here.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from rebalance.model.settings import DEFAULTS


class Why(NamedTuple):
    """The reason for a length of time: one sentence, and its source."""

    reason: str
    source: str


JUDGED = "judged"
"""No source names a bound; the answers for the recorded clusters are right with this one."""
CHOSEN = "chosen"
"""What is shorter is ordinary, and not worth a row."""

# ---- stamps and clocks

STAMP_MS: Annotated[int, Why("a broker's log is stamped to the second", "rmq.broker.logback.xml")] = 1_000
THREADS_MS: Annotated[
    int, Why("threads of one process write their lines in any order; an earlier stamp is no jump back", JUDGED)
] = 1_000
ZONE_STEP_MS: Annotated[int, Why("time zones differ by quarters of an hour", "the tz database")] = 15 * 60_000
ZONE_TOLD_MS: Annotated[
    int, Why("a line that prints an instant is written within this time of it", "RebalancePushImpl#messageQueueChanged")
] = 60_000
CPP_PULL_IDLE_MS: Annotated[
    int,
    Why(
        "a C++ client logs for how much longer than this nothing was pulled",
        "PullRequest::isPullRequestExpired of C++ clients 1.2.5 to 2.2.0",
    ),
] = 120_000
REGISTERS_MS: Annotated[int, Why("a consumer registers with a broker within this time of its start", JUDGED)] = 60_000
CLOCK_APART_MS: Annotated[
    int, Why("clocks are said to differ from here on; networks and garbage collection make up less", JUDGED)
] = 5_000
CLOCK_AGREED_MS: Annotated[
    int, Why("changes agree on how far a clock is apart: a broker's log has seconds", JUDGED)
] = 1_500
CLOCK_CHANGES_MS: Annotated[int, Why("changes that agree on a clock are this far from each other", JUDGED)] = 60_000
SLIP_AGREED_MS: Annotated[
    int, Why("changes of one client agree on the delay between a change and its heartbeat", JUDGED)
] = 500
SANE_CLOCK_MS: Annotated[int, Why("a stamp earlier than the heartbeat before it by more is not used", JUDGED)] = 5_000

# ---- one event recorded twice, or late

LINE_AFTER_REQUEST_MS: Annotated[
    int, Why("between a request on the wire and the line that the broker writes about it", JUDGED)
] = 1_000
SAME_SCAN_MS: Annotated[
    int,
    Why("a scan closes the socket; the line of the close follows", "ClientHousekeepingService#scanExceptionChannel"),
] = 2_000
POLL_ANSWER_MS: Annotated[
    int,
    Why("a polled state is at most this much older than its answer: the timeout", "DefaultMQAdminExt#timeoutMillis"),
] = 5_000
NEARLY_MS: Annotated[int, Why("between a client's start, its registration, and the log lines of both", JUDGED)] = 5_000
BROKER_EVENT_MS: Annotated[int, Why("a broker takes longer to come up, or to go down, once more", JUDGED)] = 2_000

# ---- connections and processes

PAUSE_MS: Annotated[
    int, Why("a living client is heard more often: it heartbeats every 30 s", "ClientConfig#heartbeatBrokerInterval")
] = 35_000
STRAGGLER_MS: Annotated[
    int, Why("requests of a leaving client may be handled this long after its unregister", JUDGED)
] = 1_000
REQUEST_SAMPLE_MS: Annotated[int, Why("after the first requests, one request number is kept for each", CHOSEN)] = 1_000
PORT_REUSE_MS: Annotated[
    int, Why("a connection silent for longer is closed", "NettyServerConfig#serverChannelMaxIdleTimeSeconds")
] = DEFAULTS.server_channel_max_idle_ms
REORDER_MS: Annotated[int, Why("requests of one process may be handled out of order by this much", JUDGED)] = 1_000
RECONNECT_MS: Annotated[
    int, Why("a client leaves its old connection to a broker before, or shortly after, it uses the next one", JUDGED)
] = 1_000
SHUTDOWN_BEFORE_MS: Annotated[
    int, Why("a consumer stops consuming and persists before it asks to leave", "DefaultMQPushConsumerImpl#shutdown")
] = 500
SHUTDOWN_AFTER_MS: Annotated[
    int,
    Why("it clears its table this long after it left, where its log does not say when", "MQClientInstance#shutdown"),
] = 5_000
BROKER_STOPPING_MS: Annotated[int, Why("a broker that goes down closes its connections in this time", JUDGED)] = 30_000

# ---- rounds and commits

ROUND_MS: Annotated[
    int, Why("a round's own requests follow its list answer, each within this of the one before", JUDGED)
] = 3_000
LIST_MS: Annotated[int, Why("a process asks for the member list this often", "RebalanceService#waitInterval")] = (
    DEFAULTS.rebalance_wait_interval_ms
)
LISTLESS_MS: Annotated[
    int, Why("two periods of the rebalance timer, with room for a list that timed out", "RebalanceService#waitInterval")
] = 45_000
SAME_MEMBERS_MS: Annotated[
    int, Why("an ordered queue is retried every round, and forced out in the end", "RebalancePushImpl#unlockDelay")
] = 60_000
PERSIST_MS: Annotated[
    int, Why("a process commits its queues this often", "ClientConfig#persistConsumerOffsetInterval")
] = DEFAULTS.persist_consumer_offset_interval_ms
SETTLED_MS: Annotated[int, Why("three periods of persistAll", "ClientConfig#persistConsumerOffsetInterval")] = (
    3 * PERSIST_MS
)
FIRST_COMMIT_MS: Annotated[
    int, Why("the timer of persistAll begins after this", "MQClientInstance#startScheduledTask")
] = 10_000
JITTER_MS: Annotated[int, Why("what comes at a fixed rate is handled this much early or late", JUDGED)] = 700
LATE_COMMIT_MS: Annotated[
    int,
    Why(
        "a one-way commit may be handled after what was sent later",
        "RemoteBrokerOffsetStore#updateConsumeOffsetToBroker",
    ),
] = 1_000
TOGETHER_MS: Annotated[int, Why("one-way commits of one run may be handled this far apart", JUDGED)] = 1_000
FAREWELL_MS: Annotated[
    int, Why("the commit of a removal may be handled this long after the round's new subVersion", JUDGED)
] = 100
FLUSH_OFFSET_MS: Annotated[
    int, Why("a broker writes committed offsets to its file this often", "BrokerConfig#flushConsumerOffsetInterval")
] = 5_000
SETTLE_MS: Annotated[
    int, Why("a request tells when it was sent or handled; the client's own threads see the change later", JUDGED)
] = 400
SILENT_MS: Annotated[int, Why("the shortest silence taken for a hole of the record", JUDGED)] = 2_000

# ---- what is said of it

LOG_KILLED_MS: Annotated[
    int, Why("a process seen to end so soon after its log's last line was killed: a log writes every 5 s", JUDGED)
] = 6_000
ONE_ROUND_MS: Annotated[
    int, Why("topics of one round follow each other; rounds are 1 s apart", "RebalanceService#minInterval")
] = 900
INCIDENT_TOLD_MS: Annotated[int, Why("between an incident and the record of it", JUDGED)] = 6_000
INCIDENT_LATE_MS: Annotated[int, Why("an incident may be dated this long after what it led to", JUDGED)] = 1_000
ROUND_LATE_MS: Annotated[int, Why("a round may end this long after its timer was due", JUDGED)] = 2_000
RELISTED_MS: Annotated[
    int, Why("a restarted broker hears every client again in two periods", "ClientConfig#heartbeatBrokerInterval")
] = 60_000
OVERLAP_MS: Annotated[
    int, Why("shorter overlaps are an ordinary hand-over: gain and loss are not synchronised", CHOSEN)
] = 1_000
ORPHAN_MS: Annotated[int, Why("shorter times without an owner are an ordinary hand-over", CHOSEN)] = 5_000
LOCK_STALL_MS: Annotated[int, Why("shorter waits for a queue's lock are an ordinary hand-over", CHOSEN)] = 5_000
FLAPPING_MS: Annotated[int, Why("a queue that changes hands so often in this time flaps", CHOSEN)] = 60_000
STEADY_MS: Annotated[int, Why("an owner this long in charge has passed what it was handed", JUDGED)] = 2_000
ASKED_AGAIN_MS: Annotated[
    int, Why("an ordered consumer asks for the offset again at its first pull", "DefaultMQPushConsumerImpl#pullMessage")
] = 5_000
LAST_BREATH_MS: Annotated[int, Why("a consumer that asked to leave may consume this long", JUDGED)] = 250
