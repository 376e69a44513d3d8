// Measures filters and block indexes alone (registry.h), and prints tables in Markdown:
//
//   candidates --keys 1000000 --bits 8,10,16
//   candidates --filters engine_bloom,xor --indexes engine_index --sets digits,urls
//
// Keys of lookups are at random among those that were added, and between them. Times are of a call
// through the interface, and of filters include the hash of the key.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"

#include "bench/candidates/key_set.h"
#include "bench/candidates/registry.h"
#include "common/flags.h"
#include "common/machine.h"
#include "common/strings.h"
#include "common/table.h"
#include "common/workload.h"

ABSL_FLAG(std::string, keys, "1000000", "how many, 1,000 to 100,000,000; a list, or a range");
ABSL_FLAG(std::string, sets, "digits", "of keys, between commas: digits, urls; empty: all");
ABSL_FLAG(std::string, filters, "", "names between commas; empty: all");
ABSL_FLAG(std::string, bits, "10", "of a filter for each key, 2 to 32; a list, or a range");
ABSL_FLAG(std::string, indexes, "", "names between commas; empty: all");
ABSL_FLAG(std::string, block_rows, "100", "rows of a block, 1 to 10,000; a list, or a range");
ABSL_FLAG(uint64_t, lookups, 1'000'000, "of each kind, 1 to 100,000,000");
ABSL_FLAG(uint64_t, seed, 1, "of the keys that are looked up");

namespace {

using bench::Concat;
using bench::Table;
using candidates::KeyList;
using candidates::KeySet;
using candidates::NamedFilter;
using candidates::NamedIndex;

struct Choices {
  std::vector<uint64_t> keys;
  std::vector<KeySet> sets;
  std::vector<NamedFilter> filters;
  std::vector<uint64_t> bits;
  std::vector<NamedIndex> indexes;
  std::vector<uint64_t> block_rows;
  uint64_t lookups;
  uint64_t seed;
};

absl::Status SetNumbers(std::string_view flag, const std::string& list, uint64_t least,
                        uint64_t most, std::vector<uint64_t>* numbers) {
  absl::StatusOr<std::vector<uint64_t>> parsed = bench::Numbers(flag, list, least, most);
  if (parsed.ok()) *numbers = *std::move(parsed);
  return parsed.status();
}

// Those of `all` that `list` names.
template <typename Kind>
absl::Status SetKinds(std::string_view flag, const std::string& list, absl::Span<const Kind> all,
                      std::vector<Kind>* kinds) {
  std::vector<std::string> known;
  for (const Kind& kind : all) known.emplace_back(kind.name);
  const absl::StatusOr<std::vector<std::string>> names =
      bench::Names(flag, list, known, "one of these");
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    for (const Kind& kind : all) {
      if (kind.name == name) kinds->push_back(kind);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Choices> ChoicesFromFlags() {
  Choices c;
  c.lookups = absl::GetFlag(FLAGS_lookups);
  c.seed = absl::GetFlag(FLAGS_seed);
  for (const absl::Status& s :
       {SetNumbers("keys", absl::GetFlag(FLAGS_keys), 1'000, 100'000'000, &c.keys),
        SetKinds<KeySet>("sets", absl::GetFlag(FLAGS_sets), candidates::kKeySets, &c.sets),
        SetKinds("filters", absl::GetFlag(FLAGS_filters), candidates::Filters(), &c.filters),
        SetNumbers("bits", absl::GetFlag(FLAGS_bits), 2, 32, &c.bits),
        SetKinds("indexes", absl::GetFlag(FLAGS_indexes), candidates::Indexes(), &c.indexes),
        SetNumbers("block_rows", absl::GetFlag(FLAGS_block_rows), 1, 10'000, &c.block_rows),
        bench::CheckRange("lookups", c.lookups, 1, 100'000'000)}) {
    if (!s.ok()) return s;
  }
  return c;
}

// The time of `work` in nanoseconds, divided by `count`.
template <typename Work>
double NanosEach(uint64_t count, Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  return time.count() / static_cast<double>(count);
}

// Rows at random, of which each exists (`odd` is 0) or is between two that do (1).
template <typename KeyOf>
KeyList Draw(uint64_t keys, const Choices& choices, uint64_t odd, KeyOf key_of) {
  bench::Random random(choices.seed);
  KeyList list;
  for (uint64_t i = 0; i < choices.lookups; ++i) {
    list.Add(key_of(2 * random.Below(keys - odd) + odd));
  }
  return list;
}

std::string Decimal(double value) { return absl::StrFormat("%.1f", value); }
std::string Percent(double share) { return absl::StrFormat("%.4f", 100 * share); }

absl::Status MeasureFilters(const KeySet& set, uint64_t keys, const Choices& choices,
                            Table* table) {
  const auto prefix_of = [&](uint64_t number) { return set.RowPrefix(number); };
  const KeyList existing = Draw(keys, choices, 0, prefix_of);
  const KeyList missing = Draw(keys, choices, 1, prefix_of);
  KeyList added;
  for (uint64_t i = 0; i < keys; ++i) added.Add(prefix_of(2 * i));
  for (const NamedFilter& kind : choices.filters) {
    for (const uint64_t bits : choices.bits) {
      if (!kind.takes_bits && bits != choices.bits.front()) continue;
      const std::unique_ptr<candidates::Filter> filter = kind.make(static_cast<int>(bits));
      const double add = NanosEach(keys, [&] {
        added.ForEach([&](std::string_view key) { filter->Add(key); });
        filter->Finish();
      });
      uint64_t found = 0;
      uint64_t passed = 0;
      const double hit = NanosEach(existing.size(), [&] {
        existing.ForEach([&](std::string_view key) { found += filter->MayContain(key) ? 1 : 0; });
      });
      const double miss = NanosEach(missing.size(), [&] {
        missing.ForEach([&](std::string_view key) { passed += filter->MayContain(key) ? 1 : 0; });
      });
      if (found != existing.size()) {
        return absl::DataLossError(Concat(kind.name, " excludes a key that was added"));
      }
      const double memory_bits = 8 * static_cast<double>(filter->memory());
      table->Add({Concat(set.name), Concat(keys), Concat(kind.name),
                  kind.takes_bits ? Concat(bits) : "-",
                  absl::StrFormat("%.2f", memory_bits / static_cast<double>(keys)),
                  Percent(static_cast<double>(passed) / static_cast<double>(missing.size())),
                  Percent(filter->ExpectedRate()), Decimal(add), Decimal(hit), Decimal(miss)});
    }
  }
  return absl::OkStatus();
}

void MeasureIndexes(const KeySet& set, uint64_t keys, const Choices& choices, Table* table) {
  constexpr uint64_t kBlockSize = 16 << 10;
  const KeyList existing =
      Draw(keys, choices, 0, [&](uint64_t number) { return set.EntryKey(number); });
  const KeyList prefixes =
      Draw(keys, choices, 1, [&](uint64_t number) { return set.RowPrefix(number); });
  for (const uint64_t rows : choices.block_rows) {
    KeyList last_keys;
    for (uint64_t i = rows; i < keys + rows; i += rows) {
      last_keys.Add(set.EntryKey(2 * (std::min(i, keys) - 1)));
    }
    for (const NamedIndex& kind : choices.indexes) {
      const std::unique_ptr<candidates::Index> index = kind.make();
      const double add = NanosEach(last_keys.size(), [&] {
        last_keys.ForEach([&](std::string_view key) { index->Add(key, kBlockSize); });
        index->Finish();
      });
      uint64_t sum = 0;
      const auto find = [&](std::string_view key) { sum += index->Find(key); };
      const double hit = NanosEach(existing.size(), [&] { existing.ForEach(find); });
      const double miss = NanosEach(prefixes.size(), [&] { prefixes.ForEach(find); });
      asm volatile("" : : "r"(sum));  // the sum counts as used
      const auto blocks = static_cast<double>(last_keys.size());
      table->Add({Concat(set.name), Concat(keys), Concat(kind.name), Concat(rows),
                  Concat(last_keys.size()), Decimal(static_cast<double>(index->memory()) / blocks),
                  Decimal(add), Decimal(hit), Decimal(miss)});
    }
  }
}

absl::Status Run() {
  const absl::StatusOr<Choices> choices = ChoicesFromFlags();
  if (!choices.ok()) return choices.status();
  Table filters({"keys are", "keys", "filter", "bits", "bits a key", "false positives, %",
                 "in theory, %", "add, ns", "lookup, ns", "missing, ns"});
  Table indexes({"keys are", "keys", "index", "rows a block", "blocks", "bytes a block", "add, ns",
                 "find, ns", "missing, ns"});
  for (const KeySet& set : choices->sets) {
    for (const uint64_t keys : choices->keys) {
      if (absl::Status s = MeasureFilters(set, keys, *choices, &filters); !s.ok()) return s;
      MeasureIndexes(set, keys, *choices, &indexes);
    }
  }
  absl::PrintF("%s\n%s\n%s\n", filters.Text(), indexes.Text(), bench::DescribeMachine());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Measures filters and block indexes alone. See main.cc.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status s = Run();
  if (s.ok()) return EXIT_SUCCESS;
  std::cerr << "candidates: " << s.message() << "\n";
  return absl::IsInvalidArgument(s) ? 2 : EXIT_FAILURE;
}
