#!/bin/sh
# usage: vectors.sh JARS OUT_DIR   (JARS/VERSION: rocketmq-client of that release and all that it needs)
set -e
here=$(dirname "$0")
for v in 4.4.0 4.7.1 4.8.0 4.9.0 4.9.1 4.9.2 4.9.8 5.0.0 5.1.4 5.3.1 5.3.3; do
  mkdir -p "$1/classes/$v"
  javac -nowarn -encoding UTF-8 -cp "$1/$v/*" -d "$1/classes/$v" "$here/TraceVectors.java"
  java -Xmx256m -Dfile.encoding=UTF-8 -cp "$1/classes/$v:$1/$v/*" TraceVectors 100 7 "$2/$v.jsonl.gz"
done
