#!/usr/bin/env bash
# readme.sh README LIBDIR CXX CC DIRECTORY: the first programs in C++ and in C of the README, built
# in DIRECTORY as the README says, print the same when they are run a second time.
set -euo pipefail

readme=$1 libdir=$2 cxx=$3 cc=$4 directory=$5
export PKG_CONFIG_PATH=$libdir/pkgconfig
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"

# check LANGUAGE SOURCE COMMAND COMPILER EXPECTED: COMMAND is how the README's build command begins.
check() {
  local language=$1 source=$2 command=$3 compiler=$4 expected=$5 line run output
  awk -v begin="^\`\`\`$language\$" '
    $0 ~ begin && !found { inside = found = 1; next } /^```$/ { inside = 0 } inside' "$readme" |
    sed "s|/tmp/web|$directory/web|" > "$source"
  line=$(grep -F "\`$command $source " "$readme" | sed "s/.*\`\($command $source [^\`]*\)\`.*/\1/")
  [[ $line == *pkg-config*rpath* ]] ||
    { echo "README does not say how to build $source" >&2; exit 1; }
  eval "\"$compiler\" ${line#* } -o $source.bin"
  for run in first second; do
    output=$("./$source.bin" 2>&1)
    if [[ $output != "$expected" ]]; then
      echo "the $run run of $source printed: $output" >&2
      exit 1
    fi
  done
}

check cpp web.cc "c++ -std=c++20" "$cxx" "com.cnn.www anchor:cnnsi.com CNN"
check c web.c "cc -std=c99" "$cc" "CNN"
