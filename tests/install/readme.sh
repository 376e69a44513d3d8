#!/usr/bin/env bash
# readme.sh README LIBDIR CXX DIRECTORY: the program in the README, built in DIRECTORY as the README
# says, prints the same when it is run a second time.
set -euo pipefail

readme=$1 libdir=$2 cxx=$3 directory=$4
export PKG_CONFIG_PATH=$libdir/pkgconfig
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"
awk '/^```cpp$/ && !found { inside = found = 1; next } /^```$/ { inside = 0 } inside' "$readme" |
  sed "s|/tmp/web|$directory/web|" > web.cc
command=$(grep -o 'c++ -std=c++20 web\.cc [^`]*' "$readme")
[[ $command == *pkg-config*rpath* ]] || { echo "README does not say how to build" >&2; exit 1; }
eval "${command/#c++/\"$cxx\"} -o web.bin"
expected="com.cnn.www anchor:cnnsi.com CNN"
for run in first second; do
  output=$(./web.bin 2>&1)
  if [[ $output != "$expected" ]]; then
    echo "the $run run printed: $output" >&2
    exit 1
  fi
done
