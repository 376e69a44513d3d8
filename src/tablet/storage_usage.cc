#include "tablet/storage_usage.h"

#include <numeric>
#include <utility>

#include "absl/base/macros.h"
#include "absl/numeric/int128.h"

namespace bigtable {

std::vector<uint64_t> Apportion(uint64_t total, absl::Span<const uint64_t> weights) {
  const absl::uint128 sum = std::accumulate(weights.begin(), weights.end(), absl::uint128(0));
  ABSL_ASSERT((sum != 0 || weights.empty()) && "a weight is not zero");
  std::vector<uint64_t> parts;
  parts.reserve(weights.size());
  absl::uint128 weight = 0;
  uint64_t before = 0;  // the parts so far
  for (const uint64_t w : weights) {
    weight += w;
    const auto upto = static_cast<uint64_t>(absl::uint128(total) * weight / sum);
    parts.push_back(upto - before);
    before = upto;
  }
  ABSL_ASSERT((weights.empty() || before == total) && "the parts add up to the whole");
  return parts;
}

void StorageUsage::Add(Pin<TabletVersion> version) {
  const TableLayout& layout = version->layout();
  for (const FamilyLayout& family : layout.families) families_[family.name].owner = family.owner;
  for (const GroupVersion& group : version->groups()) {
    AddMemtable(layout, *group.active);
    for (const Ref<Memtable>& memtable : group.immutable) {
      if (memtables_.insert(memtable.get()).second) AddMemtable(layout, *memtable);
    }
    for (const SortedRun& run : group.runs) {
      for (const Ref<SSTable>& file : run.files) {
        if (files_.insert(file->info().file_number).second) AddFile(layout, *file);
      }
    }
  }
  versions_.push_back(std::move(version));
}

void StorageUsage::AddMemtable(const TableLayout& layout, const Memtable& memtable) {
  if (memtable.empty()) return;
  std::vector<SSTableInfo::FamilyBytes> families;
  for (auto& [name, bytes] : memtable.families().Read()) families.push_back({name, bytes});
  Charge(layout, &StorageStatistics::memtable_bytes, memtable.bytes(), families,
         [](const FamilyLayout&) { return true; });
}

void StorageUsage::AddFile(const TableLayout& layout, const SSTable& file) {
  const SSTableInfo& info = file.info();
  // All entries of the file are of an earlier family of this name.
  const auto is_of = [&](const FamilyLayout& family) { return info.max_sequence > family.created; };
  Charge(layout, &StorageStatistics::disk_bytes, info.size, info.families, is_of);
  if (const uint64_t loaded = file.loaded_bytes(); loaded > 0) {
    Charge(layout, &StorageStatistics::loaded_bytes, loaded, info.families, is_of);
  }
}

template <typename Families, typename IsOf>
void StorageUsage::Charge(const TableLayout& layout, Field field, uint64_t bytes,
                          const Families& families, const IsOf& is_of) {
  total_.*field += bytes;
  std::vector<uint64_t> weights;
  weights.reserve(families.size());
  for (const SSTableInfo::FamilyBytes& family : families) weights.push_back(family.bytes);
  if (std::accumulate(weights.begin(), weights.end(), uint64_t{0}) == 0) return;
  const std::vector<uint64_t> parts = Apportion(bytes, weights);
  for (size_t i = 0; i < parts.size(); ++i) {
    const FamilyLayout* const family = layout.FindFamily(families[i].name);
    if (family == nullptr || !is_of(*family)) continue;
    families_[family->name].storage.*field += parts[i];
  }
}

}  // namespace bigtable
