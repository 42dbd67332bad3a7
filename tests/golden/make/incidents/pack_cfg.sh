#!/bin/bash
# pack_cfg.sh <version> <seed>: base store, its truth, and the rows
cd "$(dirname "$0")"; V=$1; S=$2; B=$PWD/run/$S/$V-config-base; W=$PWD/run/$S/$V-config-broken; O=$PWD/out/seed-$S/incidents/$V-config-broken; rm -rf $O; mkdir -p $O/truth; (cd $B; find store -type f | sort | xargs -d '\n' sha256sum > truth/files.sha256; find store -type f -printf '%s %p\n' | sort -k2 > truth/files.sizes; find store -type f -printf '%T@ %p\n' | sort -k2 > truth/files.mtimes; tar -S --format=pax --owner=0 --group=0 -czf $O/store.tar.gz store; cp broker.conf $O/; cp truth/* $O/truth/ 2>/dev/null); rm -f $O/truth/incident.json
python3 - $W $B $O <<'P'
import json, sys
w, b, o = sys.argv[1:]; rows = [json.loads(l) for l in open(w + "/truth/config_cases.jsonl")]; base = rows[0]["truth"]["memory"]; out = open(o + "/truth/config_cases.jsonl", "w"); tab = []
def flat(m): return {k + "#" + q: v for k, x in m["consumerOffsets"].items() for q, v in x.items()}
for r in rows:
    t = r["truth"]; m = t.get("memoryWhenRunning") or t.get("memory"); a, c = flat(base), flat(m)
    t["answer"] = dict(starts=t["initialize"] is True, topicsLost=sorted(set(base["topics"]) - set(m["topics"])), topicsGained=sorted(set(m["topics"]) - set(base["topics"])), offsetsLost=sorted(set(a) - set(c)), offsetsGoneBack={k: [a[k], c[k]] for k in a if k in c and c[k] < a[k]}, groupsLost=sorted(set(base["subscriptionGroups"]) - set(m["subscriptionGroups"])), delayOffsetsLoaded=t.get("memory", {}).get("delayOffsets"), aRefusedStartOverwrote=[f for f, x in t["configAfterStop"].items() if t["initialize"] is not True and f.startswith(r["file"]) and f.endswith(".json") and x["text"] is not None and x["text"].startswith("{") ])
    out.write(json.dumps(r, separators=(",", ":")) + "\n"); tab.append((r["file"], r["damage"], t["initialize"]))
inc = json.load(open(b + "/truth/incident.json")); inc["incident"] = "config-broken"; inc["rows"] = "config_cases.jsonl"; inc["answers"] = {"rows": len(rows), "refused": [list(x[:2]) for x in tab if x[2] is not True]}; json.dump(inc, open(o + "/truth/incident.json", "w"), separators=(",", ":")); print(len(rows), "rows, refused", sum(1 for x in tab if x[2] is not True))
P
gzip -9 -n -f $O/truth/config_cases.jsonl; du -sk $O
