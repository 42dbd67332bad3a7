#!/bin/sh
# usage: stores.sh JARS OUT_DIR   (JARS/VERSION: rocketmq-broker and what it needs, of that release)
set -e
here=$(cd "$(dirname "$0")" && pwd)
for v in 5.3.1 5.3.3 5.5.0; do
  work=$(mktemp -d)
  mkdir -p "$1/classes/$v"
  javac -nowarn -encoding UTF-8 -cp "$1/$v/*" -d "$1/classes/$v" "$here/TieredStore.java"
  java -Xmx512m -cp "$1/classes/$v:$1/$v/*" TieredStore "$work/store" "$work/segments" 7 45000
  tar -C "$work" -S --format=pax --sort=name -czf "$2/$v.tar.gz" store segments
  rm -r "$work"
done
