"""The table of times as a page of the documentation."""

from __future__ import annotations

from typing import get_type_hints

from rebalance.model import timing

_INTRODUCTION = f"""# Times of a rebalance

How long things take between a client and its brokers, and how much time the replay allows, printed from
`rebalance/model/timing.py`:
`python -c "from rebalance.model.timing_document import page; print(page(), end='')" > docs/rebalance-timing.md`.

*Source* is a class or file of RocketMQ 5.3.3; or `{timing.JUDGED}`: no source names a bound, and the answers for the
recorded clusters are right with this one; or `{timing.CHOSEN}`: what is shorter is ordinary. Timers that users of
RocketMQ can set, and a replay goes by, are fields of `rebalance.model.settings.Settings`; the times below are made from
their defaults.

| name | ms | because | source |
|---|---:|---|---|
"""


def page() -> str:
    """The whole page, Markdown."""
    return _INTRODUCTION + "".join(_row(name, why) for name, why in table().items())


def table() -> dict[str, timing.Why]:
    """Every time by its name, in the order of `rebalance.model.timing`."""
    hints = get_type_hints(timing, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}


def _row(name: str, why: timing.Why) -> str:
    source = why.source if " " in why.source or why.source in (timing.JUDGED, timing.CHOSEN) else f"`{why.source}`"
    length = f"{getattr(timing, name):,}".replace(",", " ")
    return f"| `{name}` | {length} | {why.reason} | {source} |\n"
