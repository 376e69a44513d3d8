#!/usr/bin/env bash
# pasted.sh PROJECT DOCUMENT SERVER: the block of DOCUMENT that starts a server and uses it by cbt does
# so, as it stands there, but for the directory and the port. server/run takes the program SERVER, and
# builds nothing.
#
# Ends with 77, for skipped, where cbt is not installed.
set -euo pipefail

project=$1 document=$2
export BIGTABLE_SERVER_PROGRAM=$3
command -v cbt > /dev/null || { echo "skipped: cbt is not installed" && exit 77; }

work=$(mktemp -d)
trap 'pkill -KILL -f "$work/served" || true; rm -rf "$work"' EXIT
export HOME=$work TZ=UTC  # what cbt has of its user
cd "$project"

fail() {
  echo "FAILED: $1" >&2
  cat "$work/block" "$work/output" "$work/errors" "$work/served.log" >&2 || true
  exit 1
}

# A port that nobody listens on, below those that the system gives to clients.
port=
while [[ -z $port ]] || (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do
  port=$((20000 + RANDOM % 10000))
done

# The first block that begins with server/run.
awk '/^```$/ { if (inside) exit; next } /^server\/run / { inside = 1 } inside' "$document" |
  sed "s|/tmp/served|$work/served|g; s|:8086|:$port|g" > "$work/block"
(($(wc -l < "$work/block") >= 4)) || fail "no block in $document starts a server and uses it"

timeout 60 bash -eu "$work/block" > "$work/output" 2> "$work/errors" || fail "exit code $?"
if grep -q '^cbt .* read ' "$work/block"; then
  diff - <(sed -E -e '/^ *$/d' -e '/serving/d' -e 's/@ .*/@ TIME/' "$work/output") << 'END' || fail "other rows"
----------------------------------------
com.cnn.www
  f:count                                  @ TIME
    "1"
END
fi
[[ -n $(ls "$work/served") ]] || fail "the database is elsewhere"

# The last line has ended the server.
for _ in {1..200}; do
  pgrep -f "$work/served " > /dev/null || exit 0
  sleep 0.1
done
fail "the server is still there"
