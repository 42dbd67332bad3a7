"""Texts of the oldest brokers, whose later releases say the same in other words."""

from __future__ import annotations

from pathlib import Path

from pipelines.answers.offsets.corrections import BELOW_MINIMUM
from pipelines.answers.offsets.events import offset_events
from pipelines.recordings.listening import hear
from pipelines.recordings.recordings import find_recordings
from pipelines.recordings.topic_log import LifeLines
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
