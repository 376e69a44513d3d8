// Rows reuse the storage of rows that were destroyed on the same thread. Each row still shows its
// own cells, wherever it is moved and however long it is held.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "support/database_fixture.h"
#include "support/random.h"

namespace bigtable {
namespace {

class RowReuseTest : public DatabaseFixture {
 protected:
  // Rows with keys, qualifiers and numbers of cells of many sizes, so that the storage of one is
  // too small or too large for the next. Half of them are in an SSTable, half in the memtable.
  void SetUp() override {
    Open();
    table_ = CreateTable("t", {"f", "g"});
    Random random(1);
    const std::vector<std::string> qualifiers = {"",
                                                 "q",
                                                 "r",
                                                 "a qualifier",
                                                 std::string(48, 'x'),
                                                 std::string(48, 'y'),
                                                 std::string(96, 'x'),
                                                 std::string(97, 'x'),
                                                 std::string(1000, 'z')};
    for (int i = 0; i < 200; ++i) {
      const std::string row =
          absl::StrCat(i, "-", std::string(random.Below(20) * random.Below(15), 'k'));
      std::map<std::pair<std::string, int64_t>, std::string> cells;  // newest first
      for (int64_t n = random.OneIn(10) ? 200 : random.Between(1, 6); n > 0; --n) {
        const std::string column = (random.OneIn(2) ? "f:" : "g:") + random.Pick(qualifiers);
        const std::string value = absl::StrCat(row, n);
        Set(table_, row, column, n, value);
        cells[{column, -n}] = absl::StrCat(column, "@", n, "=", value);
      }
      std::string& expected = expected_[row];
      for (const auto& [place, text] : cells) {
        absl::StrAppend(&expected, expected.empty() ? "" : " ", text);
      }
      rows_.push_back(row);
      if (i == 100) {
        ASSERT_OK(database_->Flush("t"));
      }
    }
    expected_["none"] = "";
    rows_.push_back("none");
  }

  Row Read(const std::string& row) {
    absl::StatusOr<Row> read = table_->ReadRow(row);
    EXPECT_OK(read);
    return read.ok() ? *std::move(read) : Row();
  }
  // Checks that the row's cells match its key.
  void Check(const Row& row) const {
    const auto expected = expected_.find(std::string(row.key()));
    ASSERT_TRUE(expected != expected_.end()) << Quoted(row.key());
    ASSERT_EQ(Show(row), expected->second) << Quoted(row.key());
  }

  Table* table_ = nullptr;
  std::vector<std::string> rows_;
  std::map<std::string, std::string> expected_;
};

TEST_F(RowReuseTest, ARowShowsItsOwnCellsAfterAnyOtherWasDestroyed) {
  Random random(2);
  for (int i = 0; i < 5000; ++i) {
    const std::string& name = random.Pick(rows_);
    const Row row = Read(name);
    ASSERT_EQ(row.key(), name);
    ASSERT_NO_FATAL_FAILURE(Check(row));
  }
}

TEST_F(RowReuseTest, HeldRowsStayValidWhileOthersAreReadAndDestroyed) {
  Random random(3);
  std::vector<Row> held(20);
  std::vector<std::string> names(held.size());
  for (int i = 0; i < 5000; ++i) {
    const size_t place = random.Below(held.size());
    if (random.OneIn(3)) {
      held[place] = Row();
      names[place].clear();
    } else if (random.OneIn(3)) {
      const size_t other = random.Below(held.size());
      std::swap(held[place], held[other]);
      std::swap(names[place], names[other]);
    } else {
      names[place] = random.Pick(rows_);
      held[place] = Read(names[place]);
    }
    const size_t looked_at = random.Below(held.size());
    ASSERT_EQ(held[looked_at].key(), names[looked_at]);
    if (!names[looked_at].empty()) {
      ASSERT_NO_FATAL_FAILURE(Check(held[looked_at]));
    }
  }
}

TEST_F(RowReuseTest, ARowThatWasMovedFromIsEmpty) {
  Row row = Read(rows_[0]);
  const Row moved = std::move(row);
  EXPECT_TRUE(row.empty());  // NOLINT: the state after the move
  EXPECT_EQ(row.key(), "");
  ASSERT_NO_FATAL_FAILURE(Check(moved));
  row = Read(rows_[1]);
  ASSERT_NO_FATAL_FAILURE(Check(row));
  ASSERT_NO_FATAL_FAILURE(Check(moved));
}

TEST_F(RowReuseTest, RowsTakenFromAStreamStayValidWhileItContinues) {
  for (const bool reverse : {false, true}) {
    std::vector<Row> taken;
    ReadOptions options;
    options.reverse = reverse;
    RowReader reader = table_->ReadRows(RowRange::All(), options);
    for (size_t i = 0; reader.Next(); ++i) {
      ASSERT_NO_FATAL_FAILURE(Check(reader.row()));
      if (i % 3 != 0) taken.push_back(reader.TakeRow());
      if (i % 7 == 0) taken.erase(taken.begin(), taken.begin() + 2 * static_cast<int>(i > 7));
      ASSERT_NO_FATAL_FAILURE(Check(Read(rows_[i % rows_.size()])));
    }
    ASSERT_OK(reader.status());
    EXPECT_GT(taken.size(), 50u);
    for (const Row& row : taken) ASSERT_NO_FATAL_FAILURE(Check(row));
  }
}

TEST_F(RowReuseTest, RowsMayBeReadOnOneThreadAndDestroyedOnAnother) {
  Random random(4);
  for (int round = 0; round < 20; ++round) {
    std::vector<Row> here;
    for (int i = 0; i < 50; ++i) here.push_back(Read(random.Pick(rows_)));
    std::vector<Row> back;
    std::thread([&, there = std::move(here)]() mutable {
      while (!there.empty()) {
        ASSERT_NO_FATAL_FAILURE(Check(there.back()));
        if (random.OneIn(2)) {
          there.pop_back();  // perhaps before the thread has read a row
        } else if (random.OneIn(2)) {
          there.back() = Read(random.Pick(rows_));
        } else {
          back.push_back(std::move(there.back()));
          there.pop_back();
        }
      }
    }).join();
    for (const Row& row : back) ASSERT_NO_FATAL_FAILURE(Check(row));  // their thread has ended
  }
}

TEST_F(RowReuseTest, ManyThreadsReadRowsAndPassThemToOneAnother) {
  constexpr size_t kThreads = 4;
  std::vector<Row> handed[kThreads];
  for (int round = 0; round < 10; ++round) {
    std::vector<std::thread> threads;
    std::vector<Row> results[kThreads];
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        Random random(static_cast<uint64_t>(round) * kThreads + t);
        std::vector<Row> mine = std::move(handed[t]);
        for (int i = 0; i < 200; ++i) {
          if (mine.size() < 10 || random.OneIn(2)) {
            mine.push_back(Read(random.Pick(rows_)));
          } else {
            const size_t at = random.Below(mine.size());
            ASSERT_NO_FATAL_FAILURE(Check(mine[at]));
            std::swap(mine[at], mine.back());
            mine.pop_back();
          }
        }
        results[(t + 1) % kThreads] = std::move(mine);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (size_t t = 0; t < kThreads; ++t) {
      for (const Row& row : results[t]) ASSERT_NO_FATAL_FAILURE(Check(row));
      handed[t] = std::move(results[t]);
    }
  }
}

// Created before the thread reads anything, so it is destroyed after the storage that the thread
// keeps.
thread_local Row last_row;

TEST_F(RowReuseTest, ARowMayBeTheLastObjectThatAThreadDestroys) {
  for (int i = 0; i < 20; ++i) {
    std::thread([&] {
      last_row = Row();
      last_row = Read(rows_[static_cast<size_t>(i)]);
      for (int k = 0; k < i % 3; ++k) Read(rows_[0]);
      ASSERT_NO_FATAL_FAILURE(Check(last_row));
    }).join();
  }
}

TEST_F(RowReuseTest, ARowMovedToItselfIsUnchanged) {
  Row row = Read(rows_[0]);
  Row& same = row;
  row = std::move(same);
  ASSERT_NO_FATAL_FAILURE(Check(row));
}

TEST_F(RowReuseTest, RowsOutliveTheDatabase) {
  std::vector<Row> held;
  for (const std::string& row : rows_) held.push_back(Read(row));
  ASSERT_OK(database_->Close());
  database_.reset();
  for (const Row& row : held) ASSERT_NO_FATAL_FAILURE(Check(row));
}

// Neither the memtable of the row, nor the log segment of its value.
TEST_F(RowReuseTest, ADestroyedRowPinsNothing) {
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  const DatabaseStatistics before = database_->Statistics();
  const auto write_and_read = [&] {
    for (int i = 0; i < 30; ++i) {
      Set(table_, "large", absl::StrCat("f:", i), 1, std::string(50000, 'v'));
    }
    return Read("large");
  };
  const auto memory = [&] {
    EXPECT_OK(database_->Flush("t"));
    EXPECT_OK(database_->WaitUntilQuiet());
    const DatabaseStatistics statistics = database_->Statistics();
    return statistics.memory_memtables + statistics.memory_log;
  };
  uint64_t held = 0;
  {
    const Row row = write_and_read();
    held = memory();
    EXPECT_EQ(row.cells().size(), 30u);
    EXPECT_EQ(row.cells()[29].value, std::string(50000, 'v'));
  }
  EXPECT_GT(held, before.memory_memtables + before.memory_log + 1'000'000);
  EXPECT_LT(memory(), held - 1'000'000);
  write_and_read();
  EXPECT_LT(memory(), held - 1'000'000);
}

}  // namespace
}  // namespace bigtable
