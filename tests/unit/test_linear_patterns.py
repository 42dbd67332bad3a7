"""No line of a log, however it was made, takes time that grows faster than its length.

Each pattern is fed the lines that its own structure makes worst: a beginning that fits, and a stretch of the rest over
and over, so that each repetition looks like the place where a match goes on, and none is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from time import process_time
from typing import Any

import pytest

from pipelines.recordings.recordings import BOOTED
from rebalance.model import message_queue
from rebalance.model.message_queue import MessageQueue
from rebalance.readers.logs import TEMPLATES
from rebalance.readers.logs.lines import logrus, texts
from rebalance.strategies import registry

SMALL, LARGE = 8 << 10, 64 << 10
QUICK_S = 300e-9
"""CPU seconds a character that are quick enough whatever the ratio."""
NOISE = 16
"""No disturbance makes a quick line look so many times slower: what does is measured once."""
HOPELESS_S = 50e-6
Match = Callable[[str], object]
NONE: list[str] = []

READERS: dict[str, tuple[re.Pattern[str], Match]] = {
    "queues": (texts._QUEUES, texts.queues),
    "pull_request": (texts._PULL_REQUEST, texts.pull_request),
    "remote": (texts._REMOTE, texts.channel_info),
    "channel_info": (texts._CHANNEL_INFO, texts.channel_info),
    "subscriptions": (texts._SUBSCRIPTION, texts.subscriptions),
    "consumer_data": (texts._CONSUMER_DATA, texts.consumer_data),
    "route": (texts._QUEUE_DATA, lambda text: texts.route("T", text)),
    "static_topic": (texts._STATIC_TOPIC, lambda text: texts.route("T", text)),
    "topic_config": (texts._TOPIC_CONFIG, texts.topic_config),
    "settings": (texts._SETTING, texts.settings),
    "message_queue": (message_queue._MESSAGE_QUEUE_TEXT, MessageQueue.parse),
    "booted": (re.compile(BOOTED.pattern.decode()), lambda text: BOOTED.search(text.encode())),
    "resolver": (registry._TEXT_BEFORE_FIRST, registry._TEXT_BEFORE_FIRST.fullmatch),
}


def test_no_pattern_is_forgotten() -> None:
    found = {
        id(kept) for module in (texts, message_queue, registry) for kept in vars(module).values() if is_pattern(kept)
    }
    assert found <= {id(pattern) for pattern, _ in READERS.values()}


def is_pattern(value: object) -> bool:
    return isinstance(value, re.Pattern)


@pytest.mark.parametrize("name", READERS)
def test_a_text_inside_a_line_takes_linear_time(name: str) -> None:
    pattern, match = READERS[name]
    for tokens in samples(pattern.pattern):
        require_linear(tokens, match)


@pytest.mark.parametrize("log", sorted({template.log for template in TEMPLATES}))
def test_a_line_takes_linear_time(log: str) -> None:
    for template in TEMPLATES:
        if template.log == log:
            for tokens in samples(template.pattern.pattern):
                require_linear(tokens, template.fields_of)


@pytest.mark.parametrize("pattern", [logrus._HEAD, logrus._PAIR, logrus._ESCAPE])
def test_a_logrus_line_takes_linear_time(pattern: re.Pattern[Any]) -> None:
    text = pattern.pattern.decode() if isinstance(pattern.pattern, bytes) else pattern.pattern
    for tokens in samples(text):
        for around in (
            "{}",
            'time="2026-11-23T05:56:03+09:00" level=info msg={}',
            'time="2026-11-23T05:56:03Z" level=info msg=a {}',
        ):
            require_linear(tokens, lambda line, around=around: logrus.logrus_line(around.format(line).encode()))


def test_a_square_is_seen() -> None:
    slow = re.compile(r"R:[^/\]]*/?([^\]\s]+)\]")
    (tokens,) = samples(slow.pattern)
    with pytest.raises(AssertionError, match="grows"):
        require_linear(tokens, slow.search, sizes=(SMALL // 4, LARGE // 4))


def require_linear(tokens: list[str], match: Match, sizes: tuple[int, int] = (SMALL, LARGE)) -> None:
    for begin, unit in worst(tokens):
        short, long = (line(begin, unit, size) for size in sizes)
        assert cost(match, short[: len(short) // 4]) < HOPELESS_S, f"{begin!r} + {unit!r} grows"
        large = cost(match, long)
        if large < QUICK_S:
            continue
        small = min(cost(match, short) for _ in range(3))
        if large < NOISE * QUICK_S:
            large = min(large, *(cost(match, long) for _ in range(2)))
        assert large < max(QUICK_S, 3 * small), f"{begin!r} + {unit!r} grows: {small} s a character, then {large}"


def worst(tokens: list[str]) -> Iterator[tuple[str, str]]:
    """What fits up to a place, and what is repeated from there."""
    for place in range(len(tokens)):
        begin = "".join(tokens[:place])
        for end in range(place + 1, min(len(tokens), place + 4) + 1):
            yield begin, "".join(tokens[place:end])
        yield "", "".join(tokens[: place + 1])


def line(begin: str, unit: str, size: int) -> str:
    return begin + unit * (size // len(unit))


def cost(match: Match, text: str) -> float:
    """CPU seconds a character; what readers remember of a text is not asked twice."""
    texts.queue.cache_clear()
    began = process_time()
    match(text)
    return (process_time() - began) / len(text)


def samples(pattern: str) -> list[list[str]]:
    """Texts that a pattern fits, the shortest of each branch, as runs of fixed text and single characters."""
    return [joined(tokens) for tokens in _samples(_parser.parse(pattern, re.DOTALL))]


def joined(tokens: list[tuple[bool, str]]) -> list[str]:
    made: list[str] = []
    was_fixed = False
    for fixed, text in tokens:
        if fixed and was_fixed:
            made[-1] += text
        elif text:
            made.append(text)
        was_fixed = fixed
    return made


def _samples(parsed: Any) -> list[list[tuple[bool, str]]]:
    found: list[list[tuple[bool, str]]] = [[]]
    for kind, given in parsed:
        name = str(kind)
        if name == "LITERAL":
            ways = [[(True, chr(given))]]
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            ways = [once * max(1, min(given[0], 2)) for once in _samples(given[2])]
        elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
            ways = _samples(given[3] if name == "SUBPATTERN" else given)
        elif name == "BRANCH":
            ways = [way for branch in given[1] for way in _samples(branch)]
        elif name in ("ANY", "NOT_LITERAL", "IN"):
            ways = [[(False, _character(given if name == "IN" else NONE))]]
        else:
            ways = [[]]
        found = [[*before, *way] for before in found for way in ways]
    return found


def _character(choices: Any) -> str:
    """One that a class of characters has."""
    for kind, given in choices:
        if kind is _constants.NEGATE:
            return "a"
        if kind is _constants.LITERAL:
            return chr(given)
        if kind is _constants.RANGE:
            return chr(given[0])
        if kind is _constants.CATEGORY:
            return "1" if "DIGIT" in str(given) and "NOT" not in str(given) else "a"
    return "a"
