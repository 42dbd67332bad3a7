"""Every text of the table is recognised as itself, in every layout, and printed in the documentation."""

from __future__ import annotations

import json
import re

import pytest

from parsers.values.version import Version
from rebalance.readers.logs import TEMPLATES, LogReader
from rebalance.readers.logs.facts import broker, client, cpp, go
from rebalance.readers.logs.facts.offset_lines import _BUILDERS as OF_OFFSETS
from rebalance.readers.logs.templates.beside import BESIDE_MEANINGS, BESIDE_TEMPLATES
from rebalance.readers.logs.templates.document import page
from rebalance.readers.logs.templates.go import GO_TEMPLATES
from rebalance.readers.logs.templates.store import STORE_MEANINGS
from rebalance.readers.logs.templates.table import UNREADABLE
from rebalance.readers.logs.templates.template import Template, templates
from tests.support.fixtures import CHECKOUT
from tests.support.log_versions import version_range

OF_FACTS = broker._BUILDERS | client._BUILDERS | go._BUILDERS | cpp._BUILDERS
MQ = "MessageQueue [topic=%RETRY%g, brokerName=broker-a, queueId=3]"
CHANNEL = (
    "ClientChannelInfo [channel=[id: 0x1a, L:/10.0.0.9:10911 - R:/10.0.0.1:51234], clientId=10.0.0.1@7#8, "
    "language=JAVA, version=479, lastUpdateTimestamp=1700000000123]"
)
SUBSCRIPTION = (
    "SubscriptionData [classFilterMode=false, topic=T, subString=a || b, tagsSet=[a, b], codeSet=[97, 98], "
    "subVersion=1700000000000, expressionType=TAG]"
)
EXAMPLES = {
    "mq": MQ,
    "mqs": f"[{MQ}, {MQ}]",
    "other_mqs": "[]",
    "client_ids": "[10.0.0.1@7 10.0.0.2@8]",
    "channel_info": CHANNEL,
    "other_channel_info": CHANNEL,
    "subscription": SUBSCRIPTION,
    "other_subscription": SUBSCRIPTION,
    "consumer_data": (
        "ConsumerData [groupName=g, consumeType=CONSUME_PASSIVELY, messageModel=CLUSTERING, "
        f"consumeFromWhere=CONSUME_FROM_LAST_OFFSET, unitMode=false, subscriptionDataSet=[{SUBSCRIPTION}]]"
    ),
    "heartbeat_data": "[clientID=c, producerDataSet=[], consumerDataSet=[]]",
    "topic_config": "TopicConfig [topicName=T, readQueueNums=8, writeQueueNums=8, perm=RW-, order=false]",
    "other_topic_config": "TopicConfig [topicName=T, readQueueNums=4, writeQueueNums=4, perm=RW-, order=false]",
    "pull_request": f"PullRequest [consumerGroup=g, messageQueue={MQ}, nextOffset=9]",
    "route": "TopicRouteData [queueDatas=[QueueData [brokerName=b, readQueueNums=4, writeQueueNums=4, perm=6]]]",
    "other_route": "null",
    "text": "some text - with a dash",
    "more": ".",
    "channel": "10.0.0.1:51234",
    "producer": "null",
    "broker_name": "broker-a",
    "queue": "T:3",
    "queue_of_group": "3@T@g",
    "topic_at_group": "T@g",
    "span": "Minute",
    "pool": "Lite Pull",
    "grpc_queue": "broker-a.Resource{name=T, namespace=n}.3",
}
LAYOUTS = [
    "2026-11-21 23:07:12 INFO HeartbeatThread_1 - {}\n",
    "2026-11-21 15:07:12,345 INFO RocketmqClient - {}\r\n",
    "2026-11-21 23:07:12.345 INFO  [24731] [RebalanceService] [o.a.r.c.i.c.RebalanceImpl#?:?] - {}\n",
]


def example(template: Template) -> tuple[str, tuple[str, ...]]:
    """A message of that text, and its fields."""
    numbers = {name: "7" for name in template.field_names if name.endswith(("_size", "_version", "_offset", "_id"))}
    fields = {name: EXAMPLES.get(name, numbers.get(name, "10")) for name in template.field_names}
    return template.text.format(**fields), tuple(fields[name] for name in template.field_names)


def logrus_text(template: Template) -> str:
    """A line of the Go client with that text: fields after the message, in quotes where logrus puts them."""
    message, *pairs = re.split(r" (?=[A-Za-z()]+=\{)", template.text)
    values = dict(zip(template.field_names, example(template)[1], strict=True))
    shown = [(name, value.format(**values)) for name, value in (pair.split("=", 1) for pair in pairs)]
    rest = " ".join(f"{name}={json.dumps(value)}" for name, value in shown)
    return (
        f'time="2026-11-21T23:07:12+08:00" level=info msg={json.dumps(message.format(**values))} {rest}'.rstrip() + "\n"
    )


def test_every_text_of_the_go_client_is_recognised_as_itself() -> None:
    for template in GO_TEMPLATES:
        (event,) = LogReader().events([logrus_text(template).encode()])
        assert (event.template.name, event.fields) == (template.name, example(template)[1])
        assert (event.at_ms, event.late_ms, event.head) == (1_795_273_632_000, 999, ("INFO",))


def test_a_text_is_declared_in_lines_below_its_head() -> None:
    assert templates(
        "lock", "\na | INFO | all\n    one\n    text {mq}\nb | WARN | ≥5.0.0 | Fact\n    {x} of  it\n"
    ) == (
        Template("a", "lock", "INFO", "all", "one text {mq}"),
        Template("b", "lock", "WARN", "≥5.0.0", "{x} of  it", "Fact"),
    )
    with pytest.raises(TypeError):
        templates("lock", "a | INFO | all | Fact | more\n    text")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_text_is_recognised_as_itself(layout: str) -> None:
    for template in TEMPLATES:
        message, fields = example(template)
        events = list(LogReader().events([layout.format(message).encode()]))
        assert [(event.template.name, event.fields) for event in events] == [(template.name, fields)], message


def test_every_text_of_a_store_log_is_explained() -> None:
    assert {template.name for template in TEMPLATES if template.log == "store"} == STORE_MEANINGS.keys()


def test_every_text_of_the_logs_beside_it_is_explained() -> None:
    assert {template.name for template in BESIDE_TEMPLATES} == BESIDE_MEANINGS.keys()


def test_a_name_has_one_set_of_fields() -> None:
    shapes: dict[str, set[frozenset[str]]] = {}
    for template in TEMPLATES:
        if template.yields:
            shapes.setdefault(template.name, set()).add(frozenset(template.field_names))
    different = {name for name, fields in shapes.items() if len(fields) > 1}
    assert different <= {"strategy_failed", "producer_channel_expired", "topic_created", "flow_control"}


def test_a_text_is_said_to_yield_what_is_made_of_it() -> None:
    """Of a text that says nothing by itself the table tells whose beginning or name it is."""
    told = {template.name: template.yields for template in TEMPLATES}
    assert {name for name, yields in told.items() if "OffsetLine" in yields} == OF_OFFSETS.keys()
    assert {name for name, yields in told.items() if yields} == (OF_FACTS | OF_OFFSETS).keys()


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ("all", (Version(4, 0, 0), Version(5, 5, 1))),
        ("≤4.9.8", (Version(4, 0, 0), Version(4, 9, 8))),
        ("≥5.0.0", (Version(5, 0, 0), Version(5, 5, 1))),
        ("5.0.0–5.3.1", (Version(5, 0, 0), Version(5, 3, 1))),
    ],
)
def test_version_ranges(versions: str, expected: tuple[Version, Version]) -> None:
    assert version_range(Template("name", "broker", "INFO", versions, "text", "")) == expected


def test_every_range_is_readable() -> None:
    assert all(since <= until for since, until in map(version_range, TEMPLATES))


def test_a_cut_line_is_reported_not_dropped() -> None:
    reader = LogReader()
    (event,) = reader.events([b"2026-11-21 23:07:12 INFO t - new consumer connected, group: g CONSUME_PASS\n"])
    assert event.template is UNREADABLE
    assert event.fields == ("consumer_connected",)
    assert reader.summary.unreadable == 1


def test_the_documentation_is_printed_from_the_table() -> None:
    assert (CHECKOUT / "docs" / "log-templates.md").read_text(encoding="utf-8") == page()
