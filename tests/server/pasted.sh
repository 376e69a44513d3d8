#!/usr/bin/env bash
# pasted.sh PROJECT DOCUMENT SERVER: the block of DOCUMENT that starts a server and uses it by cbt does
# so, as it stands there. Its first line runs until it has printed the second one, with the port; then
# the others are pasted. server/run takes the program SERVER, and builds nothing.
#
# Ends with 77, for skipped, where cbt is not installed.
set -euo pipefail

project=$1 document=$2
export BIGTABLE_SERVER=$3
command -v cbt > /dev/null || { echo "skipped: cbt is not installed" && exit 77; }

work=$(mktemp -d)
server_pid=
trap '[[ -z $server_pid ]] || kill "$server_pid" 2> /dev/null || true; wait; rm -rf "$work"' EXIT
export HOME=$work TZ=UTC  # what cbt has of its user
cd "$project"

fail() {
  echo "FAILED: $1" >&2
  cat "$work/server" >&2
  exit 1
}

# The first block that begins with server/run, in a directory of this test.
awk '/^```$/ { if (inside) exit; next } /^server\/run / { inside = 1 } inside' "$document" |
  sed "s|/tmp/served|$work/served|" > "$work/block"
mapfile -t lines < "$work/block"
((${#lines[@]} >= 3)) || fail "no block in $document starts a server and uses it"

bash -c "exec ${lines[0]}" > "$work/server" 2>&1 &
server_pid=$!
next=
for _ in {1..600}; do
  next=$(sed -n 's/^  connect: //p' "$work/server")
  [[ -z $next ]] || break
  kill -0 "$server_pid" 2> /dev/null || break
  sleep 0.05
done
[[ $(sed -E 's/:[0-9]+$/:PORT/' <<< "$next") == "${lines[1]}" ]] ||
  fail "the server prints another line than the document: $next"

printf '%s\n' "$next" "${lines[@]:2}" > "$work/pasted"
timeout 60 bash -eu "$work/pasted" > "$work/output" 2> "$work/errors" ||
  fail "exit code $? of the commands: $(cat "$work/errors")"
if grep -q '^cbt .* read ' "$work/block"; then
  diff - <(sed -E -e '/^ *$/d' -e 's/@ .*/@ TIME/' "$work/output") << 'END' || fail "other rows"
----------------------------------------
com.cnn.www
  f:count                                  @ TIME
    "1"
END
fi
[[ -n $(ls "$work/served") ]] || fail "the database is elsewhere"

kill -INT "$server_pid"  # Ctrl-C
status=0
wait "$server_pid" || status=$?
server_pid=
((status == 0)) || fail "the server ended with $status"
