"""What a filter can be that no broker takes."""

from __future__ import annotations


class InvalidFilter(ValueError):
    """The text is no filter: a broker refuses the subscription (MQFilterException)."""


class FilterTooLarge(ValueError):
    """The filter nests deeper, or has more parts, than is read here; a broker takes it as far as its stack goes."""
