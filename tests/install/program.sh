#!/usr/bin/env bash
# program.sh BINDIR COMPLETION MANUAL DOCUMENT DIRECTORY: the installed program works as the document
# shows it: the commands of its session, pasted into a shell, print what stands below them.
set -euo pipefail

bindir=$1 completion=$2 manual=$3 document=$4 directory=$5
export PATH=$bindir:$PATH
bigtable --version | grep -qE '^bigtable [0-9]+\.[0-9]+'
bash -c '. "$1" && complete -p bigtable' - "$completion" > /dev/null

grep -q '^\.TH BIGTABLE 1 ' "$manual"

rm -rf "$directory"
mkdir -p "$directory"
session=$(awk '/^```console$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$document")
commands=$(sed -n 's/^\$ //p' <<< "$session" | sed "s|/tmp/web-cli|$directory/web|")
expected=$(grep -v '^\$ ' <<< "$session" || true)
[[ -n $commands && -n $expected ]] || { echo "$document has no session" >&2; exit 1; }
actual=$(cd "$directory" && bash -euc "$commands" 2>&1)
diff <(echo "$expected") <(echo "$actual")
