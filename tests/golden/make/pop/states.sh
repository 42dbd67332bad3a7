#!/bin/sh
# usage: states.sh JARS OUT_DIR   (JARS/VERSION: rocketmq-broker of that release and all that it needs)
set -e
here=$(dirname "$0")
work=$(mktemp -d)
for v in 5.3.3 5.4.0 5.5.0; do
  mkdir -p "$work/classes/$v" "$work/$v"
  javac -nowarn -encoding UTF-8 -cp "$1/$v/*" -d "$work/classes/$v" "$here/PopStates.java"
  java -Xmx256m -Duser.home="$work" -cp "$work/classes/$v:$1/$v/*" PopStates "$work/$v"
  mkdir -p "$2/$v"
  tar -C "$work/$v" -czf "$2/$v/store.tar.gz" store
  gzip -9nc "$work/$v/told.json" > "$2/$v/told.json.gz"
done
rm -r "$work"
