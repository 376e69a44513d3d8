// The messages between clients and servers.
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "messages/message_format.h"

namespace bigtable {
namespace {

template <typename Message>
void EncodeAgain(const absl::StatusOr<Message>& message,
                 absl::StatusOr<Message> (*decode)(std::string_view)) {
  if (!message.ok()) return;
  const std::string encoded = EncodeMessage(*message);
  const auto again = decode(encoded);
  Require(again.ok() && EncodeMessage(*again) == encoded,
          "a message that is decoded can be encoded");
}

void FuzzMessage(std::string_view bytes) {
  FuzzInput input(bytes);
  const uint8_t kind = input.Below(4);
  // Version, kind and checksum are valid; the fields are any bytes.
  std::string message = {1, static_cast<char>(kind + 1)};
  message.append(input.Rest());
  AppendFixed64(&message, Checksum(message));
  switch (kind) {
    case 0:
      return EncodeAgain(DecodeMutateRequest(message), DecodeMutateRequest);
    case 1:
      return EncodeAgain(DecodeMutateResponse(message), DecodeMutateResponse);
    case 2:
      return EncodeAgain(DecodeScanRequest(message), DecodeScanRequest);
    default:
      EncodeAgain(DecodeScanResponse(message), DecodeScanResponse);
  }
}

const FuzzTargetRegistration message_target("message", FuzzMessage);

}  // namespace
}  // namespace bigtable
