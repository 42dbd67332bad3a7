#!/bin/bash
cd "$(dirname "$0")"
for v in ${@:-4.9.8 5.3.1 5.3.3 5.5.1}; do o=${LAB_TMP:-${TMPDIR:-/tmp}/rocketlens-lab}/recovery/classes/$v; mkdir -p $o; cp rmq.logback.xml $o/
 javac -nowarn -encoding UTF-8 -cp "${LAB_TMP:-${TMPDIR:-/tmp}/rocketlens-lab}/recovery/jars/$v/*" -d $o src/Lab.java src/Rocks.java src/Oracle.java src/FreshQueues.java src/Timers.java src/org/apache/rocketmq/store/LabReput.java && echo built $v; done
