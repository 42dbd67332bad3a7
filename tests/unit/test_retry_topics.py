"""Whose a retry topic is, by its name: each form of push consumers and of POP, and names that could be either."""

from __future__ import annotations

import pytest

from parsers.values.topics import RetryTopic, pop_retry_topics, retry_topic_of

TOPICS = {"Orders", "Late_Orders", "T"}
GROUPS = {"CG", "CG_Late"}


@pytest.mark.parametrize(
    ("name", "is_pushed", "groups", "expected"),
    [
        ("%RETRY%CG", False, (), RetryTopic("CG")),
        ("%RETRY%CG_Orders", False, (), RetryTopic("CG", "Orders")),
        ("%RETRY%CG_Orders", True, (), RetryTopic("CG_Orders")),
        ("%RETRY%CG_Orders", False, {"CG_Orders"}, RetryTopic("CG_Orders")),
        ("%RETRY%CG_Late_Orders", False, (), RetryTopic("CG", "Late_Orders")),
        ("%RETRY%CG_Late_Orders", False, {"CG_Late"}, RetryTopic("CG_Late", "Orders")),
        ("%RETRY%CG_Late_Orders", False, GROUPS, RetryTopic("CG", "Late_Orders")),
        ("%RETRY%CG_New_Orders", False, {"CG"}, RetryTopic("CG_New", "Orders")),
        ("%RETRY%CG_Late_Gone", False, GROUPS, RetryTopic("CG_Late", "Gone")),
        ("%RETRY%CG_Late+Gone", False, (), RetryTopic("CG_Late", "Gone")),
        ("%RETRY%A_B", False, (), RetryTopic("A_B")),
        ("%RETRY%_T", False, (), RetryTopic("_T")),
        ("%DLQ%CG_Orders", False, (), RetryTopic("CG_Orders")),
    ],
)
def test_the_group_is_told_by_name(name: str, is_pushed: bool, groups: set[str], expected: RetryTopic) -> None:
    assert retry_topic_of(name, is_pushed=is_pushed, topics=TOPICS, groups=groups) == expected


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_what_a_broker_names_is_taken_apart_again(topic: str) -> None:
    for name in pop_retry_topics("CG_9", topic):
        assert retry_topic_of(name, topics=TOPICS, groups={"CG_9"}) == RetryTopic("CG_9", topic)
