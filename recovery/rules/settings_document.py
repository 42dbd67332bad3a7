"""The settings of a broker that matter here, as a page of the documentation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from recovery.rules.passing_settings import PassedBy
from recovery.rules.settings import FORMER_NAMES, RENAMED_IN, StoreSettings
from recovery.rules.versions import BrokerVersion

_INTRODUCTION = """# Settings of a broker

The settings that a start, a rebuild, retention and the other answers go by, under RocketMQ's own names. Printed from
`recovery/rules/settings.py`:
`python -c "from recovery.rules.settings_document import page; print(page(), end='')" > docs/settings.md`.

Say what is not default: with `--broker-conf FILE`, which reads the broker's own broker.conf; with
`--config NAME=VALUE`, which wins over it and may be repeated; or in `[broker.settings]` of a `rocketlens.toml`
([The lake](lake.md)). A name that is not here changes no answer and is left out; of one in `--config` that is said.
*Versions* are those of brokers that know the setting; `forecast` lists a value that its version does not know under
`unknown`. Sizes are bytes, `fileReservedTime` is hours, ratios are percent, other times milliseconds.
"""
_PASSING = """
## Settings that let a start go on

`forecast` names one of these where it lets a start pass what stops it or ends the log, and says what that costs:

| setting | value | costs |
|---|---|---|"""


def page() -> str:
    """The whole page, Markdown."""
    passing = (f"| `{each.setting}` | `{each.to}` | {each.costs} |" for each in PassedBy)
    return "\n".join([_INTRODUCTION, *_rows(), _PASSING, *passing]) + "\n"


def _rows() -> Iterator[str]:
    yield "| setting | default | versions |"
    yield "|---|---|---|"
    former = {name: f"; before {RENAMED_IN} as `{former}`" for former, name in FORMER_NAMES.items()}
    for declared in sorted(dataclasses.fields(StoreSettings), key=lambda each: each.metadata["java_name"].lower()):
        told = declared.metadata
        versions = _versions(told["since"], told["gone_in"]) + former.get(told["java_name"], "")
        yield f"| `{told['java_name']}` | {_value(told['default'])} | {versions} |"


def _value(default: bool | int | str) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return f"`{default}`" if default != "" else "–"


def _versions(since: BrokerVersion, gone_in: BrokerVersion | None) -> str:
    begin = "all" if since == BrokerVersion(0, 0, 0) else f"since {since}"
    return begin if gone_in is None else f"{begin}, before {gone_in}"
