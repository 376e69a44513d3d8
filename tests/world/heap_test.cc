// The memory budget counts the engine's memory on the heap.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <malloc.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "support/expect_status.h"
#include "support/read_mode.h"
#include "support/seeds.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

constexpr bool kHeapIsKnown = !kSanitized;  // a sanitizer's allocator has no mallinfo2

uint64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Continuously compares the growth of the heap since the start with the memory that the budget
// counts.
class HeapWatch {
 public:
  explicit HeapWatch(const MemoryBudget* budget) : budget_(budget), thread_([this] { Watch(); }) {}
  ~HeapWatch() { Stop(); }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // The following are valid once it has stopped.
  uint64_t most_grown() const { return most_grown_; }
  // The most that the budget did not count, and the growth of the heap at that time.
  uint64_t most_unknown() const { return most_unknown_; }
  uint64_t grown_then() const { return grown_then_; }
  // The memory of each use at that time.
  const std::array<uint64_t, MemoryBudget::kUses>& used_then() const { return used_then_; }

  uint64_t Grown() const {
    const uint64_t now = HeapBytes();
    return now > begin_ ? now - begin_ : 0;
  }
  uint64_t Known() const {
    // The log is mapped.
    return budget_->used() - budget_->used(MemoryBudget::Use::kLog) -
           budget_->used(MemoryBudget::Use::kSpareLog);
  }

 private:
  void Watch() {
    std::array<uint64_t, 4> last{};
    for (size_t i = 0; !stop_; ++i) {
      const uint64_t known = Known();
      const uint64_t grown = Grown();
      // Memory may be charged shortly before it is allocated, or after, and both may happen between
      // the two reads, also several times in a row if this thread has to wait for a processor. So a
      // difference counts only as far as all of the last four comparisons have seen it.
      last[i % last.size()] = grown - std::min(grown, std::max(known, Known()));
      const uint64_t unknown = *std::min_element(last.begin(), last.end());
      most_grown_ = std::max(most_grown_, grown);
      if (unknown > most_unknown_) {
        most_unknown_ = unknown;
        grown_then_ = grown;
        for (size_t use = 0; use < MemoryBudget::kUses; ++use) {
          used_then_[use] = budget_->used(static_cast<MemoryBudget::Use>(use));
        }
      }
      absl::SleepFor(absl::Milliseconds(1));
    }
  }

  const MemoryBudget* const budget_;
  const uint64_t begin_ = HeapBytes();
  std::atomic<bool> stop_{false};
  uint64_t most_grown_ = 0;
  uint64_t most_unknown_ = 0;
  uint64_t grown_then_ = 0;
  std::array<uint64_t, MemoryBudget::kUses> used_then_{};
  std::thread thread_;  // last: it uses the others
};

class HeapTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kHeapIsKnown) GTEST_SKIP() << "the sanitizer's allocator does not report its memory";
  }

  void Open(uint64_t budget, const LocalityGroup& group = {}) {
    budget_ = std::make_shared<MemoryBudget>(budget);
    DatabaseOptions options = TestOptions();
    options.shared_memory_budget = budget_;
    options.log_segment_size = 1 << 20;
    options.tablet_servers = 1;
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(directory_.database(), options));
    TableSchema schema;
    schema.locality_groups["g"] = group;
    schema.families["f"].locality_group = "g";
    ASSERT_OK(database_->CreateTable("t", schema));
    ASSERT_OK_AND_ASSIGN(table_, database_->OpenTable("t"));
  }
  // The budget may miss a sixth of the memory, and what a program and its threads need anyway.
  static void ExpectKnown(const HeapWatch& watch) {
    constexpr uint64_t kAnyway = 3 << 20;
    std::printf("the heap grew by %.1f MB, of which at worst %.1f of %.1f were not counted\n",
                static_cast<double>(watch.most_grown()) / 1e6,
                static_cast<double>(watch.most_unknown()) / 1e6,
                static_cast<double>(watch.grown_then()) / 1e6);
    for (const uint64_t used : watch.used_then()) {
      std::printf(" %.1f", static_cast<double>(used) / 1e6);
    }
    std::printf(" MB were counted, by MemoryBudget::Use\n");
    EXPECT_LE(watch.most_unknown(), watch.grown_then() / 6 + kAnyway);
  }
  void WriteRows(int rows, size_t key_size, size_t value_size) {
    std::vector<RowMutation> batch;
    for (int i = 0; i < rows; ++i) {
      // In random order, and different in the first bytes.
      const uint64_t mixed = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15;
      std::string key = Cat(mixed);
      key.resize(std::max(key.size(), key_size), 'k');
      batch.push_back(std::move(RowMutation(key).Set("f:q", std::string(value_size, 'v'))));
      if (batch.size() * key_size < 100'000 && batch.size() < 500 && i + 1 < rows) continue;
      for (const absl::Status& status : table_->ApplyBatch(batch)) ASSERT_OK(status);
      batch.clear();
    }
  }

  const TempDirectory directory_{TempDirectory::Where::kMemory};
  std::shared_ptr<MemoryBudget> budget_;
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
};

TEST_F(HeapTest, ManyTinyRowsAreCounted) {
  constexpr int kRows = 500'000;
  Open(8 << 20);
  HeapWatch watch(budget_.get());
  WriteRows(kRows, 20, 1);
  EXPECT_OK(database_->Compact("t"));
  watch.Stop();
  ExpectKnown(watch);
  // Until it is built, the filter of the file takes eight bytes a row.
  EXPECT_GT(watch.most_grown(), uint64_t{kRows} * 8);
  EXPECT_EQ(budget_->used(MemoryBudget::Use::kWriters), 0u);
}

TEST_F(HeapTest, LargeKeysAreCounted) {
  Open(16 << 20);
  HeapWatch watch(budget_.get());
  WriteRows(700, 60'000, 10);
  EXPECT_OK(database_->Compact("t"));
  watch.Stop();
  ExpectKnown(watch);
}

TEST_F(HeapTest, ARowIndexAndACompressorAreCounted) {
  constexpr int kRows = 300'000;
  Open(16 << 20, {.compression = Compression::kZstd, .filter = FilterKind::kRowIndex});
  HeapWatch watch(budget_.get());
  WriteRows(kRows, 20, 10);
  EXPECT_OK(database_->Compact("t"));
  watch.Stop();
  ExpectKnown(watch);
  EXPECT_GT(watch.most_grown(), uint64_t{kRows} * 16);
}

// The memory of an idle database: nothing is being written, and all data is on the disk.
TEST_F(HeapTest, ManyFilesAndTabletsAreCounted) {
  Open(32 << 20, {.compaction = CompactionStyle::kNone});
  HeapWatch watch(budget_.get());
  for (int file = 0; file < 300; ++file) {
    WriteRows(20, 5'000, 10);
    ASSERT_OK(database_->Flush("t"));
  }
  absl::SleepFor(absl::Milliseconds(50));
  const uint64_t grown = watch.Grown();
  const uint64_t known = watch.Known();
  std::printf("the heap has grown by %.1f MB, of which %.1f are counted\n",
              static_cast<double>(grown) / 1e6, static_cast<double>(known) / 1e6);
  EXPECT_LE(grown - std::min(grown, known), grown / 6 + (2 << 20));
  EXPECT_LE(known, grown + grown / 4 + (1 << 20));
}

}  // namespace
}  // namespace bigtable
