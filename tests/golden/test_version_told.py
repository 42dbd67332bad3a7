"""The version of every recorded store, told by its files alone: never one that its broker was not."""

from __future__ import annotations

import pytest

from parsers.store.store import open_store
from recovery.knowledge.inference import infer
from recovery.rules.versions import BrokerVersion
from tests.support.stores import store_names, store_root

NARROWED = {
    "3.2.6-clean": ("3.2.6", "3.2.6"),
    "4.2.0-clean": ("3.2.6", "4.2.0"),
    "4.3.2-clean": ("4.3.2", "4.7.0"),
    "4.5.2-clean": ("4.3.2", "4.7.0"),
    "4.7.1-clean": ("4.7.1", "4.9.0"),
    "5.3.3-pop": ("5.3.1", "5.3.3"),
}
"""How far the files narrow it: the oldest and the newest version that they leave open."""


@pytest.mark.parametrize("name", store_names())
def test_the_brokers_version_is_left_open(name: str) -> None:
    known = infer(open_store(store_root(name)))
    (why,) = [fact.why for fact in known.facts if fact.what == "version"]
    assert "outweighed" not in why
    version = BrokerVersion.parse(name.partition("-")[0])
    near = [each for each in known.may_be if (each.major, each.minor) == (version.major, version.minor)]
    assert near or min(known.may_be) < version < max(known.may_be)
    if name in NARROWED:
        assert (str(min(known.may_be)), str(max(known.may_be))) == NARROWED[name]
