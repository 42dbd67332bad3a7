"""Tags that a group subscribes to, as broker and client read them."""

from __future__ import annotations

from parsers.values.java import split, string_hash_code

ALL = "*"
SPACE_AND_CONTROLS = "".join(map(chr, range(ord(" ") + 1)))


def tag_codes(expression: str) -> frozenset[int] | None:
    """The hash codes of the tags in `TagA || TagB`; None for all messages (`*`, or nothing).

    A broker hands out a message if its queue unit has one of them; tags of the same hash come along, and the client
    leaves them out.
    Source: FilterAPI#buildSubscriptionData, ExpressionMessageFilter#isMatchedByConsumeQueue @4.1.0.
    """
    if expression in ("", ALL):
        return None
    tags = (tag.strip(SPACE_AND_CONTROLS) for tag in split(expression, "||"))
    return frozenset(string_hash_code(tag) for tag in tags if tag)
