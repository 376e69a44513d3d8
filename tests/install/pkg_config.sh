#!/usr/bin/env bash
# pkg_config.sh shared|static LIBDIR CXX SOURCE PROGRAM: builds SOURCE as the manual of any library
# says, and runs it.
set -euo pipefail

kind=$1 libdir=$2 cxx=$3 source=$4 program=$5
export PKG_CONFIG_PATH=$libdir/pkgconfig
if [[ $kind == static ]]; then
  options=(-static)
  libraries=$(pkg-config --static --cflags --libs bigtable)
else
  options=()
  libraries=$(pkg-config --cflags --libs bigtable)
  export LD_LIBRARY_PATH=$libdir
fi
# shellcheck disable=SC2086  # words are what pkg-config prints
"$cxx" -std=c++20 "${options[@]}" "$source" -o "$program" $libraries
"$program"
