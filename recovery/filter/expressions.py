"""What an SQL92 filter is made of, and the value of each part for one message. Null stays null, as in SQL.

Source: org.apache.rocketmq.filter.expression @4.1.0; parts of texts @5.1.3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recovery.filter.values import EvaluationError, Value, compare, double, is_number, negated

Properties = Mapping[str, str]


class Expression(ABC):
    """A part of a filter."""

    __slots__ = ()

    @property
    def is_boolean(self) -> bool:
        """It is a BooleanExpression of Java: it can stand where a condition has to."""
        return True

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The parts that it asks, one that it asks twice twice."""
        return ()

    @abstractmethod
    def evaluate(self, properties: Properties) -> Value:
        """Its value for a message with these properties.

        Raises:
            EvaluationError: where Java throws.
        """


@dataclass(frozen=True, slots=True)
class _OfOne(Expression):
    """What looks at one part."""

    of: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.of,)


@dataclass(frozen=True, slots=True)
class _OfTwo(Expression):
    """What looks at two parts."""

    left: Expression
    right: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """A literal. ConstantExpression, BooleanConstantExpression."""

    value: Value

    @property
    def is_boolean(self) -> bool:
        """TRUE, FALSE and NULL are."""
        return self.value is None or isinstance(self.value, bool)

    def evaluate(self, properties: Properties) -> Value:
        """The literal, for every message."""
        return self.value


@dataclass(frozen=True, slots=True)
class Property(Expression):
    """A property of the message by its name, null where the message has none. PropertyExpression."""

    name: str

    @property
    def is_boolean(self) -> bool:
        return False

    def evaluate(self, properties: Properties) -> Value:
        """Its text."""
        return properties.get(self.name)


@dataclass(frozen=True, slots=True)
class PropertyCondition(Expression):
    """A property in place of a condition: a text is never TRUE. UnaryExpression#createBooleanCast."""

    name: str

    def evaluate(self, properties: Properties) -> Value:
        """Null without the property, else FALSE."""
        return False if self.name in properties else None


@dataclass(frozen=True, slots=True)
class Negation(_OfOne):
    """The minus sign. UnaryExpression#createNegate."""

    @property
    def is_boolean(self) -> bool:
        return False

    def evaluate(self, properties: Properties) -> Value:
        """The number with the other sign; null for what is no number, as the text of a property."""
        value = self.of.evaluate(properties)
        return negated(value) if is_number(value) else None  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Not(_OfOne):
    """UnaryExpression#createNOT."""

    def evaluate(self, properties: Properties) -> Value:
        """The other truth; null stays null."""
        value = self.of.evaluate(properties)
        return None if value is None else not value


@dataclass(frozen=True, slots=True)
class Junction(Expression):
    """Conditions joined by OR (`decided` is True) or by AND (False). LogicExpression."""

    conditions: tuple[Expression, ...]
    decided: bool

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The conditions."""
        return self.conditions

    def evaluate(self, properties: Properties) -> Value:
        """The first condition that decides ends it, later ones are not asked; else null if one is null."""
        unknown = False
        for condition in self.conditions:
            value = condition.evaluate(properties)
            if value is self.decided:
                return self.decided
            unknown = unknown or value is None
        return None if unknown else not self.decided


@dataclass(frozen=True, slots=True)
class Equality(_OfTwo):
    """ComparisonExpression#doCreateEqual: also IS NULL, against the constant null."""

    def evaluate(self, properties: Properties) -> Value:
        """Two nulls are equal; null on the left is null, null on the right is FALSE."""
        left, right = self.left.evaluate(properties), self.right.evaluate(properties)
        if left is None:
            return True if right is None else None
        return False if right is None else compare(left, right) == 0


@dataclass(frozen=True, slots=True)
class Order(_OfTwo):
    """`<`, `<=`, `>`, `>=`; `holds` is asked with the sign of the comparison. ComparisonExpression#evaluate."""

    holds: Callable[[int], bool]

    def evaluate(self, properties: Properties) -> Value:
        """Null if a side is null; two texts are compared as Doubles."""
        left = self.left.evaluate(properties)
        right = None if left is None else self.right.evaluate(properties)
        if left is None or right is None:
            return None
        if isinstance(left, str) and isinstance(right, str):
            left, right = double(left), double(right)
        return self.holds(compare(left, right))


@dataclass(frozen=True, slots=True)
class Among(Expression):
    """IN and NOT IN, of a property only. UnaryExpression#createInExpression."""

    name: str
    texts: frozenset[str]
    negated: bool

    def evaluate(self, properties: Properties) -> Value:
        """Null without the property."""
        value = properties.get(self.name)
        return None if value is None else (value in self.texts) != self.negated


@dataclass(frozen=True, slots=True)
class PartOfText(_OfOne):
    """CONTAINS, STARTSWITH, ENDSWITH and their NOT. ComparisonExpression.ContainsExpression and its siblings @5.1.3."""

    sought: str
    is_part: Callable[[str, str], bool]
    negated: bool

    def evaluate(self, properties: Properties) -> Value:
        """FALSE, with NOT too, where nothing is sought or the value is null or no text."""
        if not self.sought:
            return False
        value = self.of.evaluate(properties)
        return isinstance(value, str) and self.is_part(value, self.sought) != self.negated


def asked_properties(expression: Expression) -> frozenset[str]:
    """The names of all properties that the expression looks at."""
    names, left = set(), [expression]
    while left:
        part = left.pop()
        left.extend(part.parts)
        if isinstance(part, Property | PropertyCondition | Among):
            names.add(part.name)
    return frozenset(names)


def delivers(expression: Expression, properties: Properties) -> bool:
    """A broker hands out a message with these properties: TRUE alone does; null and an exception do not.

    Source: ExpressionMessageFilter#isMatchedByCommitLog @4.1.0.
    """
    try:
        return expression.evaluate(properties) is True
    except EvaluationError:
        return False
