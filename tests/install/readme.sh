#!/usr/bin/env bash
# readme.sh PROJECT LIBDIR CXX CC DIRECTORY: the first programs of README.md and of docs/c.md, built in
# DIRECTORY as they say, print the same when they are run a second time.
set -euo pipefail

project=$1 libdir=$2 cxx=$3 cc=$4 directory=$5
export PKG_CONFIG_PATH=$libdir/pkgconfig
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"

# check DOCUMENT LANGUAGE SOURCE COMMAND COMPILER EXPECTED: COMMAND is how the document's build command
# begins.
check() {
  local document=$project/$1 language=$2 source=$3 command=$4 compiler=$5 expected=$6 line run output
  awk -v begin="^\`\`\`$language\$" '
    $0 ~ begin && !found { inside = found = 1; next } /^```$/ { inside = 0 } inside' "$document" |
    sed "s|/tmp/web|$directory/web|" > "$source"
  line=$(grep -F "\`$command $source " "$document" | sed "s/.*\`\($command $source [^\`]*\)\`.*/\1/")
  [[ $line == *pkg-config*rpath* ]] ||
    { echo "$document does not say how to build $source" >&2; exit 1; }
  eval "\"$compiler\" ${line#* } -o $source.bin"
  for run in first second; do
    output=$("./$source.bin" 2>&1)
    if [[ $output != "$expected" ]]; then
      echo "the $run run of $source printed: $output" >&2
      exit 1
    fi
  done
}

check README.md cpp web.cc "c++ -std=c++20" "$cxx" "com.cnn.www anchor:cnnsi.com CNN"
check docs/c.md c web.c "cc -std=c99" "$cc" "CNN"
