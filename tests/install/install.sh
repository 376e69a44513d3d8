#!/usr/bin/env bash
# install.sh CMAKE BUILD_DIR PREFIX: installs the build somewhere else and moves it to PREFIX.
set -euo pipefail

cmake=$1 build=$2 prefix=$3
rm -rf "$prefix" "$prefix.before"
"$cmake" --install "$build" --prefix "$prefix.before"
# Only the unit names a folder: that of the program that it starts.
unit=$prefix.before/lib/systemd/system/bigtable-server.service
if [[ -e $unit ]]; then
  program=$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$unit")
  if [[ ! -x $program || $program != "$prefix.before/"* ]]; then
    echo "$unit starts $program" >&2
    exit 1
  fi
fi
if grep -rlIF --exclude=bigtable-server.service "$build" "$prefix.before"; then
  echo "the files above name the directory they were built in" >&2
  exit 1
fi
mv "$prefix.before" "$prefix"
