#!/bin/sh
# usage: vectors.sh WORKDIR OUT_DIR   (WORKDIR/jars/<version>, WORKDIR/cls/<version>)
for v in 4.4.0 4.7.1 4.9.8 5.3.3; do
  J="java -Xmx256m -XX:+UseSerialGC -Dfile.encoding=UTF-8 -Duser.home=$1/vechome -cp $1/cls/$v:$1/jars/$v/*"
  $J Vectors $v 5000 flat $2/$v.jsonl.gz 20261
done
