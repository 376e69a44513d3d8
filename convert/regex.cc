#include "convert/regex.h"

#include "base/strings.h"

namespace bigtable::convert {
namespace {

constexpr std::string_view kDotIsNoNewline = "(?-s)";
constexpr std::string_view kDotIsAnyByte = "(?s)";

// `regex`, in which '.' is as `here` says unless a flag says otherwise, for the side of `there`.
std::string Flagged(std::string_view regex, std::string_view here, std::string_view there) {
  if (regex.find('.') == std::string_view::npos) return std::string(regex);
  if (regex.starts_with(there)) return std::string(regex.substr(there.size()));
  return Cat(here, regex);
}

}  // namespace

std::string EngineRegex(std::string_view api) {
  return Flagged(api, kDotIsNoNewline, kDotIsAnyByte);
}

std::string ApiRegex(std::string_view engine) {
  return Flagged(engine, kDotIsAnyByte, kDotIsNoNewline);
}

}  // namespace bigtable::convert
