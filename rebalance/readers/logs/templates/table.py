"""The one table of log texts, and how a line finds its templates."""

from __future__ import annotations

from rebalance.readers.logs.templates.beside import BESIDE_TEMPLATES
from rebalance.readers.logs.templates.broker import BROKER_TEMPLATES
from rebalance.readers.logs.templates.client import CLIENT_TEMPLATES
from rebalance.readers.logs.templates.client_old import OLD_CLIENT_TEMPLATES
from rebalance.readers.logs.templates.cpp import CPP_TEMPLATES
from rebalance.readers.logs.templates.go import GO_TEMPLATES
from rebalance.readers.logs.templates.grpc import GRPC_TEMPLATES
from rebalance.readers.logs.templates.lock import LOCK_TEMPLATES
from rebalance.readers.logs.templates.offsets import OFFSET_TEMPLATES
from rebalance.readers.logs.templates.stats import STATS_TEMPLATES
from rebalance.readers.logs.templates.store import STORE_TEMPLATES
from rebalance.readers.logs.templates.template import START_SIZE, Template

TEMPLATES: tuple[Template, ...] = (
    *BROKER_TEMPLATES,
    *LOCK_TEMPLATES,
    *OFFSET_TEMPLATES,
    *STORE_TEMPLATES,
    *BESIDE_TEMPLATES,
    *CLIENT_TEMPLATES,
    *OLD_CLIENT_TEMPLATES,
    *GO_TEMPLATES,
    *CPP_TEMPLATES,
    *GRPC_TEMPLATES,
    *STATS_TEMPLATES,
)
UNREADABLE = Template("unreadable", "any", "any", "all", "{template}", "UnreadRecord")
"""Not a text of RocketMQ: an entry that starts like `template` and is cut or damaged."""


def _by_start() -> dict[bytes, tuple[Template, ...]]:
    found: dict[bytes, tuple[Template, ...]] = {}
    for template in TEMPLATES:
        start = template.literals[0].encode()[:START_SIZE]
        if len(start) == START_SIZE:
            found[start] = (*found.get(start, ()), template)
    return found


def _anchored() -> tuple[tuple[bytes, tuple[Template, ...]], ...]:
    found: dict[bytes, tuple[Template, ...]] = {}
    for template in TEMPLATES:
        if len(template.literals[0].encode()) < START_SIZE:
            anchor = template.literals[1].encode()[: 2 * START_SIZE]
            found[anchor] = (*found.get(anchor, ()), template)
    return tuple(found.items())


BY_START = _by_start()
"""First bytes of a message -> templates that start so, in the order of the table (the first that matches wins)."""
ANCHORED = _anchored()
"""Fixed text inside a message -> templates that start with a field."""
