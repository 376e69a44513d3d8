#!/usr/bin/env bash
# from_c.sh EXPECTED [--last ARGUMENT] COMMAND...: an example in C, or in another language through
# the C interface. `COMMAND DIRECTORY [ARGUMENT]` prints testdata/EXPECTED, also when it is run again
# on the same database, and says what is wrong with a directory. An option is not taken for one.
set -euo pipefail

expected=$(dirname "${BASH_SOURCE[0]}")/testdata/$1
shift
last=()
if [[ $1 == --last ]]; then
  last=("$2")
  shift 2
fi
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

for _ in first second; do
  "$@" "$directory/db" "${last[@]}" > "$directory/output"
  diff -u "$expected" "$directory/output"
done

status=0
"$@" "$directory/nowhere/db" "${last[@]}" > /dev/null 2> "$directory/error" || status=$?
((status == 1))
grep -q 'error [0-9]*: .*nowhere/db' "$directory/error"

mkdir "$directory/empty"
cd "$directory/empty"
status=0
"$@" --help > /dev/null 2>&1 || status=$?
((status == 0 || status == 2))
[[ -z $(ls -A) ]]
