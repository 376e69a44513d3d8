// A filter as a message.
#include <string>
#include <string_view>

#include "fuzz/target.h"
#include "rpc/filter_format.h"

namespace bigtable {
namespace {

void FuzzFilter(std::string_view bytes) {
  const auto filter = DecodeFilter(std::string(bytes));
  if (!filter.ok()) return;
  const auto encoded = EncodeFilter(*filter);
  Require(encoded.ok(), "a filter that is decoded can be encoded");
  const auto again = DecodeFilter(*encoded);
  Require(again.ok() && *EncodeFilter(*again) == *encoded, "and is the same then");
}

const FuzzTargetRegistration filter_target("filter", FuzzFilter);

}  // namespace
}  // namespace bigtable
