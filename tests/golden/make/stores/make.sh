#!/bin/bash
# make.sh <version> <seed> <outdir> [kind]: write one store with a real broker of that version, and its truth.
# Runs in a network namespace holding only the loopback interface, so nothing can listen elsewhere.
set -e; cd "$(dirname "$0")"; V=$1; S=$2; O=$3; K=${4:-clean}; W=${LAB_TMP:-${TMPDIR:-/tmp}/rocketlens-lab}/stores/run-$V-$S-$K; L=${LAB_TMP:-${TMPDIR:-/tmp}/rocketlens-lab}/stores/lib-$V; C=${LAB_TMP:-${TMPDIR:-/tmp}/rocketlens-lab}/stores/cls-$V
[ -d $L ] || timeout 300 mvn -q -B -Drmq.version=$V dependency:copy-dependencies -DoutputDirectory=$L -DincludeScope=runtime
case $W in ${LAB_TMP:-${TMPDIR:-/tmp}/rocketlens-lab}/stores/run-*) rm -rf "$W";; esac
mkdir -p $C $W "$O"; (flock 9; [ $C/Harness.class -nt Harness.java -a $C/Rebuild.class -nt Rebuild.java -a $C/Truth.class -nt Truth.java ] || timeout 120 javac -nowarn -cp "$L/*" -d $C *.java) 9> $C/.lock
OPEN=$(for p in nio util lang net util.concurrent; do printf -- '--add-opens java.base/java.%s=ALL-UNNAMED ' $p; done; echo --add-opens java.base/sun.nio.ch=ALL-UNNAMED --add-opens java.base/jdk.internal.ref=ALL-UNNAMED --add-exports java.base/jdk.internal.ref=ALL-UNNAMED)
run() { unshare -n bash -c 'ip link set lo up; exec "$@"' x timeout 220 java -Xmx512m $OPEN -Duser.timezone=UTC -cp "$C:$L/*" "$@"; }
run Harness $V $S $W $K > $W.out 2> $W.err || { tail -5 $W.err; exit 1; }
(cd $W/store && find . -type f | sort | xargs -d '\n' sha256sum) > $W/truth/files.sha256; (cd $W/store && find . -type f -printf '%s %p\n' | sort -k2) > $W/truth/files.sizes
[ -d $W/client_offsets ] && cp -r $W/client_offsets $W/truth/client_offsets
tar -C $W -czSf $W/store.tar.gz store
if [ $K = clean ]; then mkdir $W/rebuild; cp -r --sparse=always $W/store $W/rebuild/store; rm -rf $W/rebuild/store/consumequeue $W/rebuild/store/index; run Rebuild $V $S $W $K > $W.rebuild.out 2> $W.rebuild.err || { echo rebuild failed; tail -5 $W.rebuild.err; }; tar -C $W/rebuild/store -czSf $W/truth/rebuilt.tar.gz consumequeue index || true; fi
rm -rf "$O/truth" "$O/store.tar.gz"; cp $W/store.tar.gz "$O/"; cp -r $W/truth "$O/truth"; du -sh "$O"
