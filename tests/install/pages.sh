#!/usr/bin/env bash
# pages.sh PROJECT PAGE LIBDIR CXX DIRECTORY [PACKAGE]: the programs of PAGE, pasted into files by the names in
# their first lines, built as docs/quickstart.md says, with PACKAGE instead of the one there, and run in
# the order of the page, print what stands below each. Every block of C++ has a name, so none is left out.
set -euo pipefail

project=$1 page=$2 libdir=$3 cxx=$4 directory=$5 package=${6-bigtable}
export PKG_CONFIG_PATH=$libdir/pkgconfig
rm -rf "$directory"
mkdir -p "$directory/tmp"
cd "$directory"

# A block of C++ is a file; a block of text below it is what the program prints.
awk '
  inside && /^```$/ { inside = 0; next }
  inside { print > file; next }
  /^```cpp$/ {
    if ((getline title) <= 0 || title !~ /^\/\/ [a-z_]+\.(cc|h)$/) {
      print FILENAME ": line " FNR ": a block of C++ does not begin with its name" > "/dev/stderr"
      exit 1
    }
    name = file = substr(title, 4)
    if (name ~ /\.cc$/) { print name > "programs"; printf "" > (name ".expected") }
    inside = 1
    next
  }
  /^```text$/ { file = name ".expected"; inside = 1 }
' "$project/$page"
[[ -s programs ]] || { echo "$page has no program" >&2; exit 1; }

example=schema
line=$(grep -m 1 -F "c++ -std=c++20 $example.cc -o $example " "$project/docs/quickstart.md") ||
  { echo "docs/quickstart.md does not say how to build $example.cc" >&2; exit 1; }
shopt -s nullglob
sed -i "s|\"/tmp/|\"$directory/tmp/|" ./*.cc ./*.h
while read -r source; do
  program=${source%.cc}
  command=${line//"$example"/"$program"}
  command=${command/--libs bigtable/--libs "$package"}
  eval "\"$cxx\" ${command#* }"
  if ! "./$program" > "$source.actual" 2>&1 || ! diff "$source.expected" "$source.actual" >&2; then
    echo "$page: $source prints:" >&2
    cat "$source.actual" >&2
    exit 1
  fi
done < programs
