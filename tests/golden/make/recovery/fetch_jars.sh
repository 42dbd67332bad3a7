#!/bin/bash
# download the store jars and what they need, one folder per version
cd "$(dirname "$0")"
for v in ${@:-5.3.3 4.9.8 5.5.1 5.3.1}; do mvn -q -B -Drmq=$v dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=${LAB_TMP:-${TMPDIR:-/tmp}/rocketlens-lab}/recovery/jars/$v || echo FAIL $v; done
