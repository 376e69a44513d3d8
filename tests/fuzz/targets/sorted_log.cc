// The parts of a sorted log: manifest, footer and index of a piece, and records.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/checksum.h"
#include "base/coding.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "recovery/sorted_log_format.h"

namespace bigtable {
namespace {

// Sets the checksum of a manifest, so that more than the checksum is tested.
std::string WithChecksum(std::string_view bytes) {
  std::string manifest("BTsortlg");
  manifest.append(bytes);
  if (manifest.size() < 24) return manifest;
  const uint64_t checksum =
      Checksum(std::string_view(manifest).substr(24), LoadFixed64(manifest.data() + 8));
  StoreFixed64(manifest.data() + 16, checksum);
  return manifest;
}

void FuzzSortedLog(std::string_view bytes) {
  FuzzInput input(bytes);
  switch (input.Below(4)) {
    case 0: {
      const auto manifest = DecodeSortedManifest(WithChecksum(input.Rest()), "manifest");
      if (!manifest.ok()) return;
      const auto again = DecodeSortedManifest(EncodeSortedManifest(*manifest), "manifest");
      Require(again.ok() && again->pieces.size() == manifest->pieces.size(),
              "a manifest that is decoded can be encoded");
      return;
    }
    case 1: {
      std::string footer(input.Rest());
      uint64_t checksum = 0;
      if (footer.size() == SortedPieceFooter::kSize) {
        const size_t at = footer.size() - 16;
        checksum = Checksum(std::string_view(footer).substr(0, at));
        StoreFixed64(footer.data() + at, checksum);
        footer.replace(at + 8, 8, "BTsorted");
      }
      static_cast<void>(DecodeSortedPieceFooter(footer, "piece", footer.size() + 100, checksum));
      return;
    }
    case 2: {
      const uint64_t blocks_size = input.Number(2);
      const std::string index(input.Rest());
      const auto blocks = ParseSortedIndex(index, blocks_size);
      if (!blocks.has_value()) return;
      uint64_t sum = 0;
      for (const SortedBlock& block : *blocks) sum += block.size;
      Require(sum == blocks_size, "the blocks of an index are all bytes");
      return;
    }
    default: {
      const std::string block(input.Rest());
      SortedRecord record;
      for (Decoder records(block); !records.at_end();) {
        if (!ParseSortedRecord(&records, &record)) return;
        Require(record.row.size() <= record.payload.size(), "a row is in its payload");
        Require(record.batch == 0 || record.batch >= record.sequence,
                "a batch ends with its last record");
      }
    }
  }
}

const FuzzTargetRegistration sorted_log_target("sorted_log", FuzzSortedLog);

}  // namespace
}  // namespace bigtable
