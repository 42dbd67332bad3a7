"""Looks up every text of the Go client in its releases: `check_go_log_texts.py CLONE`, a clone with its tags.

Prints each release in which a text is missing or stands although its range says otherwise; nothing: they agree.
"""

import re
import subprocess
import sys

from parsers.values.version import Version
from rebalance.readers.logs.templates.go import GO_TEMPLATES
from tests.support.log_versions import version_range

RELEASES = ("2.0.0", "2.1.0", "2.1.1", "2.1.2")
FILES = (
    "consumer/consumer.go",
    "consumer/push_consumer.go",
    "consumer/offset_store.go",
    "consumer/strategy.go",
    "internal/client.go",
    "internal/route.go",
)
CALL = r'rlog\.(?:Info|Warning|Error|Debug)\("%s(?:"|[^"]*")'


def texts_of(release):
    """The files of a release as one text."""
    shown = (
        subprocess.run(["git", "-C", sys.argv[1], "show", f"refs/tags/v{release}:{file}"], capture_output=True)
        for file in FILES
    )
    return "\n".join(done.stdout.decode() for done in shown)


sources = {Version.parse(release): texts_of(release) for release in RELEASES}
for template in GO_TEMPLATES:
    message = re.split(r" (?=[A-Za-z()]+=\{)", template.text)[0]
    start, is_whole = message.split("{")[0], "{" not in message
    call = re.compile(CALL % re.escape(start) if not is_whole else r'rlog\.\w+\("%s"' % re.escape(start))
    since, until = version_range(template)
    found = {version for version, text in sources.items() if call.search(text)}
    wanted = {version for version in sources if since <= version <= until}
    for version in sorted(found ^ wanted):
        print(f"{template.name} {template.versions}: {'missing in' if version in wanted else 'also in'} {version}: {message}")
print(f"{len(sources)} releases, {len(GO_TEMPLATES)} texts")
