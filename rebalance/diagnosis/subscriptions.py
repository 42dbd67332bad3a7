"""Members of one group that subscribe to different topics, or to different tags of one.

A broker keeps one subscription of a group for each topic, the last one that a heartbeat brought, and filters for every
member by it: what the others alone ask for is passed over, and committed past. Of a topic to which only some subscribe
the others are given queues by AVG and its kin, and pull nothing from them.
Source: ConsumerGroupInfo#updateSubscription, PullMessageProcessor#processRequest @4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from parsers.values.topics import RETRY_PREFIX
from rebalance.facts import Evidence
from rebalance.model.span import Span, merged
from rebalance.model.timing import OVERLAP_MS
from rebalance.ownership.history import GroupHistory
from rebalance.processes.life import Life

MOST_NAMED = 3
"""Clients of one subscription that a row names."""
NOT_SUBSCRIBED = "not subscribed"


class Unequal(NamedTuple):
    """Members with unlike subscriptions to a topic that were there at once; `told`: who had which."""

    topic: str
    span: Span
    clients: Sequence[str]
    told: str
    evidence: Evidence


def unequal_subscriptions(history: GroupHistory) -> Iterator[Unequal]:
    """Each topic and span in which members had unlike subscriptions to it."""
    by_topic = [(life, _expressions(life)) for life in history.lives if life.process.subscriptions is not None]
    if all(expressions == by_topic[0][1] for _, expressions in by_topic):
        return
    for topic in sorted({topic for _, expressions in by_topic for topic in expressions}):
        lives: dict[str, list[Life]] = {}
        for life, expressions in by_topic:
            lives.setdefault(expressions.get(topic, NOT_SUBSCRIBED), []).append(life)
        spans = merged([span for one in lives for span in _together(lives, one)])
        for span in spans:
            if span[1] - span[0] < OVERLAP_MS:
                continue
            there = {name: [life for life in of if _overlaps(_span(life), span)] for name, of in lives.items()}
            told = "; ".join(f"{name}: {_named(of)}" for name, of in sorted(there.items()) if of)
            everybody = [life for of in there.values() for life in of]
            last = max(everybody, key=lambda life: (life.process.first_ms, life.client_id))
            clients = sorted({life.client_id for life in everybody})
            yield Unequal(topic, span, clients, told, last.process.first_evidence)


def _expressions(life: Life) -> dict[str, str]:
    """Topic -> what of it is subscribed: tags in one order, however a client writes them."""
    told = (each for each in life.process.subscriptions or () if not each.topic.startswith(RETRY_PREFIX))
    return {each.topic: _expression(each.expression, each.expression_type) for each in told}


def _expression(expression: str | None, kind: str | None) -> str:
    if kind not in (None, "", "TAG"):
        return f"{kind} {expression}"
    return "||".join(sorted({tag.strip() for tag in (expression or "*").split("||")}))


def _together(lives: dict[str, list[Life]], one: str) -> Iterator[Span]:
    """When members of a subscription were there beside one of another."""
    own = merged(map(_span, lives[one]))
    others = merged(_span(life) for other, of in lives.items() if other != one for life in of)
    position = 0
    for begin, end in own:
        while position < len(others) and others[position][1] <= begin:
            position += 1
        for other in others[position:]:
            if other[0] >= end:
                break
            yield max(begin, other[0]), min(end, other[1])


def _span(life: Life) -> Span:
    return life.process.first_ms, life.end.earliest_ms


def _overlaps(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _named(lives: Sequence[Life]) -> str:
    ids = sorted({life.client_id for life in lives})
    more = len(ids) - MOST_NAMED
    return ", ".join(ids[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
