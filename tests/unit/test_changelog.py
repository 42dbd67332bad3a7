"""The change log tells each thing once, in one or two sentences, under what somebody does with it."""

from __future__ import annotations

import re

from tests.support.fixtures import CHECKOUT

BULLETS = re.split(r"\n(?=- |#|\n)", (CHECKOUT / "CHANGELOG.md").read_text("utf-8"))
LONGEST = 420
"""Characters of two sentences."""


def test_each_change_is_told_once_and_in_short() -> None:
    told = [" ".join(line.split()) for line in BULLETS if line.startswith("- ")]
    heads = [line.partition(":**")[0].partition("**")[2].partition("**")[0] for line in told]
    assert all(heads), [line for line, head in zip(told, heads, strict=True) if not head]
    assert sorted(heads) == sorted(set(heads))
    assert [line for line in told if len(line) > LONGEST] == []
    assert told
