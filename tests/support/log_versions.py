"""Which versions of RocketMQ, or of its Go client, write a log text."""

from __future__ import annotations

from parsers.values.version import NEWEST, Version
from rebalance.readers.logs.templates.template import Template

OLDEST = Version(4, 0, 0)
GO_OLDEST, GO_NEWEST = Version(2, 0, 0), Version(2, 1, 2)


def version_range(template: Template) -> tuple[Version, Version]:
    """First and last version that writes this text."""
    oldest, newest = (GO_OLDEST, GO_NEWEST) if template.log == "go" else (OLDEST, NEWEST)
    if template.versions == "all":
        return oldest, newest
    if template.versions[0] == "≤":
        return oldest, Version.parse(template.versions[1:])
    if template.versions[0] == "≥":
        return Version.parse(template.versions[1:]), newest
    since, _, until = template.versions.partition("–")
    return Version.parse(since), Version.parse(until)
