#!/bin/bash
# pack.sh <version> <seed> <incident>: answers, hashes, sparse tar, logs, copy to out/
cd "$(dirname "$0")"; V=$1; S=$2; N=$3; W=$PWD/run/$S/$V-$N; O=$PWD/out/seed-$S/incidents/$V-$N; python3 add_probe.py $W; python3 answers.py $W || exit 1
D=store; for x in disk2 disk3 fast data store-killed; do [ -e $W/$x ] && D="$D $x"; done; [ -e $W/data ] && D=${D/store /}
(cd $W; for s in $D; do find $s -type f | sort; done | xargs -d '\n' sha256sum > truth/files.sha256; for s in $D; do find $s -type f -printf '%s %p\n' | sort -k2; done > truth/files.sizes; for s in $D; do find $s -type f -printf '%T@ %p\n' | sort -k2; done > truth/files.mtimes)
rm -rf "$O"; mkdir -p "$O"; if [ -e $W/store-killed ]; then (cd $W; for s in store store-killed; do tar -S --format=pax --owner=0 --group=0 -czf $O/$s.tar.gz $s; done); else (cd $W; tar -S --format=pax --owner=0 --group=0 -czf $O/store.tar.gz $D); fi; python3 - $W $O <<'P'
import json, sys; w, o = sys.argv[1:]; s = json.load(open(w + "/truth/store_state.json"))["settings"]; c = "".join(f"{k}={s[k]}\n" for k in sorted(s)); open(o + "/broker.conf", "w").write(c); n = open(w + "/broker.conf").read()
if n != c: open(o + "/broker.conf.after", "w").write(n)
P
cp -r $W/truth $O/
mkdir -p $O/logs; for l in broker store storeerror transaction rocketmq_client; do f=$W/logs/$l.log; [ -s $f ] && gzip -9 -c $f > $O/logs/$l.log.gz; done; f=$W/logs/rocketmqlogs/rocketmq_client.log; [ -s $f ] && gzip -9 -c $f > $O/logs/rocketmq_client.log.gz; rmdir $O/logs 2>/dev/null; gzip -9 -n -f $O/truth/incident.json; gunzip $O/truth/incident.json.gz
du -sk $O | cut -f1; ls -la $O | awk '{print $5,$9}' | tail -n +4 | tr '\n' ' '; echo
