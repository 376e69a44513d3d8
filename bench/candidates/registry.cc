#include "bench/candidates/registry.h"

#include "bench/candidates/engine_filters.h"
#include "bench/candidates/engine_index.h"
#include "bench/candidates/plain_bloom.h"
#include "bench/candidates/sorted_keys.h"
#include "bench/candidates/xor_filter.h"

namespace candidates {
namespace {

template <typename Kind>
std::unique_ptr<Filter> WithBits(int bits) {
  return std::make_unique<Kind>(bits);
}

constexpr NamedFilter kFilters[] = {
    {"engine_bloom", WithBits<EngineBloom>},
    {"engine_row_index",
     [](int) -> std::unique_ptr<Filter> { return std::make_unique<EngineRowIndex>(); },
     /*takes_bits=*/false},
    {"plain_bloom", WithBits<PlainBloom>},
    {"xor", WithBits<XorFilter>},
};

constexpr NamedIndex kIndexes[] = {
    {"engine_index", []() -> std::unique_ptr<Index> { return std::make_unique<EngineIndex>(); }},
    {"sorted_keys", []() -> std::unique_ptr<Index> { return std::make_unique<SortedKeys>(); }},
};

}  // namespace

absl::Span<const NamedFilter> Filters() { return kFilters; }

absl::Span<const NamedIndex> Indexes() { return kIndexes; }

}  // namespace candidates
