#!/bin/bash
# pack_episode.sh VERSION SEED INCIDENT: store, kept offsets and the broker's logs (where it has no lock.log, the clients' log as well) of an incident of L.java, and its facts, to out/episodes/INCIDENT-SEED
set -e; cd "$(dirname "$0")"; V=$1; S=$2; N=$3; W=$PWD/run/$S/$V-$N; O=$PWD/out/episodes/$N-$S; P=$(mktemp -d); mkdir -p "$O" "$P/logs"
cp -a --sparse=always "$W/store" "$P/"; cp -r "$W/truth/kept" "$P/"; cp "$W/logs/broker.log" "$P/logs/"; cp "$W/logs/lock.log" "$P/logs/" 2> /dev/null || cp "$W"/logs/rocketmqlogs/rocketmq_client.log "$P/logs/"; rm -rf "$P/store/index" "$P/store/timerwheel" "$P/store/compaction"
tar -S --format=pax --owner=0 --group=0 -cf - -C "$P" store kept logs | gzip -9n > "$O/recorded.tar.gz"; rm -rf "$P"
python3 -c 'import json, sys; t = json.load(open(sys.argv[1])); at = {s["what"]: s["at"] for s in t["steps"]}; print(json.dumps({"facts": t["facts"], "begins": at["incident begins"], "over": at["incident over"]}))' "$W/truth/incident.json" > "$O/told.json"
