#!/bin/sh
# usage: vectors.sh JARS OUT_DIR   (JARS/VERSION: rocketmq-filter, rocketmq-common, rocketmq-logging and guava of that release)
set -e
here=$(dirname "$0")
for v in 4.9.7 5.3.3; do
  mkdir -p "$1/classes/$v"
  javac -nowarn -encoding UTF-8 -cp "$1/$v/*" -d "$1/classes/$v" "$here/FilterVectors.java"
  java -Xmx256m -cp "$1/classes/$v:$1/$v/*" FilterVectors 2500 92 "$2/$v.jsonl.gz"
done
