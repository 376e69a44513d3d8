// The output of a compaction for a given input: testdata/collect.txt.
//
//   families                  those of the locality group for the following commands, one a line:
//                             NAME [max_versions=] [min_timestamp=] [created=] [operator=]
//                             [removes=VALUE]: by a compaction filter
//   collect merging|major [snapshots=1,2] [present=] [complete=]
//                             the entries (support/entry_text.h), in any order; without any, those
//                             of the collect before it

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/compaction_filter.h"

#include "compaction/collecting_cursor.h"
#include "memtable/memtable_cursor.h"
#include "support/entry_text.h"
#include "support/expect_status.h"
#include "support/model_aggregates.h"
#include "support/text_driven.h"

namespace bigtable {
namespace {

// Removes cells with this value.
class RemovedValue final : public CompactionFilter {
 public:
  explicit RemovedValue(std::string value) : value_(std::move(value)) {}
  Decision Filter(const CompactedCell& cell, std::string*) const override {
    return cell.value == value_ ? Decision::kRemove : Decision::kKeep;
  }

 private:
  const std::string value_;
};

class Collect {
 public:
  std::string Run(const TextCommand& command) {
    if (command.name == "families") return Families(command);
    if (command.name == "collect") return Entries(command);
    return "unknown command";
  }

 private:
  std::string Families(const TextCommand& command) {
    families_.clear();
    for (const std::string& line : command.input) {
      const TextArguments arguments(SplitWords(line));
      RetainedFamily family{.name = arguments.Word(0), .created = 0, .versions = {}};
      family.created = static_cast<SequenceNumber>(arguments.Number("created"));
      if (arguments.HasValue("max_versions")) {
        family.versions.most = arguments.Number("max_versions");
      }
      family.min_timestamp = arguments.Number("min_timestamp", family.min_timestamp);
      if (arguments.HasValue("operator")) {
        family.aggregate = Aggregate::Of(ValueType::kBytes, arguments.Value("operator"));
      }
      if (arguments.HasValue("removes")) {
        filters_.push_back(std::make_unique<RemovedValue>(arguments.Value("removes")));
        family.filter = filters_.back().get();
      }
      if (!arguments.NotAskedFor().empty()) return "what is " + arguments.NotAskedFor();
      families_.push_back(std::move(family));
    }
    return "";
  }

  std::string Entries(const TextCommand& command) {
    const bool major = command.Has("major");
    if (major == command.Has("merging")) return "major or merging?";
    if (!command.input.empty()) {
      entries_ = NewTestMemtable();
      for (const std::string& line : command.input) {
        const std::optional<TextEntry> entry = ParseEntry(line);
        if (!entry.has_value()) return "not an entry: " + line;
        entries_->Add(entry->key, entry->value);
      }
    }
    Retention retention;
    retention.families = families_;
    retention.snapshots = command.Numbers("snapshots");
    retention.present =
        static_cast<SequenceNumber>(command.Number("present", static_cast<int64_t>(kMaxSequence)));
    retention.complete_through = static_cast<SequenceNumber>(command.Number("complete", 0));
    MemtableCursor input(entries_.get());
    CollectingCursor collected(&input, &retention, major);
    std::string out;
    for (collected.SeekToFirst(); collected.valid(); collected.Next()) {
      out += EntryText(collected.key(), collected.value()) + "\n";
    }
    if (!collected.status().ok()) out += std::string(collected.status().ToString());
    return out.empty() ? "nothing\n" : out;
  }

  std::vector<std::unique_ptr<CompactionFilter>> filters_;  // of all families so far
  std::vector<RetainedFamily> families_;
  Ref<Memtable> entries_ = NewTestMemtable();
};

TEST(CollectTest, CompactionsKeepWhatReadsNeed) {
  Collect collect;
  RunTextFile(BIGTABLE_TESTDATA "/collect.txt",
              [&](const TextCommand& command) { return collect.Run(command); });
}

// A column whose newest cell is deleted, so that its history is replayed.
Ref<Memtable> ColumnWithADeletion(int64_t versions) {
  const Ref<Memtable> memtable = NewTestMemtable();
  const auto add = [&](int64_t timestamp, SequenceNumber sequence, EntryKind kind) {
    std::string key = RowPrefix("r");
    AppendColumn(&key, "f", "q");
    AppendTrailer(&key, timestamp, {sequence, 0}, kind);
    memtable->Add(key, "value");
  };
  for (int64_t i = 1; i <= versions; ++i) add(i, static_cast<SequenceNumber>(i), EntryKind::kCell);
  add(versions, static_cast<SequenceNumber>(versions + 1), EntryKind::kDeleteCell);
  return memtable;
}

TEST(CollectTest, PaysForInputThatIsNotWrittenToo) {
  const Ref<Memtable> memtable = ColumnWithADeletion(10000);
  const Retention no_families;
  uint64_t paid = 0;
  MemtableCursor input(memtable.get());
  CollectingCursor collected(&input, &no_families, false, [&](uint64_t bytes) {
    paid += bytes;
    return absl::OkStatus();
  });
  collected.SeekToFirst();
  EXPECT_FALSE(collected.valid());
  EXPECT_OK(collected.status());
  EXPECT_GT(paid, 10000u * kTrailerSize);
}

TEST(CollectTest, EndsWithinSomeHundredEntriesOfAnErrorOfPay) {
  const Ref<Memtable> memtable = ColumnWithADeletion(10000);
  for (const bool is_dropped : {true, false}) {
    Retention retention;
    if (!is_dropped) retention.families = {{.name = "f", .versions = {5000}}};
    int calls = 0;
    MemtableCursor input(memtable.get());
    CollectingCursor collected(&input, &retention, true, [&](uint64_t) {
      return ++calls < 3 ? absl::OkStatus() : absl::CancelledError("enough");
    });
    collected.SeekToFirst();
    EXPECT_FALSE(collected.valid());
    EXPECT_STATUS(kCancelled, "enough", collected.status());
    EXPECT_EQ(calls, 3);
  }
}

}  // namespace
}  // namespace bigtable
