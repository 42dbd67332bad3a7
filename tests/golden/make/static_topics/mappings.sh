#!/bin/sh
# usage: mappings.sh JARS OUT_DIR   (JARS/VERSION: rocketmq-remoting and what it needs, of that release)
set -e
here=$(dirname "$0")
for v in 5.3.1 5.5.0; do
  mkdir -p "$1/classes/$v" "$2/$v"
  javac -nowarn -encoding UTF-8 -cp "$1/$v/*" -d "$1/classes/$v" "$here/QueueMappings.java"
  java -Xmx128m -cp "$1/classes/$v:$1/$v/*" QueueMappings 17 "$2/$v/topicQueueMapping.json" "$2/$v/truth.jsonl"
done
