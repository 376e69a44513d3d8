#!/usr/bin/env bash
# check_includes.sh finds every violation in a small tree, with file and line, and nothing else.
set -euo pipefail

check=$(cd "$(dirname "$0")" && pwd)/check_includes.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# file PATH, contents on stdin
file() {
  mkdir -p "$tree/$(dirname "$1")"
  cat > "$tree/$1"
}

# What is allowed.
file include/bigtable/row.h << 'END'
#ifndef BIGTABLE_ROW_H_
#define BIGTABLE_ROW_H_
#include <string_view>
#include "absl/status/status.h"
#include "bigtable/cell.h"
#endif
END
file include/bigtable/c.h << 'END'
#ifndef BIGTABLE_C_H_
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif
END
file src/base/coding.h << 'END'
#ifndef BIGTABLE_BASE_CODING_H_
#define BIGTABLE_BASE_CODING_H_
#include <sys/mman.h>
#include <zstd.h>
#include "re2/re2.h"
#include "bigtable/row.h"
#endif
END
file src/sstable/block.h << 'END'
#ifndef BIGTABLE_SSTABLE_BLOCK_H_
#endif
END
file src/sstable/block.cc << 'END'
// #include "client/table.h"
#include "sstable/block.h"
#include "base/coding.h"
END
file src/cluster/environment.h << 'END'
#ifndef BIGTABLE_CLUSTER_ENVIRONMENT_H_
#include "base/coding.h"
#endif
END
file src/client/open.cc << 'END'
#include "cluster/environment.h"
END
file include/bigtable/tools/hammer.h << 'END'
#ifndef BIGTABLE_TOOLS_HAMMER_H_
#define BIGTABLE_TOOLS_HAMMER_H_
#include "bigtable/row.h"
#include "bigtable/tools/nail.h"
#endif
END
file tools/anvil.h << 'END'
#ifndef BIGTABLE_TOOLS_ANVIL_H_
#include "google/protobuf/message.h"
#include "grpcpp/grpcpp.h"
#include "base/coding.h"
#include "bigtable/tools/hammer.h"
#include "tools/nail.h"
#endif
END
file wires/wire.cc << 'END'
#include "sstable/block.h"
END
# Another component includes what it shares.
file ropes/knot.cc << 'END'
#include "base/coding.h"
#include "ropes/rope.h"
#include "wires/wire.h"
END
file ropes/rope.h << 'END'
#ifndef BIGTABLE_ROPES_ROPE_H_
#endif
END
bash "$check" "$tree" base sstable cluster client -- tools wires ropes:cables,wires

# What is not.
file include/bigtable/cell.h << 'END'
#ifndef BIGTABLE_BIGTABLE_CELL_H_
#include <zstd.h>
#include <sys/types.h>
#include "base/coding.h"
#include <stdio.h>
#endif
END
file src/base/upwards.cc << 'END'
#include "base/coding.h"
  #  include "sstable/block.h"
#include <client/table.h>
#include "coding.h"
#include "google/protobuf/message.h"
END
file src/base/coding.cc << 'END'
#include <string>
#include "base/coding.h"
END
file src/client/table.h << 'END'
#ifndef BIGTABLE_CLIENT_TABLE_H_
#include "cluster/environment.h"
#endif
END
file tools/anvil.cc << 'END'
#include "bigtable/tools/hammer.h"
#include "tools/anvil.h"
END
file src/cellar/wine.cc << 'END'
END
file include/bigtable/tree.h << 'END'
#ifndef BIGTABLE_TREE_H_
#include "bigtable/tools/hammer.h"
#endif
END
file src/sstable/repair.cc << 'END'
#include "bigtable/tools/hammer.h"
#include "tools/anvil.h"
END
file wires/knot.h << 'END'
#ifndef BIGTABLE_KNOT_H_
#include "tools/anvil.h"
#include "anvil.h"
#endif
END
# What is shared does not go the other way, nor on to others.
file wires/cut.cc << 'END'
#include "ropes/rope.h"
END
file ropes/end.cc << 'END'
#include "tools/anvil.h"
END
file tools/saw.cc << 'END'
#include "wires/wire.h"
END
file src/stray.cc << 'END'
END
cat > "$tree/expected" << 'END'
src/cellar:1: no such layer; BIGTABLE_LAYERS in src/CMakeLists.txt says where it stands
src/stray.cc:1: belongs in a layer, src/<layer>/
include/bigtable/cell.h:2: <zstd.h> in a public header; of system headers only the standard library
include/bigtable/cell.h:3: <sys/types.h> in a public header; of system headers only the standard library
include/bigtable/cell.h:4: "base/coding.h" in a public header; only "bigtable/..." and Abseil
include/bigtable/cell.h:5: <stdio.h> in a public header; of system headers only the standard library
include/bigtable/cell.h:1: include guard should be BIGTABLE_CELL_H_
include/bigtable/tree.h:2: "bigtable/tools/hammer.h" is of the component tools, which is not known here
ropes/end.cc:1: "tools/anvil.h" is of the component tools, which is not known here
src/base/coding.cc:1: "base/coding.h" should be included first
src/base/upwards.cc:2: layer base includes "sstable/block.h", but sstable is above it
src/base/upwards.cc:3: layer base includes "client/table.h", but client is above it
src/base/upwards.cc:4: "coding.h" names no layer; includes are written from src/ or include/
src/base/upwards.cc:5: "google/protobuf/message.h" names no layer; includes are written from src/ or include/
src/client/table.h:2: "cluster/environment.h" in a header; include the parts that the class uses
src/sstable/repair.cc:1: "bigtable/tools/hammer.h" is of the component tools, which is not known here
src/sstable/repair.cc:2: "tools/anvil.h" is of the component tools, which is not known here
tools/anvil.cc:1: "tools/anvil.h" should be included first
tools/saw.cc:1: "wires/wire.h" is of the component wires, which is not known here
wires/cut.cc:1: "ropes/rope.h" is of the component ropes, which is not known here
wires/knot.h:2: "tools/anvil.h" is of the component tools, which is not known here
wires/knot.h:3: "anvil.h" names no layer; includes are written from src/ or include/
wires/knot.h:1: include guard should be BIGTABLE_WIRES_KNOT_H_
END
if bash "$check" "$tree" base sstable cluster client -- tools wires ropes:cables,wires > "$tree/found"; then
  echo "check_includes.sh called a tree with violations sound" >&2
  exit 1
fi
diff "$tree/expected" "$tree/found"
