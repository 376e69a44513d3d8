#!/usr/bin/env bash
# install.sh PYTHON PACKAGE DIRECTORY: pip installs a copy of the package into DIRECTORY, without a
# network, and the twenty lines of its README run. Status 77: pip or setuptools is missing.
set -euo pipefail

python=$1 package=$2 directory=$3

unset PYTHONPATH
# Debian's has the modules if the packages are installed, whichever Python CMake has found.
for candidate in "$python" /usr/bin/python3 none; do
  if "$candidate" -c 'import setuptools, wheel, pip' 2> /dev/null; then break; fi
done
if [[ $candidate == none ]]; then
  echo "pip, setuptools or wheel is missing: not tested"
  exit 77
fi
python=$candidate
rm -rf "$directory"
mkdir -p "$directory"
cp -r "$package" "$directory/package"
"$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-index \
  --target "$directory/site" "$directory/package"
[[ -e $directory/site/bigtable/py.typed ]]

# shellcheck disable=SC2016  # the backquotes are those of Markdown
sed -n '/^```python$/,/^```$/p' "$package/README.md" | sed '/^```/d' > "$directory/program.py"
cd "$directory"
TMPDIR=$directory PYTHONPATH=$directory/site "$python" -X dev program.py > output
diff output - << 'END'
b'com.cnn.www' b'anchor:cnnsi.com' b'CNN'
b'com.cnn.www' b'contents:' b'<html>'
visits: 1
END
