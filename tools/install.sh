#!/bin/sh
# Installs rocketlens from this folder, without a network:  sh install.sh [FOLDER]
# FOLDER is new (default: rocketlens); the command is then FOLDER/bin/rocketlens. PYTHON names another interpreter.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
to=${1:-rocketlens}
python=${PYTHON:-python3}
wanted='@WANTED@'

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

command -v "$python" >/dev/null 2>&1 || fail "there is no $python here: set PYTHON to the path of $wanted"
found=$("$python" -c 'import platform, sys
print(platform.python_implementation(), "%d.%d" % sys.version_info[:2], "on", platform.system(), platform.machine())')
[ "$found" = "$wanted" ] || fail "these wheels are for $wanted, and $python is $found"
[ ! -e "$to" ] || fail "$to is there already: name a new folder"

"$python" - "$here" <<'CHECK' || fail "copy the folder again: what came is not what was sent"
import hashlib, pathlib, sys

here = pathlib.Path(sys.argv[1])
for line in (here / "SHA256SUMS").read_text().splitlines():
    wanted, _, name = line.partition("  ")
    file = here / name
    if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != wanted:
        sys.exit("install.sh: " + name + (" is damaged" if file.is_file() else " is missing"))
CHECK

trap 'rm -rf "$to"' EXIT
"$python" -m venv --without-pip "$to" || fail "$python cannot make a virtual environment in $to"
pip=$(echo "$here"/wheels/pip-*.whl)
"$to/bin/python" "$pip/pip" --isolated install --quiet --disable-pip-version-check --no-cache-dir \
    --no-index --no-deps --require-hashes --find-links "$here/wheels" --requirement "$here/requirements.txt" ||
    fail "pip could not install into $to, for the reason above; mend it, then run this again"
trap - EXIT
echo "installed: $to/bin/rocketlens --help"
