#include "server/text/errors.h"

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"

#include "bigtable/string_view.h"

namespace bigtable::server {

std::string Quoted(std::string_view bytes) {
  constexpr size_t kMost = 80;
  std::string out = Cat("\"", absl::CHexEscape(ToAbsl(bytes.substr(0, kMost))), "\"");
  if (bytes.size() > kMost) out += Cat("... (", bytes.size(), " bytes)");
  return out;
}

std::string OneLine(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte != 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

absl::Status Annotate(const absl::Status& status, std::string_view what) {
  absl::Status annotated(status.code(), Cat(what, ": ", status.message()));
  status.ForEachPayload([&annotated](absl::string_view url, const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  });
  return annotated;
}

}  // namespace bigtable::server
