// The messages between clients and servers.
#include <string>
#include <string_view>

#include "base/checksum.h"
#include "base/coding.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "messages/message_format.h"

namespace bigtable {
namespace {

void FuzzMessage(std::string_view bytes) {
  FuzzInput input(bytes);
  const uint8_t kind = input.Below(4);
  // Version, kind and checksum are valid; the fields are any bytes.
  std::string message = {1, static_cast<char>(kind + 1)};
  message.append(input.Rest());
  AppendFixed64(&message, Checksum(message));
  switch (kind) {
    case 0: {
      const auto request = DecodeMutateRequest(message);
      if (request.ok()) Require(DecodeMutateRequest(EncodeMessage(*request)).ok(), "again");
      return;
    }
    case 1: {
      const auto response = DecodeMutateResponse(message);
      if (response.ok()) Require(DecodeMutateResponse(EncodeMessage(*response)).ok(), "again");
      return;
    }
    case 2: {
      const auto request = DecodeScanRequest(message);
      if (request.ok()) Require(DecodeScanRequest(EncodeMessage(*request)).ok(), "again");
      return;
    }
    default: {
      const auto response = DecodeScanResponse(message);
      if (response.ok()) Require(DecodeScanResponse(EncodeMessage(*response)).ok(), "again");
    }
  }
}

const FuzzTargetRegistration message_target("message", FuzzMessage);

}  // namespace
}  // namespace bigtable
