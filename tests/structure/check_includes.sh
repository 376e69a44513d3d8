#!/usr/bin/env bash
# check_includes.sh ROOT LAYER... -- COMPONENT[:SHARED,...]...: holds ROOT/include, ROOT/src and the
# components beside it to the order of the layers, which are named from the ground up. Prints each
# violation as file:line: reason, and fails if there is one.
#
#   src/LAYER/ includes itself, layers before it, "bigtable/...", and what is not ours.
#   include/bigtable/ includes "bigtable/...", Abseil and the standard library; of C's headers, those
#   that the C interface needs.
#   COMPONENT/ includes itself, layers, "bigtable/...", and what is not ours, also the C++ code of
#   protocol buffers and gRPC ("google/...", "grpcpp/...", "grpc/..."). The library does not
#   know it: neither COMPONENT/... nor bigtable/COMPONENT/... is included from src/, from
#   include/bigtable/ or from another component, unless that one names it as SHARED.
#   No header includes "cluster/environment.h", which has all that the servers of a process share: a
#   header includes what its own class uses, and so says what it depends on.
#   A header's guard is its path: src/base/coding.h has BIGTABLE_BASE_CODING_H_,
#   include/bigtable/row.h has BIGTABLE_ROW_H_, testing/fault_plan.h has
#   BIGTABLE_TESTING_FAULT_PLAN_H_.
#   The first include of name.cc is name.h, if there is one: so compiling name.cc shows that its
#   header is complete.
set -euo pipefail
export LC_ALL=C

cd "$1"
shift
layers=
while (($# > 0)) && [[ $1 != -- ]]; do
  layers+="$1 "
  shift
done
shift || true
components="$*"
folders=
for component in $components; do
  folders+="${component%%:*} "
done
failed=0

for folder in src/*/; do
  layer=$(basename "$folder")
  if [[ " $layers " != *" $layer "* ]]; then
    echo "src/$layer:1: no such layer; BIGTABLE_LAYERS in src/CMakeLists.txt says where it stands"
    failed=1
  fi
done
for file in src/*.h src/*.cc; do
  if [[ -e $file ]]; then
    echo "$file:1: belongs in a layer, src/<layer>/"
    failed=1
  fi
done

# shellcheck disable=SC2086,SC2016  # folders are words; the program is awk's
find include src $folders -name '*.h' -o -name '*.cc' | sort |
  xargs awk -v layers="$layers" -v components="$components" '
  function violation(line, reason) {
    printf "%s:%d: %s\n", FILENAME, line, reason
    failed = 1
  }
  # Whether `path` is of a component that neither has the file nor is shared with its component.
  function is_foreign(path,   step, name) {
    split(path, step, "/")
    name = step[1] == "bigtable" ? step[2] : step[1]
    if (!(name in is_component) || name == component) return 0
    if ((component, name) in is_shared) return 0
    violation(FNR, "\"" path "\" is of the component " name ", which is not known here")
    return 1
  }
  function check_first(path,   own, line) {
    own = FILENAME
    sub(/\.cc$/, ".h", own)
    if ((getline line < own) < 0) return
    close(own)
    sub(/^src\//, "", own)
    if (path != own) violation(FNR, "\"" own "\" should be included first")
  }
  function check_public(path, quoted) {
    if (top == "bigtable" || top == "absl") return
    if (quoted)
      violation(FNR, "\"" path "\" in a public header; only \"bigtable/...\" and Abseil")
    else if (path !~ /^([a-z_0-9]+|std(bool|def|int)\.h)$/)
      violation(FNR, "<" path "> in a public header; of system headers only the standard library")
  }
  function check_room(path, quoted) {
    if (component != "" && (top in floor || top in is_component)) return
    if (component != "" && (top == "google" || top == "grpcpp" || top == "grpc")) return
    if (top in floor) {
      if (!(layer in floor) || floor[top] > floor[layer])
        violation(FNR, "layer " layer " includes \"" path "\", but " top " is above it")
    } else if (quoted && top != "bigtable" && top != "absl" && top != "re2") {
      violation(FNR, "\"" path "\" names no layer; includes are written from src/ or include/")
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
    n = split(layers, names, " ")
    for (i = 1; i <= n; i++) floor[names[i]] = i
    n = split(components, names, " ")
    for (i = 1; i <= n; i++) {
      split(names[i], word, ":")
      is_component[word[1]] = 1
      shared = split(word[2], others, ",")
      for (j = 1; j <= shared; j++) is_shared[word[1], others[j]] = 1
    }
  }
  FNR == 1 {
    end_of_header()
    header = FILENAME ~ /\.h$/ ? FILENAME : ""
    found = ""
    found_line = 1
    includes = 0
    split(FILENAME, part, "/")
    public = part[1] == "include"
    layer = part[2]
    component = part[1] in is_component ? part[1] : ""
    if (public && part[3] in is_component) component = part[3]
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
    if (++includes == 1 && FILENAME ~ /\.cc$/) check_first(path)
    if (path == "cluster/environment.h" && header != "")
      violation(FNR, "\"" path "\" in a header; include the parts that the class uses")
    if (is_foreign(path)) next
    if (public) check_public(path, quoted); else check_room(path, quoted)
  }
  END {
    end_of_header()
    exit failed
  }
' || failed=1

exit $failed
