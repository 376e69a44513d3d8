// A filter of Google's API: as the engine's, as a message between clients and servers, and back.
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/bigtable/v2/data.pb.h"
#include "google/protobuf/stubs/logging.h"

#include "bigtable/filter.h"

#include "convert/filter.h"
#include "convert/limits.h"
#include "fuzz/input.h"
#include "fuzz/server/message_builder.h"
#include "fuzz/target.h"
#include "rpc/filter_format.h"

namespace bigtable::server {
namespace {

std::string EncodedFilter(const absl::StatusOr<Filter>& filter) {
  Require(filter.ok(), "a filter that is accepted comes back");
  const absl::StatusOr<std::string> encoded = EncodeFilter(*filter);
  Require(encoded.ok(), "a filter that is accepted can be sent");
  return *encoded;
}

void FuzzServerFilter(std::string_view bytes) {
  static const auto old_handler = google::protobuf::SetLogHandler(nullptr);
  static_cast<void>(old_handler);
  FuzzInput input(bytes);
  google::bigtable::v2::RowFilter message;
  if (input.Below(2) == 0) {
    BuildMessage(&input, "", &message);
  } else if (!message.ParseFromString(std::string(input.Rest()))) {
    return;
  }
  const absl::StatusOr<Filter> filter = convert::ToFilter(message);
  if (!filter.ok()) {
    Require(absl::IsInvalidArgument(filter.status()) && !filter.status().message().empty(),
            "a filter is refused with a reason");
    return;
  }
  const std::string encoded = EncodedFilter(filter);
  Require(EncodedFilter(DecodeFilter(encoded)) == encoded, "as a message it is the same");
  const google::bigtable::v2::RowFilter again = convert::ToProto(*filter);
  // It may be longer than what it was made from.
  if (again.ByteSizeLong() > convert::kMaxFilterSize) return;
  Require(EncodedFilter(convert::ToFilter(again)) == encoded, "as Google's message, too");
}

const FuzzTargetRegistration server_filter_target("server_filter", FuzzServerFilter);

}  // namespace
}  // namespace bigtable::server
