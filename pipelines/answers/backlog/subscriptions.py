"""What groups subscribe to: filters that the broker keeps, and what the user says of tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from parsers.config.groups import ConsumerFilter, read_filters
from parsers.damage.errors import DamageSink
from parsers.store.store import Store
from parsers.values.topics import RETRY_PREFIX
from parsers.values.utc import utc
from pipelines.answers.backlog.subscriptions_heard import HeardSubscription
from recovery.filter.errors import FilterTooLarge, InvalidFilter
from recovery.filter.expressions import Expression
from recovery.filter.sql92 import parse_sql92
from recovery.filter.tags import ALL, tag_codes
from recovery.rules.versions import BrokerVersion

SQL92 = "SQL92"
NOT_KNOWN = (
    "its subscription is not known: no file of a broker has tags; say them with --tags, or name its log or a capture "
    "with --logs"
)
NOT_PARSED = "brokers of this version cannot parse the filter, and filter nothing"
MAY_BE_TAGS = "the filter that the broker keeps: no file tells whether the group went over to tags; --tags overrides it"
DIFFERENT = "its members subscribe differently: the broker goes by the newest subVersion, and {} was sent as well"
REFUSED = "brokers of this version refuse the filter that was sent, and what they hand out is not known"
KEPT_FILE = "config/consumerFilter.json"
SAID = "said"
DEAD = "a filter of a group that left at {}: it may subscribe otherwise since; --tags or --sql92 overrides it"


@dataclass(frozen=True, slots=True)
class Subscription:
    """One group's subscription to one topic.

    Attributes:
        text: as the client gave it; None where it is not known.
        codes: hash codes of tags that match; None: tags do not decide.
        expression: the SQL92 filter; None: none decides.
        reason: why it is not known, or what is odd about it.
        is_known: whether it is known which messages match.
        source: what says so.
    """

    text: str | None
    codes: frozenset[int] | None = None
    expression: Expression | None = None
    reason: str | None = None
    is_known: bool = True
    source: str | None = None


UNKNOWN = Subscription(None, reason=NOT_KNOWN, is_known=False)


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """The subscription of every group to every topic: what the user said, else what recordings show, else what the
    broker keeps."""

    kept: Mapping[tuple[str, str], Subscription]
    said: Subscription | None = None
    heard: Mapping[tuple[str, str], Subscription] = field(default_factory=dict)

    def of(self, group: str, topic: str) -> Subscription:
        """A group takes all of its own retry topic. DefaultMQPushConsumerImpl#copySubscription @4.1.0."""
        if topic == RETRY_PREFIX + group:
            return Subscription(ALL)
        return self.said or self.heard.get((group, topic)) or self.kept.get((group, topic), UNKNOWN)


def subscriptions_of(store: Store, version: BrokerVersion, damage: DamageSink) -> Subscriptions:
    """The SQL92 filters that the broker keeps for its groups, connected or not."""
    filters = read_filters(store.config, damage=damage)
    return Subscriptions(
        {
            (kept.group, kept.topic): _kept_subscription(kept, kept.expression, version)
            for kept in filters
            if kept.expression is not None and kept.expression_type == SQL92
        }
    )


def _kept_subscription(kept: ConsumerFilter, text: str, version: BrokerVersion) -> Subscription:
    """A group's tags replace no filter that is kept, which dies when the group leaves.

    Source: ConsumerFilterManager#register, ConsumerFilterData#isDead @5.3.3.
    """
    is_dead = kept.dead_time is not None and kept.dead_time > 0 and kept.dead_time >= (kept.born_time or 0)
    doubt = DEAD.format(utc(kept.dead_time)) if is_dead and kept.dead_time is not None else MAY_BE_TAGS
    try:
        found = sql_subscription(text, version)
    except InvalidFilter as wrong:
        found = Subscription(text, reason=f"{NOT_PARSED}: {wrong}")
    return replace(found, reason="; ".join(filter(None, (found.reason, doubt))), source=KEPT_FILE)


def tag_subscription(text: str) -> Subscription:
    """`TagA || TagB`, or `*`."""
    return Subscription(text, codes=tag_codes(text), source=SAID)


def sql_subscription(text: str, version: BrokerVersion) -> Subscription:
    """An SQL92 filter.

    Raises:
        InvalidFilter: it does not parse. One that a broker keeps filters nothing then
            (ExpressionMessageFilter#isMatchedByCommitLog @4.1.0); a new one is refused.
    """
    try:
        return Subscription(text, expression=parse_sql92(text, version), source=SAID)
    except FilterTooLarge as wrong:
        return Subscription(text, reason=str(wrong), is_known=False, source=SAID)


def heard_subscriptions(
    heard: Mapping[tuple[str, str], HeardSubscription], version: BrokerVersion
) -> dict[tuple[str, str], Subscription]:
    """What recordings tell, by group and topic."""
    return {key: _heard(each, version) for key, each in heard.items()}


def _heard(heard: HeardSubscription, version: BrokerVersion) -> Subscription:
    said = heard.said
    try:
        is_sql = said.expression_type == SQL92
        found = sql_subscription(said.expression, version) if is_sql else tag_subscription(said.expression)
    except InvalidFilter as wrong:
        found = Subscription(said.expression, reason=f"{REFUSED}: {wrong}", is_known=False)
    different = DIFFERENT.format(", ".join(map(repr, heard.others))) if heard.others else None
    return replace(found, reason="; ".join(filter(None, (found.reason, different))) or None, source=said.evidence)
