"""What `--where` says of a condition that is none: words about the condition, not about the statement around it."""

from __future__ import annotations

import pytest

from pipelines.selection.selector import WrongCondition
from pipelines.selection.where import Where
from tests.support.cli import call
from tests.support.fixtures import CHECKOUT, unpacked

STORE = unpacked(CHECKOUT / "demo" / "5.3.3-clean" / "store.tar.gz") / "store"


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("topik = 'a'", "no column topik; there is topic"),
        ('topic = "abc"', "Text stands between single quotes: 'abc'"),
        ("topic =", "it ends too early"),
        ("(topic = 'a'", "it ends too early"),
        ("topic = 'a' AND", "it ends too early"),
        ("topic = 'a' queue_id", "it cannot be read from 'queue_id' on"),
        ("queue_id IN (SELECT 1 FROM others)", "it asks for others, but each message is judged alone"),
        ("others.queue_id = 1", "it asks for others, but each message is judged alone"),
        ("row_number() OVER () > 1", "a window function sees other messages"),
        ("lengt(topic) > 1", "no function lengt"),
        ("topic + 1 > 2", "+ does not go with values of these types: VARCHAR, INTEGER"),
        ("count(*) > 1", "for each message, and not for all of them together"),
    ],
)
def test_a_wrong_condition_is_named_in_plain_words(condition: str, words: str) -> None:
    with pytest.raises(WrongCondition) as refused:
        Where.of(condition)
    assert words in str(refused.value)
    assert "Error:" not in str(refused.value)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("queue_id = 'a'", "--where: 'a' is compared with a number and is none"),
        ("topic", "--where: it has to be true or false for each message"),
        ("store_timestamp > 'yesterday evening'", "--where: 'yesterday evening' is no time"),
    ],
)
def test_a_value_that_does_not_fit_is_named(condition: str, words: str) -> None:
    called = call("dump", "commitlog", STORE, "--where", condition)
    assert called.code == 2
    assert words in called.err
