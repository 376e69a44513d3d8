// The cells of a METADATA row, its key, the root tablet's state and the description of an SSTable.
#include <string>
#include <string_view>

#include "fuzz/input.h"
#include "fuzz/target.h"
#include "metadata/metadata_format.h"
#include "sstable/properties.h"
#include "sstable/sstable_info.h"

namespace bigtable {
namespace {

void FuzzMetadataRow(std::string_view bytes) {
  FuzzInput input(bytes);
  switch (input.Below(4)) {
    case 0: {
      TabletState state;
      while (!input.at_end()) {
        const std::string family(input.Piece());
        const std::string qualifier(input.Piece());
        const std::string value(input.Piece());
        static_cast<void>(MarkOfCell(family, qualifier));
        static_cast<void>(ServerOfCell(family, value));
        if (!DecodeCell(family, qualifier, value, &state).ok()) return;
      }
      static_cast<void>(EncodeContents(state));
      return;
    }
    case 1: {
      const std::string row(input.Rest());
      const auto tablet = TabletOfMetadataRow(row);
      if (tablet.ok()) Require(MetadataRow(*tablet) == row, "a row key has one form");
      return;
    }
    case 2: {
      const auto root = DecodeRoot(std::string(input.Rest()));
      if (!root.ok()) return;
      const std::string encoded = EncodeRoot(*root);
      const auto again = DecodeRoot(encoded);
      Require(again.ok() && EncodeRoot(*again) == encoded, "a root can be encoded again");
      return;
    }
    default: {
      const std::string text(input.Rest());
      const auto info = SSTableInfo::Decode(text);
      if (info.ok()) {
        std::string encoded, twice;
        info->EncodeTo(&encoded);
        const auto again = SSTableInfo::Decode(encoded);
        if (again.ok()) again->EncodeTo(&twice);
        Require(again.ok() && twice == encoded, "a description can be encoded again");
      }
      static_cast<void>(SSTableProperties::Decode(text));
    }
  }
}

const FuzzTargetRegistration metadata_row_target("metadata_row", FuzzMetadataRow);

}  // namespace
}  // namespace bigtable
