// A plugin of the program bigtable: an aggregate that keeps the longest value.
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "tools/longest.h"

extern "C" __attribute__((visibility("default"))) const char* bigtable_plugin(void) {
  static std::string error;
  const absl::Status registered =
      bigtable::RegisterAggregateOperator("longest", std::make_unique<bigtable::Longest>());
  if (registered.ok()) return nullptr;
  error = std::string(std::string_view(registered.message().data(), registered.message().size()));
  return error.c_str();
}
