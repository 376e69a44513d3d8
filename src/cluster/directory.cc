#include "cluster/directory.h"

#include <charconv>

#include "absl/strings/str_format.h"

namespace bigtable {

std::string DatabaseDirectory::log_of(std::string_view server) const {
  return absl::StrFormat("%s/%s", logs(), server);
}

std::string DatabaseDirectory::sstable(uint64_t number) const {
  return absl::StrFormat("%s/%08d.sst", sstables(), number);
}

std::string DatabaseDirectory::copy_of_sstable(uint64_t number) const {
  return absl::StrFormat("%s/%08d.sst", copies(), number);
}

std::optional<uint64_t> DatabaseDirectory::SSTableNumber(std::string_view name) {
  uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || std::string_view(rest, static_cast<size_t>(end - rest)) != ".sst") {
    return std::nullopt;
  }
  return number;
}

}  // namespace bigtable
