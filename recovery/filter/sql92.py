"""From the text of an SQL92 filter to the expression that a broker evaluates."""

from __future__ import annotations

from collections.abc import Callable
from operator import contains, ge, gt, le, lt

from recovery.filter.errors import FilterTooLarge, InvalidFilter
from recovery.filter.expressions import (
    Among,
    Constant,
    Equality,
    Expression,
    Junction,
    Negation,
    Not,
    Order,
    PartOfText,
    Property,
    PropertyCondition,
)
from recovery.filter.tokens import KEYWORDS, TEXT_KEYWORDS, Tokens
from recovery.filter.values import (
    DOUBLE_MIN_VALUE,
    EvaluationError,
    Integer,
    Long,
    Value,
    compare,
    double,
    is_number,
    whole,
)
from recovery.rules.versions import BrokerVersion

DEEPEST = 64
"""Parts inside parts that are read. A condition of a real group has a handful; AND and OR side by side count once."""

MOST_PARTS = 50_000
"""Parts that one message may have to be asked about; BETWEEN asks its value twice, whatever that is made of."""

_ORDERS: dict[str, Callable[[int, int], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}
_PARTS: dict[str, Callable[[str, str], bool]] = {
    "CONTAINS": contains,
    "STARTSWITH": str.startswith,
    "ENDSWITH": str.endswith,
}


def parse_sql92(text: str, version: BrokerVersion) -> Expression:
    """The filter as brokers of this version read it.

    Raises:
        InvalidFilter: a broker refuses it.
        FilterTooLarge: it nests deeper than `DEEPEST`, or has more than `MOST_PARTS`.
    Source: SelectorParser.jj#JmsSelector @4.1.0: the text may go on after the condition.
    """
    keywords = KEYWORDS | TEXT_KEYWORDS if version.filters_by_parts_of_texts else KEYWORDS
    expression = _condition(_Parser(Tokens(text, keywords)).alternatives())
    _check_size(expression)
    return expression


def _check_size(expression: Expression) -> None:
    level, depth, parts = [expression], 0, 0
    while level:
        depth, parts = depth + 1, parts + len(level)
        if depth > DEEPEST or parts > MOST_PARTS:
            raise FilterTooLarge(f"the filter nests deeper than {DEEPEST}, or has more than {MOST_PARTS} parts")
        level = [part for outer in level for part in outer.parts]


class _Parser:
    """Recursive descent over the grammar of SelectorParser.jj, a method for each of its rules."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.depth = 0

    def alternatives(self) -> Expression:
        """orExpression."""
        return self._junction("OR", self._conjunction, decided=True)

    def _conjunction(self) -> Expression:
        return self._junction("AND", self._equality, decided=False)

    def _junction(self, word: str, part: Callable[[], Expression], *, decided: bool) -> Expression:
        parts = [part()]
        while self.tokens.take_if(word):
            parts[-1] = _condition(parts[-1])
            parts.append(part())
        return parts[0] if len(parts) == 1 else Junction((*parts[:-1], _condition(parts[-1])), decided)

    def _equality(self) -> Expression:
        left = self._comparison()
        while self.tokens.next.kind in ("=", "<>", "IS"):
            left = self._equal_to(left, self.tokens.take().kind)
        return left

    def _equal_to(self, left: Expression, sign: str) -> Expression:
        if sign == "IS":
            negated = self.tokens.take_if("NOT")
            self.tokens.take_kind("NULL")
            equal: Expression = Equality(left, Constant(None))
            return Not(equal) if negated else equal
        right = self._comparison()
        _check_equality(left, right)
        return Equality(left, right) if sign == "=" else Not(Equality(left, right))

    def _comparison(self) -> Expression:
        left = self._unary()
        while self.tokens.next.kind in ("NOT", "BETWEEN", "IN", *_PARTS, *_ORDERS):
            sign = self.tokens.take().kind
            negated = sign == "NOT"
            left = self._compared(left, self.tokens.take().kind if negated else sign, negated=negated)
        return left

    def _compared(self, left: Expression, sign: str, *, negated: bool) -> Expression:
        if sign in _ORDERS and not negated:
            return _order(left, sign, self._unary())
        if sign in _PARTS:
            return PartOfText(left, self._text(), _PARTS[sign], negated)
        if sign == "BETWEEN":
            return self._between(left, negated=negated)
        if sign == "IN":
            return self._among(left, negated=negated)
        raise InvalidFilter(f"BETWEEN, IN or a part of a text expected behind NOT, where '{sign}' is")

    def _between(self, value: Expression, *, negated: bool) -> Expression:
        low = self._unary()
        self.tokens.take_kind("AND")
        high = self._unary()
        if negated:
            return Junction((_order(value, "<", low), _order(value, ">", high)), decided=True)
        _check_bounds(low, high)
        return Junction((_order(value, ">=", low), _order(value, "<=", high)), decided=False)

    def _among(self, left: Expression, *, negated: bool) -> Expression:
        self.tokens.take_kind("(")
        texts = [self._text()]
        while self.tokens.take_if(","):
            texts.append(self._text())
        self.tokens.take_kind(")")
        if not isinstance(left, Property):
            raise InvalidFilter("IN is asked of a property only")
        return Among(left.name, frozenset(texts), negated)

    def _unary(self) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST:
            raise FilterTooLarge(f"the filter nests deeper than {DEEPEST}")
        if self.tokens.take_if("+"):
            found = self._unary()
        elif self.tokens.take_if("-"):
            found = Negation(self._unary())
        elif self.tokens.take_if("NOT"):
            found = Not(_condition(self._unary()))
        else:
            found = self._primary()
        self.depth -= 1
        return found

    def _primary(self) -> Expression:
        if self.tokens.next.kind == "text":
            return Constant(self._text())
        token = self.tokens.take()
        if token.kind == "(":
            inner = self.alternatives()
            self.tokens.take_kind(")")
            return inner
        if token.kind == "name":
            return Property(token.image)
        if token.kind in _LITERALS:
            return Constant(_LITERALS[token.kind](token.image))
        raise InvalidFilter(f"a value expected where {token.image or 'the end'} is")

    def _text(self) -> str:
        return self.tokens.take_kind("text").image[1:-1].replace("''", "'")


def _whole(image: str) -> Value:
    """ConstantExpression#createFromDecimal: an Integer where it fits, else a Long."""
    try:
        number = whole(image.rstrip("lL"), Long)
    except EvaluationError as error:
        raise InvalidFilter(f"{image} does not fit a long") from error
    return Integer(number) if number < 2**31 else number


def _double(image: str) -> Value:
    """ConstantExpression#createFloat, which takes no zero and no infinity."""
    number = double(image)
    if not DOUBLE_MIN_VALUE <= number < float("inf"):
        raise InvalidFilter(f"{image} is no double that a filter may hold: 0.0 and what overflows are refused")
    return number


_LITERALS: dict[str, Callable[[str], Value]] = {
    "whole": _whole,
    "double": _double,
    "TRUE": lambda _: True,
    "FALSE": lambda _: False,
    "NULL": lambda _: None,
}


def _condition(expression: Expression) -> Expression:
    """SelectorParser#asBooleanExpression."""
    if isinstance(expression, Property):
        return PropertyCondition(expression.name)
    if not expression.is_boolean:
        raise InvalidFilter("a value stands where a condition has to")
    return expression


def _order(left: Expression, sign: str, right: Expression) -> Order:
    """ComparisonExpression#checkLessThanOperand: only numbers, properties and negations have an order."""
    for side in (left, right):
        unordered = not is_number(side.value) if isinstance(side, Constant) else side.is_boolean
        if unordered:
            raise InvalidFilter(f"what stands beside {sign} has no order")
    return Order(left, right, lambda answer: _ORDERS[sign](answer, 0))


def _check_equality(left: Expression, right: Expression) -> None:
    """ComparisonExpression#checkEqualOperand, #checkEqualOperandCompatability."""
    if Constant(None) in (left, right):
        raise InvalidFilter("NULL cannot be compared; IS NULL asks for it")
    constants = isinstance(left, Constant) and isinstance(right, Constant)
    if constants and left.is_boolean and not right.is_boolean:
        raise InvalidFilter("TRUE and FALSE cannot be compared with a value on their right")


def _check_bounds(low: Expression, high: Expression) -> None:
    """ComparisonExpression#createBetween: constant bounds are in order and not null."""
    if isinstance(low, Constant) and isinstance(high, Constant):
        try:
            in_order = None not in (low.value, high.value) and compare(high.value, low.value) >= 0  # type: ignore[arg-type]
        except EvaluationError:
            in_order = False
        if not in_order:
            raise InvalidFilter("the bounds of BETWEEN are out of order")
