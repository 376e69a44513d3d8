#!/usr/bin/env bash
# check_symbols.sh NM HEADER tested|exported FILE...: the functions that HEADER declares are exactly
# those that the object files of the tests call, or exactly what a shared library exports for C.
set -euo pipefail
export LC_ALL=C

nm=$1 header=$2 what=$3
shift 3
declared=$(sed 's|//.*||' "$header" | grep -oE '\<bigtable_[a-z0-9_]+\(' | tr -d '(' | sort -u)
if [[ $what == tested ]]; then
  found=$("$nm" --undefined-only --format=just-symbols "$@" | grep '^bigtable_' | sort -u)
else
  # _Z begins the names of C++.
  found=$("$nm" --dynamic --defined-only --format=just-symbols "$@" | grep -v '^_Z' | sort -u)
fi
if (($(wc -l <<< "$declared") < 100)); then
  echo "found only these functions in $header: $declared" >&2
  exit 1
fi
if ! diff <(echo "$declared") <(echo "$found"); then
  echo "< is declared but not $what; > is $what but not declared" >&2
  exit 1
fi
