#include "bench/candidates/trial.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>

#include "absl/strings/str_format.h"

#include "common/median.h"
#include "common/strings.h"
#include "common/workload.h"

namespace candidates {
namespace {

using bench::Concat;

// Calls `work` for each key, and then `finish`; returns the nanoseconds for a key.
template <typename Work, typename Finish>
double NanosEach(const KeyList& keys, Work work, Finish finish) {
  const auto start = std::chrono::steady_clock::now();
  keys.ForEach(work);
  finish();
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  return time.count() / static_cast<double>(keys.size());
}
template <typename Work>
double NanosEach(const KeyList& keys, Work work) {
  return NanosEach(keys, work, [] {});
}

// Of rows at random that exist (`odd` is 0), or of such that lie between two that do (1).
template <typename KeyOf>
KeyList Draw(uint64_t keys, uint64_t lookups, uint64_t seed, uint64_t odd, KeyOf key_of) {
  bench::Random random(seed);
  KeyList list;
  for (uint64_t i = 0; i < lookups; ++i) list.Add(key_of(2 * random.Below(keys - odd) + odd));
  return list;
}

double Share(size_t part, const KeyList& keys) {
  return static_cast<double>(part) / static_cast<double>(keys.size());
}

std::string Percent(double share) { return absl::StrFormat("%.4f", 100 * share); }

std::vector<std::string> Joined(std::vector<std::string> cells,
                                const std::vector<std::string>& more) {
  cells.insert(cells.end(), more.begin(), more.end());
  return cells;
}

}  // namespace

std::vector<std::string> Times::Cells() const {
  std::vector<std::string> cells;
  for (const std::vector<double>* times : {&add, &existing, &missing}) {
    cells.push_back(absl::StrFormat("%.1f", bench::Median(*times)));
  }
  return cells;
}

TrialKeys FilterKeys(const KeySet& set, uint64_t keys, uint64_t lookups, uint64_t seed) {
  const auto key_of = [&](uint64_t number) { return set.RowPrefix(number); };
  TrialKeys trial{.added = {},
                  .existing = Draw(keys, lookups, seed, 0, key_of),
                  .missing = Draw(keys, lookups, seed, 1, key_of)};
  for (uint64_t i = 0; i < keys; ++i) trial.added.Add(key_of(2 * i));
  return trial;
}

TrialKeys IndexKeys(const KeySet& set, uint64_t keys, uint64_t block_rows, uint64_t lookups,
                    uint64_t seed) {
  const auto entry_of = [&](uint64_t number) { return set.EntryKey(number); };
  const auto prefix_of = [&](uint64_t number) { return set.RowPrefix(number); };
  TrialKeys trial{.added = {},
                  .existing = Draw(keys, lookups, seed, 0, entry_of),
                  .missing = Draw(keys, lookups, seed, 1, prefix_of)};
  for (uint64_t end = block_rows; end < keys + block_rows; end += block_rows) {
    trial.added.Add(entry_of(2 * (std::min(end, keys) - 1)));
  }
  return trial;
}

absl::Status FilterTrial::Run(const TrialKeys& keys) {
  const std::unique_ptr<Filter> filter = kind_.make(bits_);
  times_.add.push_back(NanosEach(
      keys.added, [&](std::string_view key) { filter->Add(key); }, [&] { filter->Finish(); }));
  size_t found = 0;
  times_.existing.push_back(NanosEach(
      keys.existing, [&](std::string_view key) { found += filter->MayContain(key) ? 1 : 0; }));
  passed_ = 0;
  times_.missing.push_back(NanosEach(
      keys.missing, [&](std::string_view key) { passed_ += filter->MayContain(key) ? 1 : 0; }));
  memory_ = filter->memory();
  expected_rate_ = filter->ExpectedRate();
  if (found == keys.existing.size()) return absl::OkStatus();
  return absl::DataLossError(Concat(kind_.name, " excludes a key that was added"));
}

std::vector<std::string> FilterTrial::Header() {
  return {"filter",       "bits",    "bits a key", "false positives, %",
          "in theory, %", "add, ns", "lookup, ns", "missing, ns"};
}

std::vector<std::string> FilterTrial::Cells(const TrialKeys& keys) const {
  return Joined({Concat(kind_.name), kind_.takes_bits ? Concat(bits_) : "-",
                 absl::StrFormat("%.2f", Share(8 * memory_, keys.added)),
                 Percent(Share(passed_, keys.missing)), Percent(expected_rate_)},
                times_.Cells());
}

void IndexTrial::Run(const TrialKeys& keys) {
  constexpr uint64_t kBlockSize = 16 << 10;
  const std::unique_ptr<Index> index = kind_.make();
  times_.add.push_back(NanosEach(
      keys.added, [&](std::string_view key) { index->Add(key, kBlockSize); },
      [&] { index->Finish(); }));
  size_t sum = 0;
  const auto find = [&](std::string_view key) { sum += index->Find(key); };
  times_.existing.push_back(NanosEach(keys.existing, find));
  times_.missing.push_back(NanosEach(keys.missing, find));
  asm volatile("" : : "r"(sum));  // the sum counts as used
  memory_ = index->memory();
}

std::vector<std::string> IndexTrial::Header() {
  return {"index", "blocks", "bytes a block", "add, ns", "find, ns", "missing, ns"};
}

std::vector<std::string> IndexTrial::Cells(const TrialKeys& keys) const {
  return Joined({Concat(kind_.name), Concat(keys.added.size()),
                 absl::StrFormat("%.1f", Share(memory_, keys.added))},
                times_.Cells());
}

}  // namespace candidates
