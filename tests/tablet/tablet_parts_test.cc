// What a tablet says about its files and memtables: where it could be split, what it takes, what a
// compaction leaves unread, and which files are left alone.
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "background/compaction_picker.h"
#include "background/merging_compaction.h"
#include "base/entry_key.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"
#include "tablet/group_statistics.h"
#include "tablet/storage_usage.h"
#include "tablet/tablet_change.h"
#include "tablet/unread_versions.h"

namespace bigtable {
namespace {

class TabletPartsTest : public StartedServerFixture {
 protected:
  static std::string Number(int i) { return absl::StrFormat("r%02d", i); }
  absl::Status SetAt(std::string_view row, std::string_view qualifier, int64_t timestamp) {
    std::string operations;
    AppendOperation(&operations, {.has_timestamp = true,
                                  .timestamp = timestamp,
                                  .family = "f",
                                  .qualifier = qualifier,
                                  .value = "v"});
    return Apply(kTableId, {{row, operations}});
  }
  void Rotate() { server_->rotation().RotateAll(tablet_.get()); }
  void Flush() {
    Rotate();
    ASSERT_OK(background_.FlushNow(server_.get()));
  }
  // The i-th run has the i-th newest flush.
  Ref<SSTable> FileOfRun(size_t i) const {
    return tablet_->Version()->groups()[0].runs[i].files[0];
  }
  uint64_t NumberOfRun(size_t i) const { return FileOfRun(i)->info().file_number; }
};

TEST_F(TabletPartsTest, TheMiddleRowHasHalfOfTheBytesBeforeIt) {
  EXPECT_EQ(MiddleRow(*tablet_, 0), std::nullopt);
  for (int i = 0; i < 100; ++i) ASSERT_OK(Write(Number(i), std::string(5000, 'v')));
  EXPECT_EQ(MiddleRow(*tablet_, 0), std::nullopt);  // memtables do not count
  ASSERT_NO_FATAL_FAILURE(Flush());
  const std::optional<std::string> middle = MiddleRow(*tablet_, 0);
  ASSERT_TRUE(middle.has_value());
  EXPECT_GT(*middle, "r45");
  EXPECT_LT(*middle, "r55");
  EXPECT_EQ(MiddleRow(*tablet_, 3), middle);
  EXPECT_EQ(MiddleRow(*tablet_, 2), middle->substr(0, 2));
  EXPECT_EQ(MiddleRow(*tablet_, 1), std::nullopt);  // all rows begin with it
}

TEST_F(TabletPartsTest, OneLargeRowHasNoMiddle) {
  for (int i = 0; i < 50; ++i) ASSERT_OK(SetAt("row", Number(i), 1));
  ASSERT_NO_FATAL_FAILURE(Flush());
  EXPECT_EQ(MiddleRow(*tablet_, 0), std::nullopt);
}

TEST_F(TabletPartsTest, FilesOfBothHalvesCountInPart) {
  for (int i = 0; i < 100; ++i) ASSERT_OK(Write(Number(i), std::string(5000, 'v')));
  ASSERT_NO_FATAL_FAILURE(Flush());
  const uint64_t bytes = tablet_->DiskBytes();
  EXPECT_EQ(bytes, FileOfRun(0)->info().size);
  std::vector<std::shared_ptr<Tablet>> halves;
  server_->SplitTablet(tablet_, "r25", [&](const Tablet::Halves& made) {
    halves = {made.left, made.right};
  });
  const auto part = [&](size_t half) {
    return static_cast<double>(halves[half]->DiskBytes()) / static_cast<double>(bytes);
  };
  EXPECT_NEAR(part(0), 0.25, 0.05);
  EXPECT_NEAR(part(1), 0.75, 0.05);
  EXPECT_FALSE(ReachesInto(*halves[0], *halves[1]));  // both have it
  EXPECT_FALSE(ReachesInto(*halves[1], *halves[0]));
}

TEST_F(TabletPartsTest, WhatACompactionDoesNotReadMayHaveOlderVersions) {
  const auto has_older = [&](int64_t timestamp, const std::vector<Ref<SSTable>>& read = {},
                             std::string_view row = "b", std::string_view qualifier = "q") {
    std::string column;
    AppendRowPrefix(&column, row);
    AppendColumn(&column, "f", qualifier);
    return UnreadVersions(tablet_.get(), 0, read).HasOlder(column, timestamp);
  };
  const auto check = [&](const std::vector<Ref<SSTable>>& read) {
    EXPECT_TRUE(has_older(6, read));
    EXPECT_TRUE(has_older(1000, read));
    EXPECT_FALSE(has_older(5, read));
    EXPECT_FALSE(has_older(0, read));
    EXPECT_FALSE(has_older(6, read, "a"));
    EXPECT_FALSE(has_older(6, read, "b", "p"));
    EXPECT_FALSE(has_older(6, read, "b", ""));
    EXPECT_FALSE(has_older(6, read, "c", "q"));
  };
  EXPECT_FALSE(has_older(6));
  ASSERT_OK(SetAt("b", "q", 5));
  ASSERT_OK(SetAt("c", "r", 1));
  check({});
  Rotate();
  check({});
  ASSERT_NO_FATAL_FAILURE(Flush());
  check({});
  const Ref<SSTable> first = FileOfRun(0);
  EXPECT_FALSE(has_older(6, {first}));
  ASSERT_OK(SetAt("b", "q", 5));
  ASSERT_NO_FATAL_FAILURE(Flush());
  check({first});
  check({FileOfRun(0)});
  EXPECT_FALSE(has_older(6, {first, FileOfRun(0)}));
  EXPECT_FALSE(has_older(6, {FileOfRun(0), first}));
}

TEST_F(TabletPartsTest, StatisticsOfAGroupAreOfItsMemtablesAndFiles) {
  LocalityGroupStatistics empty;
  AddGroup(tablet_->Version()->groups()[0], tablet_->estimates(), &empty);
  EXPECT_EQ(empty.memtables, 1u);
  EXPECT_EQ(empty.files, 0u);
  ASSERT_OK(Write("a"));
  ASSERT_OK(Write("b"));
  ASSERT_NO_FATAL_FAILURE(Flush());
  std::string deletion;
  AppendOperation(&deletion, MutationOperation::DeleteColumn("f", "q"));
  ASSERT_OK(Apply(kTableId, {{"a", deletion}}));
  ASSERT_NO_FATAL_FAILURE(Flush());
  ASSERT_OK(Write("c"));
  Rotate();
  ASSERT_OK(Write("d"));
  const GroupVersion& group = tablet_->Version()->groups()[0];
  LocalityGroupStatistics statistics;
  std::set<uint64_t> counted;
  AddGroup(group, &statistics, &counted);
  EXPECT_EQ(statistics.memtables, 2u);
  EXPECT_EQ(statistics.memtable_bytes, group.active->bytes() + group.immutable[0]->bytes());
  EXPECT_EQ(statistics.sorted_runs, 2u);
  EXPECT_EQ(statistics.files, 2u);
  EXPECT_EQ(statistics.file_bytes, FileOfRun(0)->info().size + FileOfRun(1)->info().size);
  EXPECT_EQ(statistics.entries, 3u);
  EXPECT_EQ(statistics.deletions, 1u);
  AddGroup(group, &statistics, &counted);  // as if of the other half
  EXPECT_EQ(statistics.files, 2u);
  EXPECT_EQ(statistics.memtables, 4u);
  AddGroup(group, tablet_->estimates(), &statistics);
  EXPECT_EQ(statistics.files, 4u);

  // Of a common file, what is the tablet's.
  const KeyRange half(RowRange::RightOpen("", "b"));
  FileEstimates shares(&half);
  LocalityGroupStatistics part;
  const SSTableInfo& shared = FileOfRun(1)->info();
  shares.SetShare(shared.file_number, shared.size / 2);
  AddGroup(group, shares, &part);
  EXPECT_EQ(part.file_bytes, FileOfRun(0)->info().size + shared.size / 2);
  EXPECT_EQ(part.files, 2u);
}

// --- Storage ---

TEST_F(TabletPartsTest, PartsAddUpToTheWhole) {
  EXPECT_EQ(Apportion(100, {1, 1}), (std::vector<uint64_t>{50, 50}));
  EXPECT_EQ(Apportion(100, {0, 3, 1}), (std::vector<uint64_t>{0, 75, 25}));
  EXPECT_EQ(Apportion(0, {5}), (std::vector<uint64_t>{0}));
  const std::vector<uint64_t> thirds = Apportion(100, {7, 7, 7});
  EXPECT_EQ(std::accumulate(thirds.begin(), thirds.end(), uint64_t{0}), 100u);
  for (const uint64_t third : thirds) EXPECT_NEAR(static_cast<double>(third), 33.3, 1);
  const uint64_t huge = uint64_t{1} << 62;
  EXPECT_EQ(Apportion(huge, {huge, huge}), (std::vector<uint64_t>{huge / 2, huge / 2}));
}

TEST_F(TabletPartsTest, StorageIsChargedToTheFamiliesThatHaveIt) {
  TableLayout layout = *tablet_->Layout();
  layout.AddFamily("g", 0, {.owner = "ann"}, 0);
  server_->SetLayout(tablet_.get(), std::make_shared<const TableLayout>(layout));
  std::string both;
  AppendOperation(&both, {.family = "f", .qualifier = "q", .value = std::string(1000, 'v')});
  AppendOperation(&both, {.family = "g", .qualifier = "q", .value = std::string(3000, 'v')});
  StorageUsage none;
  none.Add(tablet_->Version());
  EXPECT_EQ(none.total(), StorageStatistics());
  EXPECT_EQ(none.families().at("g").owner, "ann");
  ASSERT_OK(Apply(kTableId, {{"a", both}}));
  const auto check = [&](uint64_t StorageStatistics::*field, uint64_t total) {
    StorageUsage usage;
    usage.Add(tablet_->Version());
    EXPECT_EQ(usage.total().*field, total);
    const uint64_t f = usage.families().at("f").storage.*field;
    const uint64_t g = usage.families().at("g").storage.*field;
    EXPECT_EQ(f + g, total);
    EXPECT_NEAR(static_cast<double>(g) / static_cast<double>(total), 0.75, 0.02);
    EXPECT_EQ(usage.total().stored_bytes(), total);
  };
  const Pin<TabletVersion> version = tablet_->Version();
  check(&StorageStatistics::memtable_bytes, version->groups()[0].active->bytes());
  Rotate();
  check(&StorageStatistics::memtable_bytes, version->groups()[0].active->bytes());
  StorageUsage twice;  // as halves of a split share it
  twice.Add(tablet_->Version());
  twice.Add(tablet_->Version());
  EXPECT_EQ(twice.total().memtable_bytes, version->groups()[0].active->bytes());
  ASSERT_NO_FATAL_FAILURE(Flush());
  check(&StorageStatistics::disk_bytes, FileOfRun(0)->info().size);
  StorageUsage files_twice;
  files_twice.Add(tablet_->Version());
  files_twice.Add(tablet_->Version());
  EXPECT_EQ(files_twice.total().disk_bytes, FileOfRun(0)->info().size);

  // What is of an earlier family of this name is the table's alone.
  const auto of_g = [&](SequenceNumber created) {
    layout.FindFamily("g")->created = created;
    server_->SetLayout(tablet_.get(), std::make_shared<const TableLayout>(layout));
    StorageUsage usage;
    usage.Add(tablet_->Version());
    EXPECT_EQ(usage.total().disk_bytes, FileOfRun(0)->info().size);
    return usage.families().at("g").storage.disk_bytes;
  };
  const SequenceNumber last = FileOfRun(0)->info().max_sequence;
  EXPECT_GT(of_g(last - 1), 0u);
  EXPECT_EQ(of_g(last), 0u);
}

// --- Quarantined files, and what may be picked ---

TEST_F(TabletPartsTest, AQuarantinedFileDividesTheRuns) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK(Write("a"));
    ASSERT_NO_FATAL_FAILURE(Flush());
  }
  EXPECT_EQ(tablet_->MostRuns(), 5u);
  tablet_->SetMayPickOther(false);
  tablet_->Quarantine(0, 999, absl::DataLossError("unknown"));
  EXPECT_EQ(tablet_->MostRuns(), 5u);
  EXPECT_FALSE(tablet_->MayPickOther());
  tablet_->Quarantine(0, NumberOfRun(1), absl::DataLossError("damaged"));
  EXPECT_EQ(tablet_->MostRuns(), 3u);
  EXPECT_TRUE(tablet_->MayPickOther());
  std::vector<QuarantinedFile> listed;
  AddQuarantined(*tablet_, &listed);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].server, "server-1");
  EXPECT_EQ(listed[0].table, "t");
  EXPECT_EQ(listed[0].locality_group, "default");
  EXPECT_EQ(listed[0].number, NumberOfRun(1));
  EXPECT_STATUS(kDataLoss, "damaged", listed[0].status);
  tablet_->SetMayPickOther(false);
  tablet_->LiftQuarantine();
  EXPECT_EQ(tablet_->MostRuns(), 5u);
  EXPECT_TRUE(tablet_->MayPickOther());
  tablet_->SetMayPickOther(false);
  tablet_->LiftQuarantine();  // there is none any more
  EXPECT_FALSE(tablet_->MayPickOther());
}

TEST_F(TabletPartsTest, OnlyAFlushOrANewSchemaGivesCompactionsSomethingNew) {
  tablet_->SetMayPickOther(false);
  ASSERT_OK(Write("a"));
  Rotate();
  EXPECT_FALSE(tablet_->MayPickOther());
  ASSERT_NO_FATAL_FAILURE(Flush());
  EXPECT_TRUE(tablet_->MayPickOther());
  tablet_->SetMayPickOther(false);
  server_->SetLayout(tablet_.get(), tablet_->Layout());
  EXPECT_FALSE(tablet_->MayPickOther());
  server_->SetLayout(tablet_.get(), std::make_shared<const TableLayout>(*tablet_->Layout()));
  EXPECT_TRUE(tablet_->MayPickOther());
}

TEST_F(TabletPartsTest, APickIsOfRunsThatCanBeMerged) {
  const auto picks = [&] {
    const auto pick = PickCompaction(tablet_.get(), 0);
    EXPECT_OK(pick.status());
    return pick.ok() && pick->has_value();
  };
  EXPECT_FALSE(picks());
  for (int i = 0; i < 6; ++i) {
    ASSERT_OK(Write("a"));
    ASSERT_NO_FATAL_FAILURE(Flush());
  }
  EXPECT_TRUE(picks());
  for (size_t i = 0; i < 6; ++i) {
    tablet_->Quarantine(0, NumberOfRun(i), absl::DataLossError("damaged"));
  }
  EXPECT_FALSE(picks());
  tablet_->LiftQuarantine();
  TableLayout layout = *tablet_->Layout();
  layout.families[0].compaction_filter = "unknown-filter";
  server_->SetLayout(tablet_.get(), std::make_shared<const TableLayout>(layout));
  EXPECT_FALSE(picks());
}

// Only if its policy drops them.
TEST_F(TabletPartsTest, AFileWhoseCellsHaveExpiredIsDropped) {
  ASSERT_OK(SetAt("a", "q", 1));
  ASSERT_NO_FATAL_FAILURE(Flush());
  TableLayout layout = *tablet_->Layout();
  layout.families[0].gc = GcRule::MaxAge(absl::Seconds(1));
  const auto pick = [&](CompactionStyle style) {
    layout.groups[0].options.compaction = style;
    server_->SetLayout(tablet_.get(), std::make_shared<const TableLayout>(layout));
    const auto plan = PickCompaction(tablet_.get(), 0).value();
    return plan.has_value() ? std::optional(plan->pick) : std::nullopt;
  };
  EXPECT_EQ(pick(CompactionStyle::kNone), std::nullopt);
  for (const CompactionStyle style :
       {CompactionStyle::kFifo, CompactionStyle::kSizeTiered, CompactionStyle::kLeveled}) {
    const std::optional<CompactionPick> drop = pick(style);
    ASSERT_TRUE(drop.has_value());
    EXPECT_EQ(drop->kind, CompactionPick::Kind::kDrop);
    EXPECT_EQ(drop->files, std::vector<uint64_t>{NumberOfRun(0)});
  }
}

// The middle is where half of the bytes are reached.
TEST_F(TabletPartsTest, TheMiddleOfFourEqualRowsIsTheSecond) {
  for (int i = 0; i < 4; ++i) ASSERT_OK(Write(Number(i), std::string(30'000, 'v')));
  ASSERT_NO_FATAL_FAILURE(Flush());
  EXPECT_EQ(MiddleRow(*tablet_, 0), Number(1));
}

TEST_F(TabletPartsTest, OnlyAFileThatGetsAnotherOrderIsMoved) {
  for (const bool is_moved_file_newer : {false, true}) {
    const std::string lone = is_moved_file_newer ? "z" : "a";
    const std::string merged = is_moved_file_newer ? "a" : "z";
    for (const std::string& row : {std::string("a"), std::string("z"), merged}) {
      ASSERT_OK(Write(row));
      ASSERT_NO_FATAL_FAILURE(Flush());
    }
    ASSERT_EQ(tablet_->Version()->groups()[0].runs.size(), 2u);
    MergingCompaction compaction(tablet_.get(), 0,
                                 PlanOf(TabletMoment(*tablet_), 0, {.first = 0, .count = 2}));
    ASSERT_OK(compaction.Run(nullptr));
    EXPECT_EQ(compaction.outcome().bytes_moved > 0, is_moved_file_newer) << lone;
    EXPECT_EQ(tablet_->Version()->groups()[0].runs.size(), 1u);
    EXPECT_EQ(tablet_->Version()->groups()[0].runs[0].files.size(), 2u);
    ASSERT_OK(background_.CompactTablet(server_.get(), tablet_, {}));
    ASSERT_OK(server_->DropMemtables(tablet_.get(), {}));
    tablet_->DropFiles();
  }
}

// It would write five: the merged rows, and two parts of either file.
TEST_F(TabletPartsTest, AFailedMergeOfSomeRowsLeavesNoFiles) {
  for (int run = 0; run < 2; ++run) {
    for (int i = 0; i < 10; ++i) ASSERT_OK(Write(Number(i)));
    ASSERT_NO_FATAL_FAILURE(Flush());
  }
  const CompactionPick pick{.count = 2, .rows = RowRange::RightOpen(Number(3), Number(7))};
  const auto files = [&] { return file_system_.ListDirectory("/").value(); };
  const std::vector<std::string> before = files();
  for (uint64_t call = 1; call <= 6; ++call) {
    MergingCompaction compaction(tablet_.get(), 0, PlanOf(TabletMoment(*tablet_), 0, pick));
    faulty_.CountCalls({{FileCall::kNewWritableFile}, ".sst"});
    faulty_.FailCall(call, absl::ResourceExhaustedError("no space"));
    const absl::Status status = compaction.Run(nullptr);
    faulty_.ClearFaults();
    if (call == 6) {
      EXPECT_OK(status);
      EXPECT_EQ(compaction.outcome().files_written, 5u);
      break;
    }
    EXPECT_STATUS(kResourceExhausted, "no space", status) << call;
    EXPECT_EQ(files(), before) << call;
  }
  const std::vector<SortedRun> runs = tablet_->Version()->groups()[0].runs;
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].files.size(), 2u);
  EXPECT_EQ(runs[1].files.size(), 3u);
}

// --- The state ---

TEST_F(TabletPartsTest, AnEmptiedTabletHasNothing) {
  ASSERT_OK(Write("a"));
  ASSERT_NO_FATAL_FAILURE(Flush());
  ASSERT_OK(Write("b"));
  Rotate();
  ASSERT_OK(Write("c"));
  EXPECT_GT(tablet_->State().last_timestamp, 0);
  ASSERT_EQ(tablet_->State().groups.at(0).files.size(), 1u);
  EXPECT_EQ(tablet_->State().groups.at(0).files[0].info, FileOfRun(0)->info());
  EXPECT_EQ(tablet_->State().groups.at(0).redo.sequence, tablet_->FlushedThrough(0));
  EXPECT_EQ(tablet_->State().groups.at(0).redo.server, "server-1");
  tablet_->Quarantine(0, NumberOfRun(0), absl::DataLossError("damaged"));
  const SequenceNumber flushed = tablet_->FlushedThrough(0);
  const Pin<TabletVersion> before = tablet_->Version();
  ASSERT_OK(server_->DropMemtables(tablet_.get(), {}));
  tablet_->DropFiles();
  EXPECT_EQ(before->read_limit(), server_->visible());
  EXPECT_EQ(tablet_->Version()->FirstUnflushed(), kMaxSequence);
  EXPECT_TRUE(tablet_->State().groups.at(0).files.empty());
  EXPECT_EQ(tablet_->FlushedThrough(0), flushed);
  EXPECT_OK(tablet_->quarantine().Check(0));
  EXPECT_EQ(before->groups()[0].runs.size(), 1u);
}

}  // namespace
}  // namespace bigtable
