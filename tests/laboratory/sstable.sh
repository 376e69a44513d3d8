#!/usr/bin/env bash
# sstable.sh PROJECT SSTABLE_SPEED CANDIDATES DIRECTORY: what sstable_speed prints of lists of
# arguments, what it says of bad ones, and that docs/performance.md names its columns and has commands
# that run.
set -euo pipefail

project=$1 speed=$2 candidates=$3 directory=$4
page=$project/docs/performance.md
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"

fail() {
  echo "$1" >&2
  exit 1
}

# The values of a column in the lines whose first columns are as given.
column() {  # column CSV NAME [COLUMN=VALUE]...
  awk -F, -v name="$2" -v wanted="${*:3}" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; n = split(wanted, conditions, " "); next }
    {
      for (i = 1; i <= n; ++i) {
        split(conditions[i], condition, "=")
        if ($at[condition[1]] != condition[2]) next
      }
      print $at[name]
    }' "$1"
}
# Fails unless there are such values, all from LEAST to MOST.
expect() {  # expect LEAST MOST CSV NAME [COLUMN=VALUE]...
  column "${@:3}" | awk -v least="$1" -v most="$2" '
    $1 == "" || $1 < least || $1 > most { bad = 1 }
    END { exit bad || NR == 0 }' || fail "${*:3}: not from $1 to $2: $(column "${@:3}" | tr '\n' ' ')"
}

# A level without compression, and bits without a Bloom filter, change nothing: 2 * 3 * 5 files.
"$speed" --rows=1000,20000 --compression=none,zstd --level=1,3 --filter=none,row,row_index \
  --bits=6,9..10 --reads=20000 --repeats=2 --csv=out.csv > out.txt
(($(wc -l < out.csv) == 1 + 2 * 30)) || fail "out.csv has $(wc -l < out.csv) lines"
(($(grep -c '^| [0-9]' out.txt) == 2 * 30)) || fail "the tables have not a line for each file"
expect 100 100 out.csv false_positives_percent filter=none
expect 0 0.1 out.csv false_positives_percent filter=row_index
expect 4.5 6.5 out.csv false_positives_percent rows=20000 bits=6
expect 0.7 1.2 out.csv false_positives_percent rows=20000 bits=10
expect 120 150 out.csv row_bytes compression=none rows=20000
expect 50 70 out.csv row_bytes compression=zstd rows=20000
expect 24 28 out.csv filter_kb bits=10 rows=20000
[[ -z $(column out.csv cache_hits_percent compression=none | tr -d '\n') ]] ||
  fail "blocks that are read in place count in the cache"
for name in get_us get_p50_us get_p99_us missing_us build_mrows_s first_scan_mrows_s scan_mrows_s; do
  expect 0.001 100000 out.csv "$name"
done

# A cache that is larger than the 14 MB of blocks, and one that is smaller.
"$speed" --rows=100000 --compression=zstd --memory=8,64 --reads=20000 --csv=cache.csv > out.txt
expect 100 100 cache.csv cache_hits_percent memory=64
expect 30 90 cache.csv cache_hits_percent memory=8

# Each bad argument is refused by its name and value.
for bad in --rows=999 --value=0 --block=x --compression=lz4 --level=20 --filter=bloom --bits=5..33 \
  --bits=9..5 --read_mode=direct --memory=7 --reads=0 --repeats=0 --csv=/nowhere/x.csv; do
  status=0
  "$speed" "$bad" 2> error.txt > out.txt || status=$?
  ((status == 2)) || fail "$bad ends with $status"
  flag=${bad%%=*} value=${bad#*=}
  grep -q -e "$flag\b.*" error.txt || fail "the error of $bad does not name the flag: $(cat error.txt)"
  grep -qF -e "${value##*..}" error.txt || fail "the error of $bad does not name the value"
done

# The page.
for name in $(head -n 1 out.csv | tr , ' '); do
  grep -qF "\`$name\`" "$page" || fail "$page does not describe the column $name"
done
count=0
while read -r command; do
  # shellcheck disable=SC2086  # words of a command
  "$speed" ${command#bench/sstable/run} --rows=1000 --reads=100 --repeats=1 > out.txt
  count=$((count + 1))
done < <(grep -E '^bench/sstable/run' "$page" | sed -E 's/ --(csv|plot) [^ ]+//g')
((count >= 2)) || fail "$page has $count commands"

"$candidates" --keys=1000,20000 --sets= --bits=8,10 --lookups=1000 > out.txt
(($(grep -c '^| digits' out.txt) == 2 * (7 + 2))) || fail "candidates has not a line for each kind"
