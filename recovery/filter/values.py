"""Values of a filter as Java has them, and how two of them are compared.

A value is a `str`, a `bool`, a `float` (Double), an `Integer`, a `Long`, or None (null). Properties are texts or null;
numbers and booleans come from the expression's text.
"""

from __future__ import annotations

import math
import re

from parsers.values.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, to_int, to_long, utf16_order


class Integer(int):
    """A whole number that Java holds in 32 bits."""


class Long(int):
    """A whole number that Java holds in 64 bits."""


Known = str | bool | float | Integer | Long
Value = Known | None

DOUBLE_MIN_VALUE = 4.9e-324
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?", re.ASCII)
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+[fFdD]?", re.ASCII)
_NAMED = {"NaN": math.nan, "Infinity": math.inf}
_SPACE_AND_CONTROLS = "".join(map(chr, range(ord(" ") + 1)))
_LONGEST_WHOLE = 4000
"""Digits above which no whole number fits, and that `int` still reads."""


class EvaluationError(Exception):
    """Java throws here: the broker logs "Message Filter error" and does not deliver the message."""


def whole(text: str, kind: type[Integer | Long]) -> Integer | Long:
    """`Integer.valueOf` or `Long.valueOf` of a text.

    Raises:
        EvaluationError: no whole number, or one that does not fit (NumberFormatException).
    Source: java.lang.Integer#parseInt, Character#digit (any decimal digit of the Basic Multilingual Plane).
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    lowest, highest = (INT_MIN, INT_MAX) if kind is Integer else (LONG_MIN, LONG_MAX)
    if digits.isdecimal() and max(digits) <= "\uffff" and len(digits) <= _LONGEST_WHOLE:
        number = -int(digits) if text.startswith("-") else int(digits)
        if lowest <= number <= highest:
            return kind(number)
    raise EvaluationError(f"not a whole number of Java: {text!r}")


def double(text: str) -> float:
    """`Double.valueOf` of a text: decimal or hexadecimal, spaces around it, a type suffix, NaN and Infinity.

    Raises:
        EvaluationError: no number (NumberFormatException).
    Source: java.lang.Double#valueOf.
    """
    bare = text.strip(_SPACE_AND_CONTROLS)
    unsigned = bare[1:] if bare[:1] in ("+", "-") else bare
    if unsigned in _NAMED:
        return -_NAMED[unsigned] if bare.startswith("-") else _NAMED[unsigned]
    if _DECIMAL.fullmatch(bare):
        return float(bare.rstrip("fFdD"))
    if _HEXADECIMAL.fullmatch(bare):
        return _hexadecimal(bare)
    raise EvaluationError(f"not a number of Java: {text!r}")


def _hexadecimal(text: str) -> float:
    significand, exponent = re.split("[pP]", text)
    try:
        return float.fromhex(f"{significand}p{exponent.rstrip('fFdD')}")
    except OverflowError:
        return -math.inf if text.startswith("-") else math.inf


def negated(value: Integer | Long | float) -> Integer | Long | float:
    """The number with the other sign, of the same type. UnaryExpression#negate @4.1.0."""
    if isinstance(value, float):
        return -value
    return Integer(to_int(-value)) if isinstance(value, Integer) else Long(to_long(-value))


def is_number(value: Value) -> bool:
    """The value is a `Number` of Java, which a Boolean is not."""
    return isinstance(value, Integer | Long | float)


def compare(left: Known, right: Known) -> int:
    """Below, at or above 0, as `left` is below, equal to or above `right` after Java's conversions.

    A text beside a number is read as a number of that type, one beside a Boolean as `Boolean.valueOf` reads it; types
    that do not meet compare as -1, whatever they hold.

    Raises:
        EvaluationError: a text that is no such number, or a Boolean on the left of a text (ClassCastException).
    Source: ComparisonExpression#__compare @4.1.0.
    """
    if type(left) is type(right):
        return _order(left, right)
    if isinstance(left, bool):
        if isinstance(right, str):
            raise EvaluationError("Java casts the Boolean on the left to a String")
        return -1
    if isinstance(left, str):
        return _order(_as(left, right), right)
    if isinstance(right, bool):
        return -1
    if isinstance(right, str):
        return _order(left, _as(right, left))
    if isinstance(left, float) or isinstance(right, float):
        return _order(float(left), float(right))
    return _order(Long(left), Long(right))


def _as(text: str, like: Known) -> Known:
    """The text as a value of the other's type."""
    if isinstance(like, bool):
        return text.lower() == "true" and text.isascii()
    if isinstance(like, float):
        return double(text)
    return whole(text, Integer if isinstance(like, Integer) else Long)


def _order(left: Known, right: Known) -> int:
    """`compareTo` of two values of one type: a Double NaN is above all else, and -0.0 below 0.0."""
    if isinstance(left, str) and isinstance(right, str):
        left, right = utf16_order(left), utf16_order(right)
    elif isinstance(left, float) and isinstance(right, float):
        return _place(left) > _place(right) or -(_place(left) < _place(right))
    return (left > right) - (left < right)  # type: ignore[operator]


def _place(value: float) -> tuple[bool, float, float]:
    """Sort key of `Double.compareTo`."""
    return (True, 0.0, 0.0) if math.isnan(value) else (False, value, math.copysign(1.0, value))
