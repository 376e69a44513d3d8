// Compaction jobs: the files that they write (testdata/job.txt), and that a job that ends early
// leaves none.
//
//   compact [major] [family=NAME] target=BYTES [max_bytes=] [cancel_at=] [cancelled]
//           [split_at=ROW,...]
//              generates rows x columns x versions cells with values of `value` bytes, as the lines
//              of input say: PREFIX rows= columns= versions= value=
//              cancel_at: at this entry; max_bytes: of the disk; split_at: rows, or keys of cells

#include "compaction/job.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/call_limits.h"
#include "base/steady_time.h"
#include "compaction/merging_cursor.h"
#include "compaction/rate_limiter.h"
#include "memtable/memtable_cursor.h"
#include "sstable/sstable_builder.h"
#include "support/entry_text.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/test_sstables.h"
#include "support/text_driven.h"

namespace bigtable {
namespace {

// A memtable's cursor that sets a flag at a given entry.
class CancellingCursor final : public EntryCursor {
 public:
  CancellingCursor(const Memtable* memtable, int64_t at, std::atomic<bool>* cancelled)
      : cursor_(memtable), left_(at), cancelled_(cancelled) {}
  void Seek(std::string_view target) override {
    cursor_.Seek(target);
    Show();
  }
  void SeekBefore(std::string_view target) override {
    cursor_.SeekBefore(target);
    Show();
  }
  void SeekToFirst() override {
    cursor_.SeekToFirst();
    Show();
  }
  void SeekToLast() override {
    cursor_.SeekToLast();
    Show();
  }
  void Next() override {
    if (--left_ == 0) cancelled_->store(true);
    cursor_.Next();
    Show();
  }

 private:
  void Show() {
    valid_ = cursor_.valid();
    if (!valid_) return;
    key_ = cursor_.key();
    value_ = cursor_.value();
  }
  MemtableCursor cursor_;
  int64_t left_;
  std::atomic<bool>* const cancelled_;
};

Ref<Memtable> Generate(const TextCommand& command) {
  const Ref<Memtable> memtable = NewTestMemtable();
  Random random(1);
  for (const std::string& line : command.input) {
    const TextArguments arguments(SplitWords(line));
    for (int64_t row = 0; row < arguments.Number("rows", 1); ++row) {
      for (int64_t column = 0; column < arguments.Number("columns", 1); ++column) {
        for (int64_t version = 1; version <= arguments.Number("versions", 1); ++version) {
          std::string key = RowPrefix(arguments.Word(0) + std::to_string(row));
          AppendColumn(&key, "f", std::to_string(column));
          AppendTrailer(&key, version, {1, 0}, EntryKind::kCell);
          memtable->Add(key, random.Bytes(static_cast<size_t>(arguments.Number("value"))));
        }
      }
    }
  }
  return memtable;
}

std::string Compact(const TextCommand& command) {
  if (command.name != "compact") return "unknown command";
  InMemoryFileSystem file_system;
  file_system.set_max_total_bytes(
      static_cast<uint64_t>(command.Number("max_bytes", int64_t{1} << 40)));
  uint64_t last_number = 0;
  std::atomic<bool> cancelled{command.Has("cancelled")};
  CompactionJob job;
  job.file_system = &file_system;
  job.new_file_number = [&] { return ++last_number; };
  job.path_of = TestSSTables::PathOf;
  job.retention.families = {{.name = command.Value("family", "f"), .versions = {}}};
  job.major = command.Has("major");
  job.target_file_size = static_cast<uint64_t>(command.Number("target"));
  job.cancelled = &cancelled;
  std::vector<std::string> splits;
  for (const auto split : absl::StrSplit(command.Value("split_at"), ',', absl::SkipEmpty())) {
    const std::optional<TextEntry> entry = ParseEntry(std::string(split) + " cell");
    splits.push_back(entry.has_value() ? entry->key : RowPrefix(ToStd(split)));
  }
  job.split_at.assign(splits.begin(), splits.end());

  const Ref<Memtable> memtable = Generate(command);
  CancellingCursor input(memtable.get(), command.Number("cancel_at", -1), &cancelled);
  const absl::StatusOr<std::vector<SSTableInfo>> written = job.Run(&input);
  std::string out;
  if (!written.ok()) {
    absl::StrAppend(&out, absl::StatusCodeToString(written.status().code()), " after file ",
                    last_number, " was begun\n");
  } else {
    for (const SSTableInfo& info : *written) {
      absl::StrAppend(&out, "file ", info.file_number, ", ", info.entries,
                      " entries: ", DebugString(info.smallest_key), " to ",
                      DebugString(info.largest_key), "\n");
    }
    // They survive the loss of power, once their directory is synced.
    EXPECT_OK(SyncDirectoryOf(&file_system, TestSSTables::PathOf(1)));
    for (const std::string& path : file_system.AllFiles()) {
      if (!file_system.CrashClone(1)->FileExists(path)) absl::StrAppend(&out, path, " is lost\n");
    }
  }
  const size_t files = file_system.AllFiles().size();
  if (written.ok() ? files != written->size() : true) {
    absl::StrAppend(&out, files, " files are left\n");
  }
  return out.empty() ? "no file\n" : out;
}

TEST(JobTest, FilesEndAtRowsAndNoneIsLeftAfterAnError) {
  RunTextFile(BIGTABLE_TESTDATA "/job.txt", Compact);
}

// Cells of numbered rows, columns or versions of one row and column.
enum class Numbered : uint8_t { kRows, kColumns, kVersions };
Ref<Memtable> NumberedCells(Numbered what) {
  const Ref<Memtable> memtable = NewTestMemtable();
  Random random(1);
  for (int i = 100; i < 200; ++i) {
    const std::string number = std::to_string(i);
    std::string key = RowPrefix(what == Numbered::kRows ? number : "row");
    AppendColumn(&key, "f", what == Numbered::kColumns ? number : "q");
    AppendTrailer(&key, what == Numbered::kVersions ? 1000 - i : 1, {1, 0}, EntryKind::kCell);
    memtable->Add(key, random.Bytes(1000));
  }
  return memtable;
}

// A file that has reached its target size ends with its row, one of twice that size with its
// column, and one of four times that size at once.
TEST(JobTest, AFileEndsOnceItsSizeIsTheLimit) {
  for (const auto& [what, times] : {std::pair(Numbered::kRows, 1), std::pair(Numbered::kColumns, 2),
                                    std::pair(Numbered::kVersions, 4)}) {
    SCOPED_TRACE(times);
    const Ref<Memtable> memtable = NumberedCells(what);
    InMemoryFileSystem file_system;
    CompactionJob job;
    job.file_system = &file_system;
    uint64_t last_number = 0;
    job.new_file_number = [&] { return ++last_number; };
    job.path_of = TestSSTables::PathOf;
    job.retention.families = {{.name = "f", .versions = {}}};
    // The first size of a file that is a multiple.
    ASSERT_OK_AND_ASSIGN(auto file, file_system.NewWritableFile("/measured"));
    SSTableBuilder builder(std::move(file), "/measured", 1, job.group);
    MemtableCursor measured(memtable.get());
    measured.SeekToFirst();
    uint64_t entries = 0;
    do {
      ASSERT_TRUE(measured.valid());
      ASSERT_OK(builder.Add(measured.key(), measured.value()));
      measured.Next();
      ++entries;
    } while (entries < 10 || builder.EstimatedSize() % static_cast<uint64_t>(times) != 0);
    job.target_file_size = builder.EstimatedSize() / static_cast<uint64_t>(times);
    MemtableCursor input(memtable.get());
    ASSERT_OK_AND_ASSIGN(const std::vector<SSTableInfo> exact, job.Run(&input));
    EXPECT_EQ(exact[0].entries, entries);
    ++job.target_file_size;
    ASSERT_OK_AND_ASSIGN(const std::vector<SSTableInfo> larger, job.Run(&input));
    EXPECT_GT(larger[0].entries, entries);
  }
}

absl::Status GoOn() { return absl::OkStatus(); }

TEST(RateLimiterTest, TheCallerWaitsForTheBytesThatItUsed) {
  RateLimiter limiter(1'000'000);
  SteadyTime start = SteadyTime::Now();
  ASSERT_OK(limiter.Pay(400'000, GoOn));
  EXPECT_GE(SteadyTime::Now() - start, absl::Milliseconds(200));  // all but a tenth of a second
  start = SteadyTime::Now();
  ASSERT_OK(limiter.Pay(200'000, GoOn));  // debts add up
  EXPECT_GE(SteadyTime::Now() - start, absl::Milliseconds(100));
}

TEST(RateLimiterTest, ADebtOfLessThanATenthOfASecondNeedsNoWait) {
  RateLimiter limiter(1);
  int looks = 0;
  EXPECT_OK(limiter.Pay(0, [&] {
    ++looks;
    return absl::OkStatus();
  }));
  EXPECT_EQ(looks, 1);
}

TEST(RateLimiterTest, ANewRateCancelsTheDebtAndAppliesToWaitingCallers) {
  RateLimiter limiter(1);
  std::atomic<int> looks{0};
  std::thread payer([&] {
    EXPECT_OK(limiter.Pay(1 << 20, [&] {  // twelve days
      ++looks;
      return absl::OkStatus();
    }));
  });
  while (looks < 2) std::this_thread::yield();
  limiter.SetRate(1'000'000'000);
  payer.join();
  limiter.SetRate(0);
  EXPECT_OK(limiter.Pay(uint64_t{1} << 40, GoOn));
}

TEST(RateLimiterTest, LimitsAJobThatDropsAllItsInput) {
  const Ref<Memtable> memtable = NewTestMemtable();
  for (int row = 0; row < 100; ++row) {
    std::string key = RowPrefix(absl::StrCat("row", 1000 + row));
    AppendColumn(&key, "dropped", "q");
    AppendTrailer(&key, 1, {1, 0}, EntryKind::kCell);
    memtable->Add(key, std::string(5000, 'v'));
  }
  RateLimiter limiter(1 << 20);  // half a second
  CompactionJob job;
  job.rate_limiter = &limiter;
  MemtableCursor input(memtable.get());
  const SteadyTime begin = SteadyTime::Now();
  ASSERT_OK_AND_ASSIGN(const std::vector<SSTableInfo> written, job.Run(&input));
  EXPECT_TRUE(written.empty());
  EXPECT_GT(SteadyTime::Now() - begin, absl::Milliseconds(200));
}

TEST(RateLimiterTest, AWaitEndsWithAnErrorOfTheCheck) {
  RateLimiter limiter(1);
  std::atomic<bool> ended{false};
  std::atomic<int> looks{0};
  std::thread payer([&] {
    EXPECT_STATUS(kAborted, "no more", limiter.Pay(1 << 20, [&] {
      ++looks;
      return ended ? absl::AbortedError("no more") : absl::OkStatus();
    }));
  });
  while (looks < 1) std::this_thread::yield();
  ended = true;
  limiter.Wake();
  payer.join();
}

TEST(RateLimiterTest, AJobThatIsCancelledOrPastItsDeadlineDoesNotWait) {
  RateLimiter limiter(1);
  EXPECT_STATUS(kAborted, "", limiter.Pay(1 << 20, [] { return absl::AbortedError(""); }));
  const std::atomic<bool> cancelled{true};
  CompactionJob job;
  job.rate_limiter = &limiter;
  job.cancelled = &cancelled;
  MergingCursor nothing;
  EXPECT_STATUS(kCancelled, "cancelled", job.Run(&nothing));
  job.cancelled = nullptr;
  job.abandoned = &cancelled;
  EXPECT_STATUS(kCancelled, "cancelled", job.Run(&nothing));
  job.abandoned = nullptr;
  job.limits.deadline = Deadline::In(absl::Milliseconds(30));
  EXPECT_STATUS(kDeadlineExceeded, "the compaction", job.Run(&nothing));
  Cancellation cancellation;
  cancellation.Cancel();
  job.limits = {.cancellation = &cancellation};
  EXPECT_STATUS(kCancelled, "the compaction", job.Run(&nothing));
}

}  // namespace
}  // namespace bigtable
