"""Look up every text of `rebalance/readers/logs` in the sources of every release, and print where table and source disagree.

Run: python tests/golden/make/rebalance/check_log_texts.py CLONE_OF_APACHE_ROCKETMQ
Prints nothing but the number of releases and texts when each text is in every release of its range and in no other.
Left out: free text at the end of a line, texts put together by the JVM, and texts that begin inside another one.
"""

import io
import re
import subprocess
import sys
import tarfile

from rebalance.readers.logs import TEMPLATES
from tests.support.log_versions import version_range
from parsers.values.version import Version

MODULES = ["client", "broker", "remoting", "common"]
PLACE = r'(?:\{\}|"\s*\+[^;"]{0,80}(?:\+\s*"|[,;)])|%s)'
NOT_LITERAL = {"lock_renewed", "heartbeat_text", "consumer_started", "consumer_shutdown", "broker_started", "closed"}
INSIDE_ANOTHER = {("result_changed", "≤4.9.8"), ("lock_answered", "≥5.0.0")}


def git(*words):
    return subprocess.run(["git", "-C", sys.argv[1], *words], capture_output=True, check=True).stdout


def source(tag):
    """All Java sources of a release as one text, with string literals that are added up joined."""
    with tarfile.open(fileobj=io.BytesIO(git("archive", tag, "--", *MODULES))) as archive:
        files = [m for m in archive if m.name.endswith(".java") and "/src/main/" in m.name]
        text = "\n".join(archive.extractfile(m).read().decode("utf-8", "replace") for m in files)
    return re.sub(r'"\s*\+\s*"', "", text).replace('\\"', '"')


def looked_for(template):
    if template.name in NOT_LITERAL or (template.name, template.versions) in INSIDE_ANOTHER:
        return None
    if template.field_names and template.field_names[-1] in ("text", "more"):
        return re.compile(PLACE.join(map(re.escape, template.literals[:-1])))
    return re.compile(PLACE.join(map(re.escape, template.literals)))


tags = re.findall(r"^rocketmq-all-\d+\.\d+\.\d+$", git("tag").decode(), re.MULTILINE)
sources = {Version.parse(tag.rpartition("-")[2]): source(tag) for tag in tags}
for template in TEMPLATES:
    if template.log == "go":
        continue
    pattern = looked_for(template)
    since, until = version_range(template)
    found = {version for version, text in sources.items() if pattern and pattern.search(text)}
    wanted = {version for version in sources if since <= version <= until}
    if pattern and found != wanted:
        missing, extra = ([str(v) for v in sorted(some)] for some in (wanted - found, found - wanted))
        print(f"{template.name} {template.versions}: missing in {missing}, also in {extra}: {template.text}")
print(f"{len(sources)} releases, {len(TEMPLATES)} texts")
