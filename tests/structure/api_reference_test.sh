#!/usr/bin/env bash
# The API reference is built without a warning, has what the headers say, and a class or function
# without a comment is an error.
#
#   api_reference_test.sh PROJECT
set -euo pipefail

project=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "api_reference_test.sh: $1" >&2
  exit 1
}

"$project/docs/run" "$work/reference" > "$work/output"
index=$(cat "$work/output")
[[ $index == "$work/reference/html/index.html" && -f $index ]] || fail "no first page: $index"
grep -q "Applies the mutation atomically" "$work/reference/html/classbigtable_1_1Table.html" ||
  fail "the comment of Table::Apply is missing"
grep -q "bigtable_table_apply" "$work/reference/html/c_8h.html" || fail "the C interface is missing"

# A copy with a class, and then a function, without a comment.
mkdir "$work/copy"
cp -r "$project/docs" "$project/include" "$project/cmake" "$project/README.md" "$work/copy"
expect_error() {  # expect_error TEXT
  if "$work/copy/docs/run" "$work/bad" > /dev/null 2> "$work/errors"; then
    fail "$1: no error"
  fi
  grep -q "$1" "$work/errors" || fail "the error does not name $1: $(cat "$work/errors")"
}
clock=$work/copy/include/bigtable/clock.h
sed -i 's|^// Thread-safe. May jump.*||' "$clock"
expect_error 'bigtable::Clock is not documented'
cp "$project/include/bigtable/clock.h" "$clock"
sed -i 's|^  static Clock\* System();|&\n\n  absl::Time Later(absl::Duration by);|' "$clock"
expect_error 'Later(absl::Duration by)'
