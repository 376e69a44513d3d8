// The last bytes of a file, which locate everything else in it.
//
//   +-------+--------+------------+------------+----------+---------+------+----------+---------+
//   | index | filter | dictionary | properties | identity | version | size | checksum | magic   |
//   | u64   | u64    | u64 offset | u64 offset | u64      | u32     | u32  | u64      | 8 bytes |
//   | twice | twice  | u64 size   | u64 size   |          |         | = 96 |          |         |
//   +-------+--------+------------+------------+----------+---------+------+----------+---------+
//                                              |<- the last 32 bytes of every version --------->|
//
// * A section is given as offset and size without block trailer; 0 and 0 if there is none.
// * The checksum covers all bytes of the footer before it; `size` is that of the whole footer.
//   Every later version ends in the same 32 bytes, so that an old reader can tell a newer format
//   from a damaged file.
// * The index is given by its root (index_writer.h).
// * Version 3 is the only one. Versions 1 and 2 were never released: the index of 1 did not record
//   which rows continue from one block to the next, and that of 2 was never in parts.
//
// Worked example: a file of 84 bytes of data begins its footer with 54 00 00 00 00 00 00 00, the
// offset of the index, and ends it with the letters "BTsstabl".
//
// Plain values and pure functions.
#ifndef BIGTABLE_SSTABLE_FOOTER_H_
#define BIGTABLE_SSTABLE_FOOTER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "blocks/stored_block.h"

namespace bigtable {

struct Footer {
  static constexpr size_t kSize = 96;
  static constexpr uint32_t kFormatVersion = 3;

  BlockHandle index;
  BlockHandle filter;
  BlockHandle dictionary;
  BlockHandle properties;
  uint64_t identity = 0;

  void EncodeTo(std::string* out) const;
  // From the last kSize bytes of the file `path` of `file_size` bytes. DataLoss or, when the format
  // is newer, FailedPrecondition.
  static absl::StatusOr<Footer> Decode(std::string_view bytes, std::string_view path,
                                       uint64_t file_size);
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_FOOTER_H_
