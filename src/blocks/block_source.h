// The open file of an SSTable, and what its properties state about its blocks.
#ifndef BIGTABLE_BLOCKS_BLOCK_SOURCE_H_
#define BIGTABLE_BLOCKS_BLOCK_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "bigtable/file_system.h"

#include "blocks/stored_block.h"

namespace bigtable {

struct BlockSource {
  std::unique_ptr<RandomAccessFile> file;
  std::string path;
  uint64_t number = 0;
  uint64_t identity = 0;
  bool compressed = false;     // some blocks may be
  uint64_t largest_block = 0;  // decoded
  BlockHandle dictionary = {};
  uint64_t dictionary_size = 0;  // decoded
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_BLOCK_SOURCE_H_
