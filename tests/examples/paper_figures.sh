#!/usr/bin/env bash
# paper_figures.sh PROGRAM: what it prints, the server's timestamps as <now>, is
# testdata/paper_figures.txt; run again on the same database, it has one more version of the anchor
# that Figure 2 writes.
set -euo pipefail

program=$1
expected=$(dirname "${BASH_SOURCE[0]}")/testdata/paper_figures.txt
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

for run in first second; do
  "$program" "$directory/db" | sed -E 's/ (t?)[0-9]{16} / \1<now> /' > "$directory/$run"
done

diff -u "$expected" "$directory/first"
diff -u "$directory/second" <(sed "$expected" \
  -e 's/^anchor:www.abc.com.*/&\nanchor:www.c-span.org t<now> CNN/' \
  -e 's/^com.cnn.www anchor:www.c-span.org.*/&\n&/')

# Without a directory: one of its own, which it names.
own=$(TMPDIR=$directory "$program" | sed -n 's/^The database is in //p')
[[ -d $own && $own == "$directory"/* ]]

status=0
"$program" one two 2> /dev/null || status=$?
((status == 2))
