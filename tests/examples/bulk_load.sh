#!/usr/bin/env bash
# bulk_load.sh PROGRAM: what the program prints.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
"$1" "$directory" 10000 > "$directory/out"
diff - "$directory/out" << 'END'
10000 cells in 1 files are there
page000000001: page 1
page000000002: after
page000009999: page 9999
END
[[ -z $(ls "$directory/load") ]]
