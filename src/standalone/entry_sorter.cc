#include "standalone/entry_sorter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/compare.h"
#include "base/entry_key.h"
#include "base/status.h"

namespace bigtable {

uint32_t EntrySorter::Entry::Size(size_t i) const {
  uint32_t size;
  std::memcpy(&size, at_ + i * sizeof size, sizeof size);
  return size;
}

void EntrySorter::Add(std::string_view key, std::string_view value) {
  char* const at = arena_.Allocate(2 * sizeof(uint32_t) + key.size() + value.size());
  Entry& entry = entries_.emplace_back();
  entry.at_ = at;
  const uint32_t sizes[] = {static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size())};
  std::memcpy(at, sizes, sizeof sizes);
  std::memcpy(at + sizeof sizes, key.data(), key.size());
  if (!value.empty()) std::memcpy(at + sizeof sizes + key.size(), value.data(), value.size());
}

size_t EntrySorter::CommonSize() const {
  std::string_view common = entries_.front().key();
  for (const Entry& entry : entries_) {
    common = common.substr(0, CommonPrefix(common, entry.key()));
  }
  return common.size();
}

void EntrySorter::Number(size_t common) {
  common_ = common;
  for (Entry& entry : entries_) entry.number_ = KeyNumber(entry.key().substr(common));
}

void EntrySorter::Sort() {
  if (entries_.empty()) return;
  Number(CommonSize());
  std::sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) {
    if (a.number_ != b.number_) return a.number_ < b.number_;
    return a.key().substr(common_) < b.key().substr(common_);
  });
}

SortedEntries::SortedEntries(std::vector<EntrySorter*> sorted) : sorted_(std::move(sorted)) {
  std::erase_if(sorted_, [](const EntrySorter* one) { return one->empty(); });
  // Numbers are compared, so they must be of the same part of the keys.
  if (sorted_.empty()) return;
  std::string_view common = sorted_.front()->entries_.front().key();
  for (const EntrySorter* const one : sorted_) {
    for (const EntrySorter::Entry* entry : {&one->entries_.front(), &one->entries_.back()}) {
      common = common.substr(0, CommonPrefix(common, entry->key()));
    }
  }
  for (EntrySorter* const one : sorted_) {
    if (one->common_ != common.size()) one->Number(common.size());
  }
}

std::vector<std::string_view> SortedEntries::DivideByRows(int parts) const {
  constexpr size_t kSamples = 256;  // for each part
  // Few entries are written by one thread.
  constexpr size_t kLeastForThread = 1 << 14;
  size_t entries = 0;
  for (const EntrySorter* const one : sorted_) entries += one->entries_.size();
  std::vector<std::string_view> begins = {""};
  const size_t most = std::min(static_cast<size_t>(parts), entries / kLeastForThread);
  if (most <= 1) return begins;
  std::vector<std::string_view> rows;
  const size_t step = std::max<size_t>(1, entries / (kSamples * most));
  for (const EntrySorter* const one : sorted_) {
    for (size_t i = 0; i < one->entries_.size(); i += step) {
      const std::string_view key = one->entries_[i].key();
      rows.push_back(key.substr(0, RowPrefixSize(key)));
    }
  }
  std::sort(rows.begin(), rows.end());
  for (size_t part = 1; part < most; ++part) {
    const std::string_view row = rows[part * rows.size() / most];
    if (row > begins.back()) begins.push_back(row);
  }
  return begins;
}

absl::Status SortedEntries::Read(
    std::string_view begin, std::string_view end,
    absl::FunctionRef<absl::Status(const EntrySorter::Entry&)> use) const {
  struct Head {
    uint64_t number;
    const EntrySorter::Entry* at;
    const EntrySorter::Entry* end;
  };
  constexpr ptrdiff_t kAhead = 4;
  std::vector<Head> heads;
  for (const EntrySorter* const one : sorted_) {
    const auto place = [&](std::string_view key) {
      return std::partition_point(one->entries_.data(), one->entries_.data() + one->entries_.size(),
                                  [&](const EntrySorter::Entry& e) { return e.key() < key; });
    };
    const EntrySorter::Entry* const first = place(begin);
    const EntrySorter::Entry* const last =
        end.empty() ? one->entries_.data() + one->entries_.size() : place(end);
    if (first != last) heads.push_back({first->number_, first, last});
  }
  while (!heads.empty()) {
    Head* least = &heads.front();
    for (Head& head : heads) {
      if (head.number > least->number) continue;
      if (head.number < least->number || head.at->key() < least->at->key()) least = &head;
    }
    if (least->end - least->at > kAhead) least->at[kAhead].Prefetch();
    BT_RETURN_IF_ERROR(use(*least->at));
    if (++least->at == least->end) {
      heads.erase(heads.begin() + (least - heads.data()));
    } else {
      least->number = least->at->number_;
    }
  }
  return absl::OkStatus();
}

}  // namespace bigtable
