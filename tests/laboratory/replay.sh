#!/usr/bin/env bash
# replay.sh EXAMPLE REPLAY DIRECTORY: the calls that examples/recorded_calls.cc records, made again as
# bench/replay/run makes them; and what it says of bad arguments.
set -euo pipefail

example=$1 replay=$2 directory=$3
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"

fail() {
  echo "$1" >&2
  exit 1
}

"$example" calls > report
grep -qx '2000 writes' report || fail "the example has not recorded its writes"
"$replay" calls --describe > described
grep -Eq '^Apply +2000 +0 +2000 ' described || fail "--describe does not count the calls"

"$replay" calls --styles size_tiered,leveled:4 --compression zstd --repeats 2 --csv out.csv \
  --directory . > out
(($(wc -l < out.csv) == 5)) || fail "out.csv does not have four lines"
# policy,repeat,calls,skipped,...,recorded_rows,rows
awk -F, 'NR > 1 && ($3 != 3000 || $4 != 0 || $(NF - 1) != 1000 || $NF != 1000)' out.csv > wrong
[[ ! -s wrong ]] || fail "not all calls are made, or not all rows found: $(cat wrong)"

"$replay" calls --calls 10 --threads 2 --directory . > out
grep -q '^recorded  *10 ' out || fail "--calls 10 does not make ten calls"

# bad NAME ARGUMENT...: exits with 2 and names it.
bad() {
  local status=0
  "$replay" "${@:2}" > /dev/null 2> error || status=$?
  ((status == 2)) || fail "${*:2}: exits with $status"
  grep -q -e "$1" error || fail "${*:2}: $(cat error) does not name $1"
}
bad recording
bad --speed calls --speed 2000 --directory .
bad --compression calls --compression gzip --directory .
bad --directory calls --styles leveled
bad compaction calls --styles sideways --directory .
bad '--policy nothing.so' calls --policy nothing.so --directory .
for pair in memtable:0 memory:2000000 block:20000 threads:0 servers:300 repeats:0; do
  bad "${pair%:*}" calls "--${pair%:*}" "${pair#*:}" --directory .
done

head -c 100 calls > part.calls
"$replay" part.calls --describe > described
grep -q 'not finished' described || fail "a recording that is cut off is taken for a whole one"
status=0
"$replay" "$0" --describe > /dev/null 2> error || status=$?
((status == 1)) || fail "a file that is no recording: exits with $status"
grep -q 'is not a recording' error || fail "$(cat error)"
[[ -z $(ls -d replay* 2> /dev/null) ]] || fail "databases are left"
