// A block of an SSTable: any bytes.
#include <cstddef>
#include <string>
#include <string_view>

#include "blocks/block_cursor.h"
#include "fuzz/input.h"
#include "fuzz/target.h"

namespace bigtable {
namespace {

void FuzzBlock(std::string_view bytes) {
  FuzzInput input(bytes);
  const std::string target(input.Piece());
  const std::string block(input.Rest());  // on the heap, where an overrun is seen
  BlockCursor cursor;
  if (!cursor.Open(block)) return;
  size_t entries = 0;
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    ++entries;
    Require(cursor.value().empty() ||
                (cursor.value().data() >= block.data() &&
                 cursor.value().data() + cursor.value().size() <= block.data() + block.size()),
            "a value is in the block");
  }
  Require(entries <= block.size(), "an entry takes bytes");
  for (const std::string& key : {target, std::string(), std::string(300, '\xff')}) {
    if (!cursor.Open(block)) return;
    cursor.Seek(key);
    for (int i = 0; i < 3 && cursor.valid(); ++i) cursor.Next();
    if (!cursor.Open(block)) return;
    cursor.SeekBefore(key);
    if (!cursor.Open(block)) return;
    cursor.SeekToLast();
  }
}

const FuzzTargetRegistration block_target("block", FuzzBlock);

}  // namespace
}  // namespace bigtable
