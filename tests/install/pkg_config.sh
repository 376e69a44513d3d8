#!/usr/bin/env bash
# pkg_config.sh PACKAGE shared|static LIBDIR CXX SOURCE PROGRAM: builds SOURCE with PACKAGE as the
# manual of any library says, and runs it.
set -euo pipefail

package=$1 kind=$2 libdir=$3 cxx=$4 source=$5 program=$6
export PKG_CONFIG_PATH=$libdir/pkgconfig
if [[ $kind == static ]]; then
  options=(-static)
  libraries=$(pkg-config --static --cflags --libs "$package")
else
  options=()
  libraries=$(pkg-config --cflags --libs "$package")
  export LD_LIBRARY_PATH=$libdir
fi
# shellcheck disable=SC2086  # words are what pkg-config prints
"$cxx" -std=c++20 "${options[@]}" "$source" -o "$program" $libraries
"$program"
