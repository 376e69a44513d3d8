#!/usr/bin/env bash
# webtable.sh PROGRAM TEST [SERVER]: runs PROGRAM as the function TEST below does; CMakeLists.txt lists them.
# Exit 77: cannot be tested here.
set -euo pipefail

webtable=$1
server=${3-}
testdata=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/testdata
# shellcheck source=tests/support/servers.sh
. "$testdata/../../support/servers.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
database=$work/db
pages=$work/pages
output=$work/output      # what the program printed last
progress=$work/progress  # and its stderr

fail() {
  echo "FAILED: $1"
  echo "--- stdout"
  cat "$output"
  echo "--- stderr"
  cat "$progress"
  exit 1
} >&2

# run ARGUMENT...: must succeed.
run() {
  "$webtable" "$@" > "$output" 2> "$progress" || fail "exit code $? of: webtable $*"
}

# says TEXT: the last run's stdout has it.
says() {
  grep -qF -- "$1" "$output" || fail "does not say: $1"
}

# make_small_site: pages that link to one another, to themselves and away, in several directories;
# with bytes that no text has, and one with none.
make_small_site() {
  mkdir -p "$pages/manual/deep" "$pages/other"
  cat > "$pages/index.html" << 'END'
<!DOCTYPE html><html lang="en"><body>
<a href="manual/a.html">The  manual,
<b>page A</b></a> <a href="./manual/../manual/a.html#part">again A</a> <a href="manual/a.html">again A</a>
<a href="manual/deep/with%20space.htm"><img src="x.png" alt="A picture"></a>
<a href="#top">here</a> <a href="index.html?q=1">with a query</a>
<a href="HTTP://WWW.Example.ORG:80/away#x">away</a> <a href="mailto:someone@example.org">mail</a>
</body></html>
END
  cat > "$pages/manual/a.html" << 'END'
<html xml:lang="de"><a href="../index.html">Home</a> <a href="/docs/manual/b.html"></a>
<a href="//www.example.com/docs/other/empty.html">empty</a></html>
END
  printf '<p>B \000\001\377\r\n<a href=a.html>back to A' > "$pages/manual/b.html"
  printf '<base href="../"><a href="a.html">A from below</a>' > "$pages/manual/deep/with space.htm"
  : > "$pages/other/empty.html"
  echo 'no page' > "$pages/other/note.txt"
}

# make_large_site: 600 pages of 10 KiB.
make_large_site() {
  mkdir -p "$pages"
  awk -v directory="$pages" 'BEGIN {
    srand(1)
    for (page = 0; page < 600; ++page) {
      file = sprintf("%s/%03d.html", directory, page)
      printf "<html lang=en><p><a href=%03d.html>next</a> ", (page + 1) % 600 > file
      for (word = 0; word < 1500; ++word) printf "%06x ", int(rand() * 16777216) > file
      close(file)
    }
  }'
}

# Pages are stored byte by byte, links under the rows of their targets, whether those are pages of
# the site or not.
keeps_pages_and_anchors() {
  make_small_site
  run --base=https://www.example.com/docs "$database" "$pages"
  says "as https://www.example.com/docs/"
  says "no table yet, created it"
  says "Imported  5 pages and 9 anchors"
  says "5 pages read back, all bytes equal"
  diff -u "$testdata/webtable_scans.txt" \
    <(sed -n '/^Anchors of/,/^Random/p' "$output" | sed -E 's/ [0-9]{16} / <now> /') ||
    fail "scans differ"
  # A line for each tenth where there is no terminal.
  grep -q '^import 100%  5/5 pages' "$progress" || fail "no progress"

  run --quiet --limit=2 --base=https://www.example.com/docs "$database" "$pages"
  says "2 pages read back, all bytes equal"
  [[ ! -s $progress ]] || fail "not quiet"
}

# Each run is a crawl of its own; the table's collection rule keeps the three newest.
adds_a_version_with_each_run_and_keeps_three() {
  make_small_site
  local run
  for run in 1 2 3 4 5; do
    echo "<p>run $run</p>" > "$pages/index.html"
    run --durability=sync "$database" "$pages"
    says "5 pages read back, all bytes equal"
    says "$((run < 3 ? 5 * run : 15)) versions of 5 pages"
    case $run in
      1) says "no table yet" ;;
      2) says "1 version of localhost/index.html: 2" ;;
      3) says "2 versions of localhost/index.html: 2" ;;
      *) says "3 versions of localhost/index.html: 2" ;;
    esac
  done
}

# finds_acknowledged_pages: the last run found, as it began, whole pages as many as must be there.
finds_acknowledged_pages() {
  local found
  found=$(sed -nE 's/^Found .*, ([0-9]+) pages, every page whole$/\1/p' "$output")
  ((${found:-0} >= 150)) || fail "acknowledged pages are gone"
}

# kill_at TENTH: runs, and kills the program some milliseconds after that tenth of the import.
kill_at() {
  rm -f "$output" "$progress"
  : > "$progress"
  "$webtable" "$database" "$pages" > "$output" 2>> "$progress" &
  local pid=$! status=0
  until grep -q "^import  ${1}0%" "$progress" || ! kill -0 "$pid" 2> /dev/null; do
    sleep 0.005
  done
  sleep "0.0$((RANDOM % 90 + 10))"
  kill -KILL "$pid" 2> /dev/null || true
  wait "$pid" 2> /dev/null || status=$?
  ((status == 137 || status == 0)) || fail "exit code $status before the kill"
  killed+=("$status")
}

# Killed as by a crash, the table has all that was acknowledged, and no row by halves.
goes_on_after_a_kill_at_a_random_moment() {
  RANDOM=${BIGTABLE_TEST_SEED:-$$}
  echo "to see this again: BIGTABLE_TEST_SEED=${BIGTABLE_TEST_SEED:-$$}"
  make_large_site
  killed=()
  kill_at 5
  kill_at 1
  # Half of 600 pages in batches of 1 MiB: two batches at least were acknowledged.
  finds_acknowledged_pages
  for _ in 1 2 3; do
    kill_at $((RANDOM % 9 + 1))
    finds_acknowledged_pages
  done
  [[ " ${killed[*]} " == *" 137 "* ]] || fail "no run was killed before its end"

  run --quiet "$database" "$pages"
  finds_acknowledged_pages
  says "600 pages read back, all bytes equal"
}

# fails_with STATUS TEXT ARGUMENT...: exit code and stderr.
fails_with() {
  local expected=$1 text=$2 status=0
  shift 2
  "$webtable" "$@" > "$output" 2> "$progress" || status=$?
  ((status == expected)) || fail "exit code $status, not $expected, of: webtable $*"
  grep -qF -- "$text" "$progress" || fail "does not say: $text"
}

# Bad usage is 2, everything else that goes wrong 1.
says_what_is_wrong() {
  make_small_site
  fails_with 2 "needs DATABASE_DIRECTORY and PAGES_DIRECTORY"
  fails_with 2 "needs DATABASE_DIRECTORY and PAGES_DIRECTORY" one two three
  fails_with 2 "--durability=always: must be" --durability=always "$database" "$pages"
  fails_with 2 "--limit=-1: must not be negative" --limit=-1 "$database" "$pages"
  fails_with 2 "--base=ftp://x/: must be" --base=ftp://x/ "$database" "$pages"
  fails_with 2 "Unknown command line flag 'nonsense'" --nonsense "$database" "$pages"
  run --help
  says "DATABASE_DIRECTORY PAGES_DIRECTORY"
  fails_with 1 "$work/nowhere" "$database" "$work/nowhere"
  mkdir "$work/none"
  fails_with 1 "$work/none: no files *.html or *.htm" "$database" "$work/none"
  fails_with 1 "nowhere/db" "$work/nowhere/db" "$pages"
  [[ ! -e $database ]] || fail "created a database for nothing"
}

# Of the report, what does not depend on the time, the machine and where the table is.
without_measurements() {
  grep -vE '^(Database|Compacted|Imported)|full scan|on disk|  du |ratio|mean|p50|p99' "$output" |
    sed -E 's/[0-9]{16}/TIME/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+/TIME/g'
}

# compare_reports RUNS: after each run the server that has been started, which is empty, gives the
# same report as a directory does.
compare_reports() {
  local run
  trap 'kill "$server_pid"; wait "$server_pid" || true; rm -rf "$work"' EXIT
  make_small_site
  for ((run = 1; run <= $1; ++run)); do
    run --random_reads=100 "$database" "$pages"
    without_measurements > "$work/embedded"
    run --random_reads=100 "--connect=$server_address" "$pages"
    says "all bytes equal"
    without_measurements > "$work/remote"
    diff "$work/embedded" "$work/remote" || fail "another report from the server, run $run"
  done
}

reports_the_same_from_a_server() {
  start_server "$work/log" "$server" "$work/served"
  compare_reports 4
  fails_with 2 "with --connect needs PAGES_DIRECTORY" "--connect=$server_address" "$database" "$pages"
}

# Google's emulator, where it is installed. It collects garbage once in a while, and not at once
# (docs/remote.md), so there are no more runs than the table keeps versions.
reports_the_same_from_the_emulator() {
  find_emulator > /dev/null || exit 77
  start_emulator "$work/log"
  compare_reports 3
}

# The pages that examples/run imports, if they are here: a part of them, since all take a while.
reads_the_manual_of_postgresql() {
  local manual
  manual=$(compgen -G '/usr/share/doc/postgresql-doc-[0-9]*/html' | tail -n 1) || exit 77
  [[ -e $manual/index.html ]] || exit 77
  run --limit=200 "$database" "$manual"
  says "as https://www.postgresql.org/docs/"
  says "200 pages read back, all bytes equal"
  says "First rows of the prefix org.postgresql.www/docs/"
}

"$2"
