#!/bin/bash
# pack.sh <version> <seed> <name> [norebuild] : rebuild truth where asked, hashes, sparse tar with sub-second times, copy to out/
cd "$(dirname "$0")"; V=$1; S=$2; N=$3; W=$PWD/run/$S/$N; O=$PWD/out/seed-$S/stores/$N
python3 - $W <<'P'
import json,sys,glob; w=sys.argv[1]; s=json.load(open(sorted(glob.glob(w+'/truth/store_state.json')+glob.glob(w+'/truth/*/store_state.json'))[0]))['settings']; open(w+'/settings.properties','w').write(''.join(f'{k}={v}\n' for k,v in s.items()))
P
if [ "$4" != norebuild ]; then C=$PWD/cls/$V-Rebuild; mkdir -p $C; SRC=$PWD/src; case $V in 3.*) SRC=$C/src; mkdir -p $SRC; for f in O Rebuild; do sed 's/org\.apache\.rocketmq/com.alibaba.rocketmq/g; s/ConsumeQueueExt\.isExtAddr(t)/false/g' src/$f.java > $SRC/$f.java; done;; esac
 timeout 120 javac -nowarn -encoding UTF-8 -cp "lib/$V/*" -d $C $SRC/O.java $SRC/Rebuild.java 2> $C/javac.log || { grep -A2 error $C/javac.log | head; exit 1; }
 rm -rf $W/rebuild; mkdir $W/rebuild; cp -a --sparse=always $W/store $W/rebuild/store; rm -rf $W/rebuild/store/{consumequeue,index,checkpoint,lock}; touch $W/rebuild/store/abort
 OPEN=$(for p in nio util lang lang.reflect net text util.concurrent math io; do printf -- '--add-opens java.base/java.%s=ALL-UNNAMED ' $p; done; echo --add-opens java.base/sun.nio.ch=ALL-UNNAMED --add-opens java.base/jdk.internal.ref=ALL-UNNAMED --add-exports java.base/jdk.internal.ref=ALL-UNNAMED)
 unshare -n bash -c 'ip link set lo up; exec "$@"' x timeout 90 java -Xmx400m -XX:TieredStopAtLevel=1 $OPEN -Duser.timezone=UTC -cp "$C:lib/$V/*" Rebuild $V $S $W > $W.rb.out 2> $W.rb.err || { echo "rebuild failed $V"; tail -4 $W.rb.err; }
 tail -1 $W.rb.err | cut -c1-420; tar -C $W/rebuild/store -S --format=pax -czf $W/truth/rebuilt.tar.gz consumequeue index; fi
for s in $W/store*; do [ -d $s ] || continue; n=$(basename $s); (cd $s && find . -type f | sort | xargs -d '\n' sha256sum) > $W/truth/files${n#store}.sha256; (cd $s && find . -type f -printf '%s %p\n' | sort -k2) > $W/truth/files${n#store}.sizes; (cd $s && find . -type f -printf '%T@ %p\n' | sort -k2) > $W/truth/files${n#store}.mtimes; done
[ -d $W/client_offsets ] && cp -r $W/client_offsets $W/truth/
rm -rf "$O"; mkdir -p "$O"; for s in $W/store*; do [ -d $s ] && (cd $W && tar -S --format=pax --owner=0 --group=0 -czf $O/$(basename $s).tar.gz $(basename $s)); done; cp -r $W/truth $O/; du -sh $O; ls $O
