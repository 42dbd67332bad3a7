"""Texts of the oldest brokers and clients, whose later releases say the same in other words."""

from __future__ import annotations

from pathlib import Path

from pipelines.answers.offsets.corrections import BELOW_MINIMUM
from pipelines.answers.offsets.events import offset_events
from pipelines.recordings.listening import hear
from pipelines.recordings.recordings import facts_of, find_recordings
from pipelines.recordings.topic_log import LifeLines
from rebalance.facts import RebalanceResultChanged
from rebalance.facts.fact import LogBegins, LogEnds
from tests.support.recorded import offset_record


def test_what_old_brokers_write_tells_the_same_facts(tmp_path: Path) -> None:
    """Of 3.2.6 and 4.0.0."""
    said = (
        "create new topic, TopicConfig [topicName=T, readQueueNums=4, writeQueueNums=4, perm=RW-, "
        "topicFilterType=SINGLE_TAG, topicSysFlag=0, order=false]",
        "Delete topic config OK, topic:TopicConfig [topicName=T, readQueueNums=4, writeQueueNums=4, perm=RW-, "
        "topicFilterType=SINGLE_TAG, topicSysFlag=0, order=false]",
        "ungister consumer ok, no any connection, and remove consumer group, g",
        "The request offset is too small. group=g, topic=T, requestOffset=3, brokerMinOffset=9, clientIp=10.0.0.7:4000",
        "PULL_OFFSET_MOVED:correction offset. topic=T, groupId=g, requestOffset=3, newOffset=9, suggestBrokerId=0",
    )
    log = tmp_path / "broker.log"
    log.write_text("".join(f"2026-11-21 03:12:0{second} INFO x - {text}\n" for second, text in enumerate(said)))
    record, lives = offset_record(log), LifeLines()
    hear(find_recordings([log]), [lives], [].append)
    assert [(life.happening.value, life.name) for life in lives.of_broker(None)] == [("created", "T"), ("deleted", "T")]
    assert len(record.presence["g"].nobody_ms) == 1
    [moved] = offset_events(record, [])
    assert (moved.before, moved.after, moved.by, moved.cause) == (3, 9, "10.0.0.7:4000", BELOW_MINIMUM)


def test_what_consumers_of_3_x_write_tells_the_same_facts(tmp_path: Path) -> None:
    """The line of a route was called damaged, for it has `odl` where later clients have `old`."""
    queue = "MessageQueue [topic=T, brokerName=b-1, queueId=2]"
    route = "TopicRouteData [orderTopicConf=null, queueDatas=[QueueData [brokerName=b-1, readQueueNums=4, perm=6]]]"
    said = (
        "created a new client Instance, FactoryIndex: 0 ClinetID: 10.0.0.9@7 ClientConfig [namesrvAddr=n:9876]",
        f"the topic[T] route info changed, odl[null] ,new[{route}]",
        "rebalanced result changed. allocateMessageQueueStrategyName=AVG, group=g, topic=T, ConsumerId=10.0.0.9@7, "
        f"rebalanceSize=1, rebalanceMqSet=[{queue}]",
        f"Group: g ClientId: 10.0.0.9@7 updateConsumeOffsetToBroker {queue} 87",
        f"remove unnecessary messageQueue offset. mq={queue}, offsetTableSize=0",
    )
    log, problems = tmp_path / "rocketmq_client.log", list[str]()
    log.write_text("".join(f"2016-03-06 18:41:0{n},438 INFO RocketmqClient - {text}\n" for n, text in enumerate(said)))
    told = [fact for one in find_recordings([log]) for fact in facts_of(one, problems.append)]
    assert problems == []
    kinds = [type(fact).__name__ for fact in told if not isinstance(fact, LogBegins | LogEnds)]
    assert kinds == ["RouteSeen", "RebalanceResultChanged", "OffsetPersisted"]
    [result] = [fact for fact in told if isinstance(fact, RebalanceResultChanged)]
    assert (result.client_id, [queue.queue_id for queue in result.target]) == ("10.0.0.9@7", [2])
