"""One log text of RocketMQ, declared as Java writes it: recognised and documented from here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from rebalance.readers.logs.templates.chain import Chain

START_SIZE = 8
"""A template is looked up by its first bytes: this many of them are fixed text, unless it is anchored elsewhere."""

_WORD = r"\S{1,512}"
_MQ = r"MessageQueue \[.+, queueId=-?\d+\]"
_DECIMAL = r"-?[0-9]{1,18}(?:[.,][0-9]{1,2})?|NaN|-?Infinity"
_PATTERN_OF_FIELD = {
    "mq": _MQ,
    "mqs": r"\[.*\]",
    "other_mqs": r"\[.*\]",
    "client_ids": r"\[.*\]",
    "channel_info": r"ClientChannelInfo \[.+\]",
    "other_channel_info": r"ClientChannelInfo \[.+\]",
    "subscription": r"SubscriptionData \[.+\]",
    "other_subscription": r"SubscriptionData \[.+\]",
    "consumer_data": r"ConsumerData \[.+\]",
    "heartbeat_data": r"\[.+\]",
    "topic_config": r"TopicConfig \[.+\]",
    "other_topic_config": r"TopicConfig \[.+\]",
    "pull_request": r"P(?:ull|op)Request \[.+\]",
    "route": r".*",
    "other_route": r".*",
    "text": r".*",
    "queue": r"\S{1,512}:-?[0-9]{1,10}",
    "queue_of_group": r"-?[0-9]{1,10}@[^\s@]{1,512}@[^\s@]{1,512}",
    "span": r"Minute|Hour|Day|5 Minutes",
    "pool": r"(?:Lite )?[A-Za-z]{1,32}",
    "per_second": _DECIMAL,
    "average": _DECIMAL,
    "grpc_queue": r"\S{1,512}(?: namespace=\S{1,512})?",
    "channel": r".+",
    "more": r".*",
    "producer": r"\S{0,512}",
    "broker_name": r".{0,512}?",
}
OFFSET_DIGITS = 18
_NUMBERS = (
    "queue_id",
    "requested",
    "stored",
    "old_version",
    "new_version",
    "queue_offset",
    "timestamp_ms",
    "expired_ms",
    "mq_all_size",
    "cid_all_size",
    "sum",
    "times",
    "waited_ms",
)
_NARROW = {"producer", "broker_name", "grpc_queue", "queue_of_group", "span", "pool", "per_second", "average"}
_WIDE = frozenset(_PATTERN_OF_FIELD) - _NARROW
_PATTERN_OF_FIELD |= dict.fromkeys(_NUMBERS, rf"-?[0-9]{{1,{OFFSET_DIGITS}}}")
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Template:
    """A line's text with `{field}` where Java has `{}`; a field's name says what it may hold (default: no white space).
    White space at its end is left out.

    `versions`: `all`, `≤4.9.8`, `≥5.0.0` or `4.9.0–4.9.8`. `levels` as Java logs it. `log`: broker, lock, store,
    client, stats, watermark, transaction, protection, proxy, go, cpp or grpc.
    """

    name: str
    log: str
    levels: str
    versions: str
    text: str
    yields: str = ""

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        """Names of the fields, in the order of the text."""
        return tuple(_FIELD.findall(self.text))

    def fields_of(self, message: str) -> tuple[str, ...] | None:
        """The fields of a whole message without trailing white space; None if it is not this text."""
        if self.wide_fields > 1:
            return self._chain.fields_of(message)
        found = self.pattern.fullmatch(message)
        return found.groups() if found else None

    @cached_property
    def _chain(self) -> Chain:
        parts = _FIELD.split(self.text)
        return Chain(_pattern(part) if number % 2 else re.escape(part) for number, part in enumerate(parts))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches a whole message without trailing white space; one group per field."""
        texts = []
        for number, part in enumerate(_FIELD.split(self.text)):
            is_field = number % 2 == 1
            texts.append(f"({_pattern(part)})" if is_field else re.escape(part))
        return re.compile("".join(texts), re.DOTALL)

    @cached_property
    def ends_with_offset(self) -> bool:
        """Whether the text ends with a queue offset, after a space."""
        return self.text.endswith(" {queue_offset}")

    @cached_property
    def wide_fields(self) -> int:
        """How many fields may hold white space and any length."""
        return sum(name in _WIDE for name in self.field_names)

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """The fixed parts of the text, the first of them being what a line starts with."""
        return tuple(_FIELD.split(self.text)[::2])


def templates(log: str, text: str) -> tuple[Template, ...]:
    """Templates of one log, in the form they are declared in: a line `name | levels | versions | yields`, of which the
    last is left out where there is none; below it, indented, the text. A new line in the text stands for a space."""
    found = []
    for declared in re.split(r"\n(?=\S)", text.strip()):
        head, *lines = declared.splitlines()
        name, levels, versions, *yields = head.split(" | ")
        found.append(Template(name, log, levels, versions, " ".join(map(str.strip, lines)), *yields))
    return tuple(found)


def _pattern(field_name: str) -> str:
    return _PATTERN_OF_FIELD.get(field_name, _WORD)
