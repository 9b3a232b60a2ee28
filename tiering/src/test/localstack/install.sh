#!/usr/bin/env bash
# Installs LocalStack's S3 under tiering/target/localstack, for LocalStackIT where Docker isn't. What can't be installed is named; the test says so too.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../../../target/localstack
[ -e "$out/installed" ] && exit 0
mkdir -p "$out"
python3 -m venv "$out" && timeout 180 "$out/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt" >"$out/install.log" 2>&1 && touch "$out/installed"
[ -e "$out/installed" ] || echo "SKIPPED LocalStack: it could not be installed from its Python packages"
