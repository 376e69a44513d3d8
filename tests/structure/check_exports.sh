#!/usr/bin/env bash
# check_exports.sh NM INCLUDE SHARED STATIC: the shared library exports of C++ what the headers in
# INCLUDE/bigtable mark with BIGTABLE_EXPORT, and nothing else; each function that is marked has a
# symbol; and no class of these headers has a function of the static library that is not exported. (tests/c/
# check_symbols.sh does this for C.) Headers in folders below are of libraries of their own.
set -euo pipefail
export LC_ALL=C

nm=$1 include=$(realpath "$2") shared=$(realpath "$3") static=$(realpath "$4")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

# What is marked, and the classes that are declared: the names. A function may go over several lines.
headers=("$include"/bigtable/*.h)
sed 's|//.*||' "${headers[@]}" | tr '\n' ' ' | tr ';{}' '\n' |
  sed -nE 's/^ *BIGTABLE_EXPORT [^(]*\b(\w+)\(.*/\1/p' | sort -u > functions
sed -nE 's/^(class|struct) BIGTABLE_EXPORT (\w+).*/\2/p' "${headers[@]}" |
  sort -u - functions > marked
sed -nE 's/^(class|struct) (BIGTABLE_EXPORT )?(\w+).*\{.*/\3/p' "${headers[@]}" | sort -u > classes
(($(wc -l < marked) >= 40 && $(wc -l < classes) >= 60)) ||
  { echo "found only $(wc -l < marked) names in $include that are marked" >&2; exit 1; }

# names FILE: each symbol of C++ in the output of nm, behind the name in namespace bigtable that it
# belongs to, or behind "?". A function that is a template has its result before its name.
prefix='((guard variable|vtable|VTT|typeinfo|typeinfo name|TLS (init|wrapper) function) for '
prefix+='|(non-)?(virtual|covariant return) thunk to )?'
names() {
  sed -E 's/^[0-9a-f]* +//; /^[A-Za-z] bigtable_/d' "$1" |
    sed -nE "s/^[A-Za-z] $prefix([^(]* )?bigtable::(\w+).*/\7 &/p; t; s/^[A-Za-z] /? &/p"
}
"$nm" --dynamic --defined-only --demangle "$shared" > dynamic
names dynamic | sort -u > exported
# Those with one definition, in the library. What is inline is in whoever uses it.
"$nm" --defined-only --demangle --extern-only "$static" 2> messages |
  grep -E "^[0-9a-f]+ [TDBR] ${prefix}bigtable::" > defined || { cat messages >&2; exit 1; }
names defined | sort -u > in_library

status=0
complain() {
  if [[ -s $1 ]]; then
    echo "$2" >&2
    head -n 20 "$1" >&2
    status=1
  fi
}
awk 'NR == FNR { marked[$1]; next } !($1 in marked)' marked exported > surplus
complain surplus "exported, but not marked with BIGTABLE_EXPORT in include/bigtable:"
awk 'NR == FNR { found[$1]; next } !($1 in found)' exported functions > without
complain without "marked with BIGTABLE_EXPORT, but the library exports nothing of it:"
comm -12 classes <(cut -d ' ' -f 1 in_library | sort -u) | comm -23 - marked > unmarked
complain unmarked "the library has functions of these classes of include/bigtable, which are not marked:"
symbols() { sed -E 's/^\S+ [A-Za-z] //' "$1" | sort -u; }
awk 'NR == FNR { class[$1]; next } $1 in class' marked in_library |
  awk 'NR == FNR { is_function[$1]; next } !($1 in is_function)' functions - > of_classes
comm -23 <(symbols of_classes) <(symbols exported) > missing
complain missing "functions of classes of include/bigtable that are not exported:"
echo "$(wc -l < dynamic) symbols, of $(wc -l < marked) names"
exit "$status"
