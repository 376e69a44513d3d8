// Measures filters and block indexes alone (registry.h), and prints tables in Markdown:
//
//   candidates --keys 1000000 --bits 8,10,16
//   candidates --filters engine_bloom,xor --indexes engine_index --sets digits,urls
//
// Keys of lookups are at random among those that were added, and between them. Times are of a call
// through the interface, and of filters include the hash of the key; they are medians of rounds, in
// each of which all candidates take their turn.
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
#include "bench/candidates/trial.h"
#include "common/flags.h"
#include "common/machine.h"
#include "common/strings.h"
#include "common/table.h"

ABSL_FLAG(std::string, keys, "1000000", "how many, 1,000 to 100,000,000; a list, or a range");
ABSL_FLAG(std::string, sets, "digits", "of keys, between commas: digits, urls; empty: all");
ABSL_FLAG(std::string, filters, "", "names between commas; empty: all");
ABSL_FLAG(std::string, bits, "10", "of a filter for each key, 2 to 32; a list, or a range");
ABSL_FLAG(std::string, indexes, "", "names between commas; empty: all");
ABSL_FLAG(std::string, block_rows, "100", "rows of a block, 1 to 10,000; a list, or a range");
ABSL_FLAG(uint64_t, lookups, 1'000'000, "of keys that exist, and of others, 1 to 100,000,000");
ABSL_FLAG(uint64_t, rounds, 5, "of which the medians count, 1 to 1,000");
ABSL_FLAG(uint64_t, seed, 1, "of the keys that are looked up");

namespace {

using bench::Concat;
using bench::Table;
using candidates::FilterTrial;
using candidates::IndexTrial;
using candidates::KeySet;
using candidates::NamedFilter;
using candidates::NamedIndex;
using candidates::TrialKeys;

struct Choices {
  std::vector<uint64_t> keys;
  std::vector<KeySet> sets;
  std::vector<NamedFilter> filters;
  std::vector<uint64_t> bits;
  std::vector<NamedIndex> indexes;
  std::vector<uint64_t> block_rows;
  uint64_t lookups;
  uint64_t rounds;
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
  c.rounds = absl::GetFlag(FLAGS_rounds);
  c.seed = absl::GetFlag(FLAGS_seed);
  for (const absl::Status& s :
       {SetNumbers("keys", absl::GetFlag(FLAGS_keys), 1'000, 100'000'000, &c.keys),
        SetKinds<KeySet>("sets", absl::GetFlag(FLAGS_sets), candidates::kKeySets, &c.sets),
        SetKinds("filters", absl::GetFlag(FLAGS_filters), candidates::Filters(), &c.filters),
        SetNumbers("bits", absl::GetFlag(FLAGS_bits), 2, 32, &c.bits),
        SetKinds("indexes", absl::GetFlag(FLAGS_indexes), candidates::Indexes(), &c.indexes),
        SetNumbers("block_rows", absl::GetFlag(FLAGS_block_rows), 1, 10'000, &c.block_rows),
        bench::CheckRange("lookups", c.lookups, 1, 100'000'000),
        bench::CheckRange("rounds", c.rounds, 1, 1'000)}) {
    if (!s.ok()) return s;
  }
  return c;
}

// A row of a table: what is common to a comparison, and then what is of one trial.
std::vector<std::string> Row(std::vector<std::string> common,
                             const std::vector<std::string>& trial) {
  common.insert(common.end(), trial.begin(), trial.end());
  return common;
}

absl::Status CompareFilters(const KeySet& set, uint64_t keys, const Choices& choices,
                            Table* table) {
  const TrialKeys trial_keys = candidates::FilterKeys(set, keys, choices.lookups, choices.seed);
  std::vector<FilterTrial> trials;
  for (const NamedFilter& kind : choices.filters) {
    for (const uint64_t bits : choices.bits) {
      if (!kind.takes_bits && bits != choices.bits.front()) continue;
      trials.emplace_back(kind, static_cast<int>(bits));
    }
  }
  for (uint64_t round = 0; round < choices.rounds; ++round) {
    for (FilterTrial& trial : trials) {
      if (absl::Status s = trial.Run(trial_keys); !s.ok()) return s;
    }
  }
  for (const FilterTrial& trial : trials) {
    table->Add(Row({Concat(set.name), Concat(keys)}, trial.Cells(trial_keys)));
  }
  return absl::OkStatus();
}

void CompareIndexes(const KeySet& set, uint64_t keys, uint64_t block_rows, const Choices& choices,
                    Table* table) {
  const TrialKeys trial_keys =
      candidates::IndexKeys(set, keys, block_rows, choices.lookups, choices.seed);
  std::vector<IndexTrial> trials(choices.indexes.begin(), choices.indexes.end());
  for (uint64_t round = 0; round < choices.rounds; ++round) {
    for (IndexTrial& trial : trials) trial.Run(trial_keys);
  }
  for (const IndexTrial& trial : trials) {
    table->Add(Row({Concat(set.name), Concat(keys), Concat(block_rows)}, trial.Cells(trial_keys)));
  }
}

absl::Status Run() {
  const absl::StatusOr<Choices> choices = ChoicesFromFlags();
  if (!choices.ok()) return choices.status();
  Table filters(Row({"keys are", "keys"}, FilterTrial::Header()));
  Table indexes(Row({"keys are", "keys", "rows a block"}, IndexTrial::Header()));
  for (const KeySet& set : choices->sets) {
    for (const uint64_t keys : choices->keys) {
      if (absl::Status s = CompareFilters(set, keys, *choices, &filters); !s.ok()) return s;
      for (const uint64_t block_rows : choices->block_rows) {
        CompareIndexes(set, keys, block_rows, *choices, &indexes);
      }
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
