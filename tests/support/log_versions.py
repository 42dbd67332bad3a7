"""Which versions of RocketMQ write a log text."""

from __future__ import annotations

from parsers.version import NEWEST, Version
from rebalance.readers.logs.template import Template


def version_range(template: Template) -> tuple[Version, Version]:
    """First and last version that writes this text."""
    if template.versions == "all":
        return Version(4, 0, 0), NEWEST
    if template.versions[0] == "≤":
        return Version(4, 0, 0), Version.parse(template.versions[1:])
    if template.versions[0] == "≥":
        return Version.parse(template.versions[1:]), NEWEST
    since, _, until = template.versions.partition("–")
    return Version.parse(since), Version.parse(until)
