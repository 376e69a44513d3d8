#!/usr/bin/env bash
# page.sh PROJECT BENCHMARKS POLICIES SIMULATE CXX DIRECTORY: the policy of docs/laboratory.md, compiled
# as the page says, runs in the comparison of policies, and so do those of papers; and the commands of
# the page simulate.
set -euo pipefail

project=$1 benchmarks=$2 policies=$3 simulate=$4 cxx=$5 directory=$6
page=$project/docs/laboratory.md
rm -rf "$directory"
mkdir -p "$directory/databases"
cd "$directory"

awk '/^```cpp$/ { inside = 1; next } inside && /^```$/ { exit } inside' "$page" > fours.cc
[[ -s fours.cc ]] || { echo "$page has no policy" >&2; exit 1; }
line=$(grep -m 1 '^c++ .* fours.cc ' "$page") ||
  { echo "$page does not say how to build the policy" >&2; exit 1; }
line=${line/-I include/-I "$project/include"}
eval "\"$cxx\" ${line#* }"

# Rows that are lost fail it.
"$benchmarks" --lockstep --rows 1000 --samples 3 --workloads overwrite,deletes \
  --policy "$directory/fours.so,$policies" --styles fours,lazy_leveling:3,size_tiered \
  --csv out.csv --directory "$directory/databases"
for policy in fours lazy_leveling lethe monkey size_tiered; do
  grep -q "^overwrite,$policy," out.csv || { echo "out.csv has no lines of $policy" >&2; exit 1; }
done

# Each command of the page, for a few flushes.
count=0
while read -r command; do
  # shellcheck disable=SC2086  # words of a command
  "$simulate" ${command#*simulate } --gigabytes 0 --flushes 20 > simulated.csv
  (($(wc -l < simulated.csv) > 1)) || { echo "$command prints no line" >&2; exit 1; }
  count=$((count + 1))
done < <(grep -E '^(build/release/bench/policies/)?simulate --' "$page")
((count >= 3)) || { echo "$page has $count commands that simulate" >&2; exit 1; }
