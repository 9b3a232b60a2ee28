#!/usr/bin/env bash
# Installs what the client programs need under itest/target/clients, each where its runtime is. What can't be installed is named and left
# out; the test that would have used it says so too.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../target/clients
mkdir -p "$out"

skip() { echo "SKIPPED clients of $1: $2"; }

if command -v python3 >/dev/null; then
  [ -x "$out/python/bin/python" ] || python3 -m venv "$out/python" || skip python "no venv module"
  "$out/python/bin/pip" install -q --disable-pip-version-check -r "$here/python/requirements.txt" || skip python "pip failed"
else
  skip python "no python3"
fi

if command -v npm >/dev/null; then
  cp "$here"/js/package*.json "$here"/js/*.mjs "$out" && (cd "$out" && npm ci --no-audit --no-fund --silent) || skip node "npm failed"
else
  skip node "no npm"
fi

if command -v go >/dev/null; then
  for program in franz sarama; do
    (cd "$here/go/$program" && go build -o "$out/$program" .) || skip "go ($program)" "go build failed"
  done
else
  skip go "no go"
fi

# A Connect worker, and Spring Kafka; their many jars stay out of the build.
for program in connect spring; do
  if [ ! -d "$out/$program" ]; then
    "$here/../../mvnw" -q -B -ntp -f "$here/$program/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$out/$program.new" &&
      mv "$out/$program.new" "$out/$program" || skip "$program" "Maven could not fetch it"
  fi
done
