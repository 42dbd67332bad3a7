"""Choose the committed subset of the recorded strategy vectors: per version, strategy and kind of answer the smallest few.

Run: python tests/golden/rebalance/select_vectors.py VECTORS_FOLDER | gzip -9n > tests/golden/rebalance/vectors.jsonl.gz
The input is `rebalance/vectors/*.jsonl.gz` of the fixture sets: results of the real strategy classes of client 4.4.0,
4.7.1, 4.9.8 and 5.3.3 on Java 17 with file.encoding=UTF-8.
"""

import gzip
import json
import sys
from collections import defaultdict
from pathlib import Path

PER_KIND = 2


def kind(line):
    vector = json.loads(line)
    mq_all, cid_all = vector["mq_all"] or [], vector["cid_all"] or []
    if "error" in vector:
        answer = vector["error"]["class"] + str(vector["error"]["message"])[:24]
    else:
        repeated = len(set(cid_all)) < len(cid_all)
        answer = (bool(vector["result"]), vector["sorted"], repeated, len(cid_all) > len(mq_all), "\\u" in line)
    return vector["version"], vector["strategy"], str(answer)


kinds = defaultdict(list)
for path in sorted(Path(sys.argv[1]).glob("*.jsonl.gz")):
    for line in gzip.open(path, "rt", encoding="utf-8"):
        kinds[kind(line)].append(line)
for name in sorted(kinds):
    middle = len(kinds[name]) // 2  # the smallest are trivial: take middle-sized ones
    sys.stdout.writelines(sorted(kinds[name], key=lambda line: (len(line), line))[middle : middle + PER_KIND])
