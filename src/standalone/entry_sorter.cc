#include "standalone/entry_sorter.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/compare.h"
#include "base/entry_key.h"
#include "base/status.h"
#include "standalone/parallel_tasks.h"

namespace bigtable {

uint32_t EntrySorter::Entry::Size(size_t i) const {
  uint32_t size;
  std::memcpy(&size, at_ + i * sizeof size, sizeof size);
  return size;
}

void EntrySorter::Add(std::string_view key, std::string_view value) {
  char* const at = arena_->Allocate(2 * sizeof(uint32_t) + key.size() + value.size());
  Entry& entry = entries_.emplace_back();
  entry.at_ = at;
  const uint32_t sizes[] = {static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size())};
  std::memcpy(at, sizes, sizeof sizes);
  std::memcpy(at + sizeof sizes, key.data(), key.size());
  if (!value.empty()) std::memcpy(at + sizeof sizes + key.size(), value.data(), value.size());
}

void EntrySorter::Clear() {
  arena_ = std::make_unique<Arena>();
  std::vector<Entry>().swap(entries_);
}

// What all keys begin with.
size_t EntrySorter::CommonSize() const {
  std::string_view common = entries_.front().key();
  for (const Entry& entry : entries_) {
    common = common.substr(0, CommonPrefix(common, entry.key()));
  }
  return common.size();
}

// Moves the entries into parts, each of which has smaller keys than the next one.
std::vector<size_t> EntrySorter::DivideByRows(int parts) {
  constexpr size_t kSamples = 256;  // for each part
  std::vector<size_t> begins = {0};
  const size_t most = std::min(static_cast<size_t>(parts), entries_.size() / kLeastForThread);
  if (most <= 1) return begins;
  std::vector<std::string_view> rows;
  const size_t step = std::max<size_t>(1, entries_.size() / (kSamples * most));
  for (size_t i = 0; i < entries_.size(); i += step) {
    const std::string_view key = entries_[i].key();
    rows.push_back(key.substr(0, RowPrefixSize(key)));
  }
  std::sort(rows.begin(), rows.end());
  for (size_t part = 1; part < most; ++part) {
    const std::string_view row = rows[part * rows.size() / most];
    const auto begin = entries_.begin() + static_cast<ptrdiff_t>(begins.back());
    const auto middle = std::partition(begin, entries_.end(),
                                       [&](const Entry& entry) { return entry.key() < row; });
    if (middle != begin) begins.push_back(static_cast<size_t>(middle - entries_.begin()));
  }
  return begins;
}

absl::Status EntrySorter::Sort(int threads, std::vector<size_t>* parts) {
  *parts = {0};
  if (entries_.empty()) return absl::OkStatus();
  const size_t common = CommonSize();
  *parts = DivideByRows(threads);
  std::vector<std::function<absl::Status()>> tasks;
  for (size_t i = 0; i < parts->size(); ++i) {
    const size_t end = i + 1 < parts->size() ? (*parts)[i + 1] : entries_.size();
    tasks.emplace_back([this, common, begin = (*parts)[i], end] {
      for (size_t k = begin; k < end; ++k) {
        entries_[k].number_ = KeyNumber(entries_[k].key().substr(common));
      }
      std::sort(entries_.begin() + static_cast<ptrdiff_t>(begin),
                entries_.begin() + static_cast<ptrdiff_t>(end),
                [common](const Entry& a, const Entry& b) {
                  if (a.number_ != b.number_) return a.number_ < b.number_;
                  return a.key().substr(common) < b.key().substr(common);
                });
      return absl::OkStatus();
    });
  }
  return RunTasks(threads, tasks);
}

}  // namespace bigtable
