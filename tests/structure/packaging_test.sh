#!/usr/bin/env bash
# packaging_test.sh PROJECT VERSION: the recipes of packaging/ can be read, and have this version.
set -euo pipefail

packaging=$1/packaging version=$2
python3 - "$packaging" "$version" << 'END'
import ast, json, sys
packaging, version = sys.argv[1:]
port = json.load(open(packaging + "/vcpkg/vcpkg.json"))
if port["version"] != version:
    sys.exit(f"packaging/vcpkg/vcpkg.json: version {port['version']}, and the project has {version}")
for recipe in ("conanfile.py", "test_package/conanfile.py"):
    ast.parse(open(f"{packaging}/conan/{recipe}").read(), recipe)
END
bash -n "$packaging/debian/run"
