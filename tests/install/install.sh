#!/usr/bin/env bash
# install.sh CMAKE BUILD_DIR PREFIX: installs the build somewhere else and moves it to PREFIX.
set -euo pipefail

cmake=$1 build=$2 prefix=$3
rm -rf "$prefix" "$prefix.before"
"$cmake" --install "$build" --prefix "$prefix.before"
if grep -rlIF "$build" "$prefix.before"; then
  echo "the files above name the directory they were built in" >&2
  exit 1
fi
mv "$prefix.before" "$prefix"
