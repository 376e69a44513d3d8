#!/usr/bin/env bash
# check_includes.sh ROOT ROOM...: holds ROOT/include and ROOT/src to the order of the rooms, which
# are named from the ground up. Prints each violation as file:line: reason, and fails if there is
# one.
#
#   src/ROOM/ includes itself, rooms before it, "bigtable/...", and what is not ours.
#   include/bigtable/ includes "bigtable/...", Abseil and the standard library.
#   A header's guard is its path: src/base/coding.h has BIGTABLE_BASE_CODING_H_,
#   include/bigtable/row.h has BIGTABLE_ROW_H_.
set -euo pipefail
export LC_ALL=C

cd "$1"
shift
rooms="$*"
failed=0

for folder in src/*/; do
  room=$(basename "$folder")
  if [[ " $rooms " != *" $room "* ]]; then
    echo "src/$room:1: no such room; BIGTABLE_ROOMS in src/CMakeLists.txt says where it stands"
    failed=1
  fi
done
for file in src/*.h src/*.cc; do
  if [[ -e $file ]]; then
    echo "$file:1: belongs in a room, src/<room>/"
    failed=1
  fi
done

find include src -name '*.h' -o -name '*.cc' | sort | xargs awk -v rooms="$rooms" '
  function violation(line, reason) {
    printf "%s:%d: %s\n", FILENAME, line, reason
    failed = 1
  }
  function check_public(path, quoted) {
    if (top == "bigtable" || top == "absl") return
    if (quoted)
      violation(FNR, "\"" path "\" in a public header; only \"bigtable/...\" and Abseil")
    else if (path !~ /^[a-z_0-9]+$/)
      violation(FNR, "<" path "> in a public header; of system headers only the standard library")
  }
  function check_room(path, quoted) {
    if (top in floor) {
      if (!(room in floor) || floor[top] > floor[room])
        violation(FNR, "room " room " includes \"" path "\", but " top " is above it")
    } else if (quoted && top != "bigtable" && top != "absl" && top != "re2") {
      violation(FNR, "\"" path "\" names no room; includes are written from src/ or include/")
    }
  }
  # The guard is the first #ifndef.
  function end_of_header() {
    if (header == "") return
    guard = header
    sub(/^include\/bigtable\//, "", guard)
    sub(/^src\//, "", guard)
    gsub(/[^A-Za-z0-9]/, "_", guard)
    guard = "BIGTABLE_" toupper(guard) "_"
    if (found != guard) {
      printf "%s:%d: include guard should be %s\n", header, found_line, guard
      failed = 1
    }
  }

  BEGIN {
    n = split(rooms, name, " ")
    for (i = 1; i <= n; i++) floor[name[i]] = i
  }
  FNR == 1 {
    end_of_header()
    header = FILENAME ~ /\.h$/ ? FILENAME : ""
    found = ""
    found_line = 1
    split(FILENAME, part, "/")
    public = part[1] == "include"
    room = part[2]
  }
  found == "" && /^#ifndef / {
    found = $2
    found_line = FNR
  }
  /^[ \t]*#[ \t]*include[ \t]*["<]/ {
    quoted = $0 ~ /include[ \t]*"/
    path = $0
    sub(/^[^"<]*["<]/, "", path)
    sub(/[">].*$/, "", path)
    top = path
    if (!sub(/\/.*$/, "", top)) top = ""
    if (public) check_public(path, quoted); else check_room(path, quoted)
  }
  END {
    end_of_header()
    exit failed
  }
' || failed=1

exit $failed
