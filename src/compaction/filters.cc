#include "compaction/filters.h"

#include <utility>

#include "base/named_registry.h"

namespace bigtable {
namespace {

using FilterRegistry = NamedRegistry<const CompactionFilter>;

FilterRegistry& Filters() {
  // For threads that outlive static objects.
  static auto* const registry = new FilterRegistry("compaction filter");
  return *registry;
}

}  // namespace

const CompactionFilter* FindCompactionFilter(std::string_view name) { return Filters().Find(name); }

void ForgetCompactionFilter(std::string_view name) { Filters().Forget(name); }

absl::Status RegisterCompactionFilter(std::string_view name,
                                      std::unique_ptr<const CompactionFilter> filter) {
  return Filters().Register(name, std::move(filter));
}

std::vector<std::string> CompactionFilterNames() { return Filters().Names(); }

}  // namespace bigtable
