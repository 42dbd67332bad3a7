#!/bin/bash
# write.sh VERSION NAME MODE(clean|halt) SEED COUNT SET(first|second) [k=v...]: make a base store and pack it
cd "$(dirname "$0")"; v=$1; n=$2; m=$3; s=$4; c=$5; sp=$6; shift 6
d=${LAB_TMP:-${TMPDIR:-/tmp}/rocketlens-lab}/recovery/stores/$n; rm -rf $d; mkdir -p $d
cmd=$(python3 -c "import gen,shlex;print(shlex.join(gen.java('$v')))")
eval "timeout 120 $cmd write $d $m $s $c $*" > ${LAB_TMP:-${TMPDIR:-/tmp}/rocketlens-lab}/recovery/write-$n.log 2>&1; rc=$?; echo "$n rc=$rc files=$(find $d -type f | wc -l)"
if [ $m = halt ]; then [ $rc = 9 ] || exit 1; else [ $rc = 0 ] && [ ! -e $d/abort ] || exit 1; fi
o=out/$sp
mkdir -p $o/bases $o/cases; rm -f $d/lock; tar czf $o/bases/$n.tar.gz --sort=name --owner=0 --group=0 -C $d .
python3 - "$o/bases/$n.json" $v $m $s $c $d.flushed.json "$@" <<'P'
import json,sys,os
a=sys.argv; j=dict(version=a[2],mode=a[3],seed=int(a[4]),count=int(a[5]),config=dict(x.split("=",1) for x in a[7:]))
if os.path.exists(a[6]) and a[3]=="halt": j["flushed"]=json.load(open(a[6]))
json.dump(j,open(a[1],"w"),indent=1)
P
