#!/bin/sh
# usage: vectors.sh JARS OUT_DIR   (JARS/VERSION: rocketmq-store and what it needs, of that release)
set -e
here=$(dirname "$0")
for v in 4.9.8 5.2.0 5.3.3 5.5.0; do
  json=fastjson
  [ "$v" = 5.5.0 ] && json=fastjson2
  mkdir -p "$1/classes/$v"
  javac -nowarn -encoding UTF-8 -cp "$1/$v/*" -d "$1/classes/$v" "$here/BodyVectors.java"
  java -Xmx256m -cp "$1/classes/$v:$1/$v/*" BodyVectors 200 17 "$2/$v.jsonl.gz" "com.alibaba.$json"
done
# JARS/5.3.3 has rocketmq-proxy, too
javac -nowarn -encoding UTF-8 -cp "$1/5.3.3/*" -d "$1/classes/5.3.3" "$here/HeartbeatVectors.java"
java -Xmx256m -cp "$1/classes/5.3.3:$1/5.3.3/*" HeartbeatVectors "$2/heartbeats-5.3.3.jsonl" com.alibaba.fastjson
