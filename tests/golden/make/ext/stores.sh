#!/bin/sh
# usage: stores.sh JARS OUT_DIR   (JARS/VERSION: rocketmq-broker and what it needs, of that release)
set -e
here=$(cd "$(dirname "$0")" && pwd)
for v in 5.2.0 5.3.3 5.5.0; do
  work=$(mktemp -d)
  mkdir -p "$1/classes/$v"
  javac -nowarn -encoding UTF-8 -cp "$1/$v/*" -d "$1/classes/$v" "$here/ExtStore.java"
  java -Xmx512m -cp "$1/classes/$v:$1/$v/*" ExtStore "$work/store" 7
  tar -C "$work" -S --format=pax --sort=name -czf "$2/$v.tar.gz" store
  rm -r "$work"
done
