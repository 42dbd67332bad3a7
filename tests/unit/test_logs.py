"""Heads, zones, stack traces, client names: what a log says beside its texts."""

from __future__ import annotations

import pytest

from rebalance.facts import (
    ChannelClosed,
    ChannelConnected,
    ClientFact,
    ConsumerStarted,
    ConsumerStarting,
    Fact,
    LogBegins,
    LogEnds,
    OffsetPersisted,
    QueueAdded,
    QueueRemoved,
    RouteSeen,
    SubscriptionChanged,
    SubscriptionVersionBumped,
    TopicQueues,
    UnreadRecord,
)
from rebalance.facts.clock_offset import ClockOffset
from rebalance.model.message_queue import MessageQueue
from rebalance.readers.logs import LogReader, LogSummary, facts_from_log
from rebalance.readers.logs.lines.texts import channel_info

NOON_MS = 1795262400000  # 2026-11-21T12:00:00Z
MQ = MessageQueue("T", "b", 1)
HOUR_MS = 3_600_000


def read(*lines: str, **options: object) -> list[Fact]:
    found = facts_from_log((line.encode() for line in lines), source="s", file="f", **options)  # type: ignore[arg-type]
    return [fact for fact in found if not isinstance(fact, LogBegins | LogEnds)]


@pytest.mark.parametrize(
    ("head", "zone_ms", "expected"),
    [
        ("2026-11-21 20:00:00 INFO main", None, (NOON_MS, 0, 999)),
        ("2026-11-21 20:00:00.250 INFO  [7] [main] [x#?:?]", None, (NOON_MS + 250, 0, 0)),
        ("2026-11-21 12:00:00,250 INFO RocketmqClient", 0, (NOON_MS + 250, 0, 0)),
        ("2026-11-21 17:30:00,250 INFO RocketmqClient", 11 * HOUR_MS // 2, (NOON_MS + 250, 0, 0)),
        ("2026-11-21 12:00:07,007 INFO RocketmqClient", 0, (NOON_MS + 7000, 0, 999)),  # seconds again, or 7 ms: unknown
        ("2026-11-21 12:00:00,250 INFO RocketmqClient", None, (NOON_MS + 250, 14 * HOUR_MS, 12 * HOUR_MS)),
        ("2026-11-21 12:00:07.007 [main] INFO RocketmqClient", 0, (NOON_MS + 7007, 0, 0)),
        ("2026-11-21 12:00:00.250 [main] INFO RocketmqClient", None, (NOON_MS + 250, 14 * HOUR_MS, 12 * HOUR_MS)),
    ],
)
def test_instants_of_the_layouts(head: str, zone_ms: int | None, expected: tuple[int, int, int]) -> None:
    (fact,) = read(f"{head} - doRebalance, g, add a new mq, {MQ}\n", jvm_zone_ms=zone_ms)
    assert (fact.at_ms, fact.early_ms, fact.late_ms) == expected


def test_millis_count_once_they_are_proven() -> None:
    line = "2026-11-21 12:00:0{},00{} INFO RocketmqClient - doRebalance, g, add a new mq, " + str(MQ)
    first, second, third = read(line.format(7, 7), line.format(8, 1), line.format(9, 9), jvm_zone_ms=0)
    assert (first.late_ms, second.late_ms, third.late_ms) == (999, 0, 0)
    assert third.at_ms == NOON_MS + 9_009


def test_the_zone_is_found_from_a_line_that_prints_its_own_instant() -> None:
    added = (
        b"2026-11-21 17:30:0%d,301 INFO RocketmqClient - doRebalance, g, add a new mq, " + str(MQ).encode() + b"\r\n"
    )
    lines = [
        added % 0,
        b"2026-11-21 17:30:00,302 INFO RocketmqClient - T Rebalance changed, also update version: 1, 1795262400299\r\n",
        added % 1,
    ]
    summaries: list[LogSummary] = []
    facts = list(facts_from_log(lines, source="s", on_end=summaries.append))
    instants = [(fact.at_ms, fact.early_ms, fact.late_ms) for fact in facts if isinstance(fact, QueueAdded)]
    assert instants == [(NOON_MS + 301, 0, 0), (NOON_MS + 1301, 0, 0)]
    assert (summaries[0].jvm_zone_ms, summaries[0].zone_given) == (11 * HOUR_MS // 2, False)


def test_stack_traces_belong_to_the_entry_above() -> None:
    reader = LogReader()
    lines = [
        b"\tat java.lang.Thread.run(Thread.java:840)\n",  # the file starts in the middle of an entry
        b"2026-11-21 20:00:00 WARN main - something new\n",
        b"java.lang.IllegalStateException: text\r\n",
        b"\tat a.b.C - d(C.java:1)\r\n",
        b"2026-11-21 20:00:00 WARN main - something new again\n",
        b"2026-99-21 20:00:00 WARN main - no such month\n",
    ]
    assert list(reader.events(lines)) == []
    summary = reader.summary
    assert (summary.lines, summary.headless, summary.unrecognised, summary.continued) == (6, 1, 2, 3)
    assert summary.samples == {b"something new\n": (1, 2), b"something new ag": (1, 5)}


def start_of(client_id: str, second: str) -> list[str]:
    head = f"2026-11-21 20:00:{second}.000 INFO  [7] [main] [x] - "
    return [
        head + "the consumer [g] start beginning. messageModel=CLUSTERING, isUnitMode=false",
        head + f"Created a new client Instance, InstanceIndex:0, ClientID:{client_id}, ClientConfig:x",
        head + f"Created new MQClientInstance for clientId:[{client_id}]",
    ]


def test_facts_wait_for_the_name_of_their_client() -> None:
    facts = read(
        *start_of("c@7", "00"),
        "2026-11-21 20:00:00.003 INFO  [7] [main] [x] - the consumer [g] start OK.",
        f"2026-11-21 20:00:00.004 INFO  [7] [main] [x] - doRebalance, g, add a new mq, {MQ}",
        *start_of("c@8", "01"),
        f"2026-11-21 20:00:01.004 INFO  [8] [main] [x] - doRebalance, g, add a new mq, {MQ}",
    )
    told = [(type(f), f.client_id, f.process) for f in facts if isinstance(f, ClientFact)]
    assert told == [
        (ConsumerStarting, "c@7", 1),
        (ConsumerStarted, "c@7", 1),
        (QueueAdded, "c@7", 1),
        (ConsumerStarting, "c@8", 2),
        (QueueAdded, "c@8", 2),
    ]


def test_a_log_that_starts_in_the_middle_names_its_client_late_or_never() -> None:
    added = f"2026-11-21 20:00:00.004 INFO  [7] [main] [x] - doRebalance, g, add a new mq, {MQ}"
    named = (
        "2026-11-21 20:00:00.005 INFO  [7] [main] [x] - "
        f"[persistAll] Group: g ClientId: c@7 updateConsumeOffsetToBroker {MQ} 5"
    )
    never = read(added)
    assert [fact.client_id for fact in never if isinstance(fact, ClientFact)] == [None]
    late = read(added, named)
    assert [(type(f), f.client_id) for f in late if isinstance(f, ClientFact)] == [
        (QueueAdded, "c@7"),
        (OffsetPersisted, "c@7"),
    ]


def test_two_consumers_of_one_group_in_one_jvm_are_not_guessed_apart() -> None:
    commit = "2026-11-21 20:00:0{}.000 INFO  [7] [t] [x] - [persistAll] "
    commit += "Group: g ClientId: {} updateConsumeOffsetToBroker {} 5"
    facts = read(
        commit.format(0, "a@7#1", MQ),
        commit.format(1, "b@7#2", MQ),
        f"2026-11-21 20:00:02.004 INFO  [7] [t] [x] - doRebalance, g, remove unnecessary mq, {MQ}",
    )
    assert [fact.client_id for fact in facts if isinstance(fact, QueueRemoved)] == [None]


def test_a_version_bump_belongs_to_the_group_of_the_result_before_it() -> None:
    facts = read(
        "2026-11-21 20:00:00.000 INFO  [7] [t] [x] - client rebalanced result changed. "
        "allocateMessageQueueStrategyName=AVG, "
        f"group=g, topic=T, clientId=c, mqAllSize=8, cidAllSize=2, rebalanceResultSize=1, rebalanceResultSet=[{MQ}]",
        "2026-11-21 20:00:00.001 INFO  [7] [t] [x] - T Rebalance changed, also update version: 1, 2",
    )
    assert [fact.group for fact in facts if isinstance(fact, SubscriptionVersionBumped)] == ["g"]


def test_a_join_is_narrowed_by_the_instant_it_prints() -> None:
    (fact,) = read(
        "2026-11-21 20:00:00 INFO t - new consumer connected, group: g CONSUME_PASSIVELY CLUSTERING channel: "
        "ClientChannelInfo [channel=[id: 0x1, L:/10.0.0.9:10911 - R:/10.0.0.1:51234], clientId=c, language=JAVA, "
        f"version=479, lastUpdateTimestamp={NOON_MS + 300}]",
        clock_ahead=ClockOffset(100, 150),
    )
    assert isinstance(fact, ChannelConnected)
    assert (fact.remote, fact.client_id, fact.client_version) == ("10.0.0.1:51234", "c", 479)
    assert (fact.at_ms, fact.early_ms, fact.late_ms) == (NOON_MS + 200, 50, 699)
    assert fact.last_heartbeat_ms == NOON_MS + 200


@pytest.mark.parametrize(("scanned", "cause"), [("10.0.0.1:51234", "expired"), ("10.0.0.1:51235", None)])
def test_a_close_that_follows_a_scan_is_an_expiry(scanned: str, cause: str | None) -> None:
    facts = read(
        f"2026-11-21 20:00:00 WARN t - ProducerManager#scanNotActiveChannel: remove expired channel[{scanned}] "
        "from ProducerManager groupChannelTable, producer group name: CLIENT_INNER_PRODUCER",
        "2026-11-21 20:00:01 WARN t - NETTY EVENT: remove not active channel[ClientChannelInfo [channel=[id: 0x1, "
        "L:/10.0.0.9:10911 ! R:/10.0.0.1:51234], clientId=c, language=JAVA, version=479, "
        "lastUpdateTimestamp=1795262280000]] from ConsumerGroupInfo groupChannelTable, consumer group: g",
    )
    assert [(type(fact), getattr(fact, "cause", 0)) for fact in facts] == [(ChannelClosed, cause)]


def test_routes() -> None:
    head = "2026-11-21 20:00:00.000 INFO  [7] [t] [x] - the topic[T] route info changed, old[null] ,new["
    queue_data = "QueueData [brokerName={}, readQueueNums={}, writeQueueNums=4, perm={}, topicSysFlag=0]"
    plain = "TopicRouteData [orderTopicConf=null, queueDatas=[" + ", ".join(
        queue_data.format(*row) for row in [("b", 8, 6), ("a", 4, 2)]
    )
    facts = read(
        head + plain + "], topicQueueMappingInfoTable=null]]", head + plain + "], topicQueueMappingByBroker={b=x}]]"
    )
    assert [fact.queues for fact in facts if isinstance(fact, RouteSeen)] == [
        (TopicQueues("T", "a", 0), TopicQueues("T", "b", 8))
    ]


def test_a_damaged_line_is_an_unread_record_with_its_place() -> None:
    (fact,) = read("2026-11-21 20:00:00 INFO t - unregister a consumer[g] from consumerGroupInfo ClientCh")
    assert isinstance(fact, UnreadRecord)
    assert (fact.reason, str(fact.evidence)) == ("starts like consumer_unregistered, and is cut or damaged", "f:1")


def test_a_replaced_subscription_is_the_new_one() -> None:
    text = "SubscriptionData [classFilterMode=false, topic=T, subString={}, tagsSet=[], codeSet=[], subVersion={}, "
    text += "expressionType=TAG]"
    line = f"2026-11-21 20:00:00 INFO t - subscription changed, group: g OLD: {text} NEW: {text}"
    (fact,) = read(line.format("a", 1, "b", 2))
    assert isinstance(fact, SubscriptionChanged)
    assert (fact.change, fact.topic, fact.expression, fact.sub_version) == ("replace", "T", "b", 2)


def test_an_entry_names_its_group_client_level_and_thread() -> None:
    lines = [
        "2026-11-21 20:00:00 INFO HeartbeatThread_1 - new consumer connected, group: g CONSUME_PASSIVELY CLUSTERING "
        "channel: ClientChannelInfo [channel=x, clientId=c@1, language=JAVA, version=479, lastUpdateTimestamp=1]\n",
        "2026-11-21 20:00:00.004 WARN  [7] [main] [x#?:?] - unlock messageQueue. group:g, clientId:c, mq:" + str(MQ),
        "2026-11-21 20:00:00,004 INFO RocketmqClient - consumer was nothing at all",
        "2026-11-21 20:00:00,004 INFO RocketmqClient - the pull request[PullRequest [x]] is dropped.",
    ]
    events = list(LogReader(jvm_zone_ms=0).events(lines))
    told = [(event.group, event.client_id, event.head) for event in events]
    assert told == [
        ("g", "c@1", ("INFO", "HeartbeatThread_1")),
        ("g", "c", ("WARN", "7", "main", "x#?:?")),
        (None, None, ("INFO", "RocketmqClient")),
    ]


@pytest.mark.parametrize(
    ("text", "remote"),
    [
        ("R:/10.0.0.1:51234]", "10.0.0.1:51234"),
        ("R:host.name/10.0.0.1:51234]", "10.0.0.1:51234"),
        ("R:/[fe80:0:0:0:0:0:0:1%eth0]:51234]", "[fe80:0:0:0:0:0:0:1]:51234"),
        ("R:/0:0:0:0:0:0:0:1:51234]", "[0:0:0:0:0:0:0:1]:51234"),
        ("L:/10.0.0.9:10911]", None),
    ],
)
def test_addresses_inside_connections(text: str, remote: str | None) -> None:
    info = (
        f"ClientChannelInfo [channel=[id: 0x1, {text}, clientId=c, language=JAVA, version=479, lastUpdateTimestamp=1]"
    )
    assert channel_info(info) == (remote, "c", 479, 1)
    assert channel_info("GrpcClientChannel{remoteAddress=/10.0.0.1:5, x}").remote == "10.0.0.1:5"


def commits(*ends: str) -> list[str]:
    head = (
        "2026-11-21 20:00:00,004 INFO RocketmqClient - [persistAll] Group: g ClientId: c updateConsumeOffsetToBroker "
    )
    return [f"{head}{end}" for end in ends]


def test_a_commit_that_differs_in_its_offset_only_is_read_as_any_other() -> None:
    ends = [
        f"{MQ} 17",
        f"{MQ} 18\n",
        f"{MQ} 18 \n",
        f"{MQ} -1",
        f"{MQ} x",
        f"{MQ} {'9' * 18}",
        f"{MQ} {'9' * 19}",
        str(MQ),
    ]
    ends += [f"{MQ} 17 18", f"{MQ} 17  ", f"{MQ} 17  19", f"{MQ} 18 20", f"{MQ} ", f"{MQ} 20\r\n"]
    lines = commits(*ends, *ends)
    together = list(LogReader(jvm_zone_ms=0).events(lines))
    each = [event for line in lines for event in LogReader(jvm_zone_ms=0).events([line])]
    assert [(event.template.name, event.fields) for event in together] == [
        (event.template.name, event.fields) for event in each
    ]
    read_offsets = [event.fields[-1] for event in together if event.template.name == "offset_persisted"]
    assert read_offsets == ["17", "18", "18", "-1", "9" * 18, "17", "20"] * 2


def test_a_pull_consumer_starts_where_it_is_up() -> None:
    """DefaultLitePullConsumerImpl#start writes one line; the second run was killed and came back with its client id."""
    up = "2026-11-21 20:00:0{}.003 INFO  [7] [main] [x] - the consumer [g] start OK"
    runs = [line for second in (0, 1) for line in (*start_of("c@L", f"0{second}")[1:], up.format(second))]
    told = [(type(f), f.client_id, f.process) for f in read(*runs) if isinstance(f, ClientFact)]
    assert told == [(kind, "c@L", run) for run in (1, 2) for kind in (ConsumerStarting, ConsumerStarted)]


def test_lines_of_two_groups_that_start_together_wait_for_their_names() -> None:
    head = "2026-11-21 20:00:00.000 INFO  [7] [main] [x] - "
    begins = [
        head + f"the consumer [{group}] start beginning. messageModel=CLUSTERING, isUnitMode=false" for group in "gh"
    ]
    made = start_of("c@1", "01")[1:] + [line.replace("Index:0", "Index:1") for line in start_of("c@2", "01")[1:]]
    added = [head + f"doRebalance, {group}, add a new mq, {MQ}" for group in "gh"]
    named = [head + f"[persistAll] Group: {group} ClientId: c@{n} updateConsumeOffsetToBroker {MQ} 5" for n, group in
             ((2, "g"), (1, "h"))]  # fmt: skip
    told = {(f.group, f.client_id) for f in read(*begins, *made, *added, *named) if isinstance(f, QueueAdded)}
    assert told == {("g", "c@2"), ("h", "c@1")}
