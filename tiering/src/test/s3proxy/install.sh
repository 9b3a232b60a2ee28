#!/usr/bin/env bash
# Installs S3Proxy under tiering/target/s3proxy, for S3ProxyIT. What can't be installed is named; the test says so too.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../../..
out=$here/../../../target/s3proxy
[ -e "$out/installed" ] && exit 0
mkdir -p "$out"
timeout 300 "$root/mvnw" -q -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$(cd "$out" && pwd)/lib" >"$out/install.log" 2>&1 && touch "$out/installed"
[ -e "$out/installed" ] || echo "SKIPPED S3Proxy: it could not be installed from Maven's repository"
