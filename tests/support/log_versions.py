"""Which versions of RocketMQ, or of its Go or C++ client, write a log text."""

from __future__ import annotations

from parsers.values.version import NEWEST, Version
from rebalance.readers.logs.templates.template import Template

OLDEST = Version(4, 0, 0)
RELEASES = {
    "go": (Version(2, 0, 0), Version(2, 1, 2)),
    "cpp": (Version(1, 2, 0), Version(2, 2, 0)),
    "grpc": (Version(5, 0, 0), Version(5, 2, 1)),
}
"""First and last release of each client that counts its own."""


def version_range(template: Template) -> tuple[Version, Version]:
    """First and last version that writes this text."""
    oldest, newest = RELEASES.get(template.log, (OLDEST, NEWEST))
    if template.versions == "all":
        return oldest, newest
    if template.versions[0] == "≤":
        return oldest, Version.parse(template.versions[1:])
    if template.versions[0] == "≥":
        return Version.parse(template.versions[1:]), newest
    since, _, until = template.versions.partition("–")
    return Version.parse(since), Version.parse(until)
