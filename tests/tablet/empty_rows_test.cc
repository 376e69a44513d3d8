// Ranges of rows that are known to be empty. "Skips" is where a read from a row begins instead.
#include "tablet/empty_rows.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/key_buffer.h"
#include "base/ref_counted.h"
#include "base/strings.h"
#include "support/random.h"

namespace bigtable {
namespace {

class EmptyRowsTest : public testing::Test {
 protected:
  static absl::Time At(int64_t now) { return absl::FromUnixMicros(now); }
  EmptyRows::View View(SequenceNumber sequence, int64_t now = 0) const {
    return {rows_->epoch(), sequence, At(now)};
  }
  // Where a read that begins at the row begins instead; "-": nowhere.
  std::string Skip(std::string_view row, SequenceNumber sequence, int64_t now = 0) const {
    KeyBuffer begin;
    begin.assign(row);
    const EmptyRows::Skipped skipped = rows_->Skip(View(sequence, now), &begin);
    EXPECT_EQ(skipped == EmptyRows::Skipped::kNone, begin.view() == row && !IsAll(skipped));
    return IsAll(skipped) ? "-" : std::string(begin.view());
  }
  static bool IsAll(EmptyRows::Skipped skipped) { return skipped == EmptyRows::Skipped::kAll; }
  // Where a read in reverse begins that would begin before the row; "-": nowhere.
  std::string SkipBack(std::string_view row, SequenceNumber sequence, int64_t now = 0) const {
    KeyBuffer end;
    end.assign(row);
    const EmptyRows::Skipped skipped = rows_->SkipBack(View(sequence, now), &end);
    EXPECT_EQ(skipped == EmptyRows::Skipped::kNone, end.view() == row && !IsAll(skipped));
    return IsAll(skipped) ? "-" : std::string(end.view());
  }
  void Watch(std::string_view begin, uint64_t rows = 100) {
    rows_->Watch(rows_->epoch(), begin, rows);
  }
  void Report(std::string_view begin, std::string_view end, SequenceNumber sequence,
              int64_t now = 0) {
    rows_->Report(View(sequence, now), begin, end, 100);
  }
  // Of one range of many, which do not touch.
  static std::string BeginOf(size_t i) { return std::string(1, static_cast<char>('A' + 2 * i)); }
  void Write(std::string_view row) { rows_->RecordWrite(row, ++last_); }
  // [b, m) is known to be empty from sequence number 10 on.
  void Know() {
    last_ = 10;
    Watch("b");
    Report("b", "m", 10);
    ASSERT_EQ(Skip("b", 10), "m");
  }

  const Ref<EmptyRows> rows_ = MakeRef<EmptyRows>();
  SequenceNumber last_ = 0;
};

TEST_F(EmptyRowsTest, AReadBeginsAtTheEndOfARangeThatItBeginsIn) {
  Know();
  EXPECT_EQ(Skip("b", 10), "m");
  EXPECT_EQ(Skip("f", 10), "m");
  EXPECT_EQ(Skip("a", 10), "a");
  EXPECT_EQ(Skip("m", 10), "m");
}

TEST_F(EmptyRowsTest, NothingIsKnownBeforeAReport) {
  EXPECT_FALSE(rows_->is_watching());
  Report("b", "m", 10);  // nothing was watched
  EXPECT_EQ(Skip("b", 10), "b");
  Watch("b");
  EXPECT_TRUE(rows_->is_watching());
  EXPECT_EQ(Skip("b", 10), "b");
}

TEST_F(EmptyRowsTest, AnOlderReadDoesNotUseARange) {
  Know();
  EXPECT_EQ(Skip("b", 9), "b");
}

TEST_F(EmptyRowsTest, AReadAtAnEarlierTimeDoesNotUseARange) {
  Watch("b");
  Report("b", "m", 10, 50);
  EXPECT_EQ(Skip("b", 10, 50), "m");
  EXPECT_EQ(Skip("b", 10, 60), "m");
  EXPECT_EQ(Skip("b", 10, 49), "b");
  // The clock was set back: the rows are walked over once more.
  Report("b", "k", 11, 40);
  EXPECT_EQ(Skip("b", 11, 40), "b");
  Report("b", "m", 11, 40);
  EXPECT_EQ(Skip("b", 11, 40), "m");
}

TEST_F(EmptyRowsTest, ARangeIsOfUseFromTheLaterTimeOfItsParts) {
  Watch("b");
  Report("b", "f", 10, 50);
  Report("f", "m", 10, 60);
  EXPECT_EQ(Skip("b", 10, 59), "b");
  EXPECT_EQ(Skip("b", 10, 60), "m");
  Report("m", "n", 10, 55);
  EXPECT_EQ(Skip("b", 10, 59), "b");
  EXPECT_EQ(Skip("b", 10, 60), "n");
}

TEST_F(EmptyRowsTest, ARangeWithoutAnEnd) {
  Watch("");
  Report("", "", 10);
  EXPECT_EQ(Skip("", 10), "-");
  EXPECT_EQ(Skip("x", 10), "-");
  Write("k");
  EXPECT_EQ(Skip("", 10), "k");
  EXPECT_EQ(Skip("x", 10), "-");  // the rows behind the write
}

TEST_F(EmptyRowsTest, AWriteEndsARangeBeforeItsRow) {
  Know();
  Write("f");
  EXPECT_EQ(Skip("b", 11), "f");
  EXPECT_EQ(Skip("f", 11), "f");
  EXPECT_EQ(Skip("g", 11), "m");
}

TEST_F(EmptyRowsTest, AWriteOutsideOfARangeLeavesIt) {
  Know();
  Write("a");
  Write("m");
  Write("z");
  EXPECT_EQ(Skip("b", 13), "m");
}

TEST_F(EmptyRowsTest, AWriteToTheFirstRowLeavesTheRest) {
  Know();
  Write("b");
  EXPECT_EQ(Skip("b", 11), "b");
  EXPECT_EQ(Skip("c", 11), "m");
}

// The head is deleted: the walk from the end of the range comes to the range behind it.
TEST_F(EmptyRowsTest, ARangeThatWasDividedIsWholeAgain) {
  Know();
  Write("f");  // inserted,
  Write("f");  // and deleted
  Report("f", "m", 12);
  EXPECT_EQ(Skip("b", 12), "m");
  EXPECT_EQ(Skip("b", 11), "b");
  EXPECT_EQ(rows_->ranges(), 1);
}

TEST_F(EmptyRowsTest, AReportWithWritesOfWhichItIsNotCertainIsNotTaken) {
  last_ = 9;
  Write("x");  // number 10 has begun when the walk asks for the watch
  Watch("b");
  Report("b", "m", 9);
  EXPECT_EQ(Skip("b", 10), "b");
  Report("b", "m", 10);
  EXPECT_EQ(Skip("b", 10), "m");
}

TEST_F(EmptyRowsTest, AReportOlderThanTheTabletIsNotTaken) {
  rows_->StartAfter(10);
  Watch("b");
  Report("b", "m", 9);
  EXPECT_EQ(Skip("b", 10), "b");
  Report("b", "m", 10);
  EXPECT_EQ(Skip("b", 10), "m");
}

TEST_F(EmptyRowsTest, AReportEndsAtAWriteThatTheWalkHasNotSeen) {
  Watch("b");
  Write("k");
  Write("f");
  Write("g");
  Report("b", "m", 2);  // has not seen the last one
  EXPECT_EQ(Skip("b", 3), "f");
}

TEST_F(EmptyRowsTest, AReportPassesWritesThatTheWalkHasSeen) {
  Watch("b");
  Write("f");
  Write("z");
  Report("b", "m", 2);
  EXPECT_EQ(Skip("b", 2), "m");
  EXPECT_EQ(Skip("b", 1), "b");
}

TEST_F(EmptyRowsTest, AWriteThatAWalkHasSeenDoesNotLimitLaterReports) {
  last_ = 10;
  Watch("b");
  Report("b", "h", 10);
  Write("f");
  Report("b", "h", 11);
  ASSERT_EQ(Skip("b", 11), "h");
  Write("p");
  Report("b", "m", 11);  // has not seen the last write, which is behind it
  EXPECT_EQ(Skip("b", 11), "m");
}

// Notes that are dropped must not be missed by a read that began before them.
TEST_F(EmptyRowsTest, AReportAfterNotesWereDroppedHasSeenThem) {
  Watch("b");
  Write("d");
  Write("k");
  Report("b", "d", 2);  // has seen both, and found a cell in d
  EXPECT_EQ(Skip("b", 2), "d");
  Report("d", "m", 0);  // as if d and k were empty
  Report("d", "m", 1);
  EXPECT_EQ(Skip("b", 2), "d");
  Report("d", "k", 2);
  EXPECT_EQ(Skip("b", 2), "k");
}

TEST_F(EmptyRowsTest, NotesAreDroppedWhenAReportWasLimitedByThem) {
  Watch("b");
  Write("f");
  Report("b", "m", 0);
  EXPECT_EQ(Skip("b", 0), "f");
  Report("f", "m", 0);  // has not seen the write
  EXPECT_EQ(Skip("b", 1), "f");
  Report("f", "m", 1);
  EXPECT_EQ(Skip("b", 1), "m");
}

TEST_F(EmptyRowsTest, AConsumerExtendsARange) {
  Know();
  for (const std::string_view head : {"m", "n", "o"}) {
    Write(head);  // deletes it
    Report(head, std::string(1, static_cast<char>(head[0] + 1)), last_);
  }
  EXPECT_EQ(Skip("b", last_), "p");
  EXPECT_EQ(Skip("b", last_ - 1), "b");  // older than the last report
  EXPECT_EQ(rows_->ranges(), 1);
}

TEST_F(EmptyRowsTest, AReportThatDoesNotTouchARangeIsNotTaken) {
  Know();
  Report("n", "p", 10);
  EXPECT_EQ(Skip("n", 10), "n");
  Report("a", "p", 10);
  EXPECT_EQ(Skip("a", 10), "a");
  EXPECT_EQ(Skip("b", 10), "m");
}

TEST_F(EmptyRowsTest, RangesThatTouchAreSkippedTogether) {
  Know();
  Watch("t");
  Report("t", "z", 12);
  Watch("n");
  Report("n", "t", 11);
  Report("m", "n", 10);
  EXPECT_EQ(Skip("b", 10), "n");
  EXPECT_EQ(Skip("b", 11), "t");
  EXPECT_EQ(Skip("b", 12), "z");
}

TEST_F(EmptyRowsTest, ARangeAbsorbsThoseInside) {
  Watch("n");
  Report("n", "p", 1);
  Watch("b");
  EXPECT_EQ(rows_->ranges(), 2);
  Report("b", "z", 2);
  EXPECT_EQ(rows_->ranges(), 1);
  EXPECT_EQ(Skip("n", 2), "z");
}

TEST_F(EmptyRowsTest, ANewEpochForgetsEverything) {
  Know();
  const EmptyRows::View old = View(10);
  rows_->BeginEpoch();
  EXPECT_FALSE(rows_->is_watching());
  EXPECT_EQ(Skip("b", 10), "b");
  // Readers of versions of the old epoch are ignored, and ignore what is known now.
  rows_->Watch(old.epoch, "b", 100);
  EXPECT_FALSE(rows_->is_watching());
  Watch("b");
  rows_->Report(old, "b", "m", 1);
  EXPECT_EQ(Skip("b", 10), "b");
  Report("b", "m", 10);
  KeyBuffer begin;
  begin.assign("b");
  EXPECT_EQ(rows_->Skip(old, &begin), EmptyRows::Skipped::kNone);
  EXPECT_EQ(Skip("b", 10), "m");
}

TEST_F(EmptyRowsTest, AReadInReverseBeginsBeforeARangeThatItBeginsIn) {
  Know();
  EXPECT_EQ(SkipBack("m", 10), "b");
  EXPECT_EQ(SkipBack("f", 10), "b");
  EXPECT_EQ(SkipBack("b", 10), "b");
  EXPECT_EQ(SkipBack("ma", 10), "ma");
  EXPECT_EQ(SkipBack("", 10), "");
  EXPECT_EQ(SkipBack("m", 9), "m");
  Watch("m");
  Report("m", "", 10);
  EXPECT_EQ(SkipBack("", 10), "b");
  EXPECT_EQ(SkipBack("z", 10), "b");
  Watch("");
  Report("", "b", 10);
  EXPECT_EQ(SkipBack("z", 10), "-");
  EXPECT_EQ(SkipBack("", 10), "-");
}

TEST_F(EmptyRowsTest, AWriteEndsWhatAReadInReverseSkips) {
  Know();
  Write("f");
  EXPECT_EQ(SkipBack("m", 11), "g");  // what comes after it
  EXPECT_EQ(SkipBack("f", 11), "b");
  EXPECT_EQ(SkipBack("fa", 11), "fa");
}

TEST_F(EmptyRowsTest, RangesThatTouchBecomeOne) {
  Watch("m");
  Report("m", "z", 10);
  Watch("f");
  Report("f", "h", 12);
  Watch("d");
  Report("d", "f", 10);  // by a read that cannot tell of what is known from a later one
  last_ = 12;
  Watch("a");
  Report("a", "b", 11);
  EXPECT_EQ(rows_->ranges(), 4);
  Report("b", "d", 11);
  EXPECT_EQ(rows_->ranges(), 3);  // with [d, f)
  EXPECT_EQ(Skip("a", 11), "f");
  EXPECT_EQ(Skip("a", 12), "h");
  EXPECT_EQ(Skip("d", 10), "d");
  Report("h", "m", 12);
  EXPECT_EQ(Skip("a", 12), "z");
  // Writes are noted for all of it.
  Write("g");
  EXPECT_EQ(Skip("a", 13), "g");
  Write("b");
  EXPECT_EQ(Skip("a", 14), "b");
}

TEST_F(EmptyRowsTest, TheRangeOfTheFewestRowsIsReplaced) {
  for (size_t i = 0; i < EmptyRows::kMostRanges; ++i) {
    Watch(BeginOf(i));
    Report(BeginOf(i), BeginOf(i) + "x", 1);
  }
  EXPECT_EQ(Skip("A", 1), "Ax");  // used last
  Watch("B", 100);
  EXPECT_EQ(rows_->ranges(), EmptyRows::kMostRanges);
  EXPECT_EQ(Skip("C", 1), "Cx");  // the other was worth no more
  Watch("B", 101);
  EXPECT_EQ(rows_->ranges(), EmptyRows::kMostRanges);
  EXPECT_EQ(Skip("A", 1), "Ax");
  EXPECT_EQ(Skip("E", 1), "E");  // used least recently
}

TEST_F(EmptyRowsTest, ARangeThatIsNotUsedGivesWayToASmallerOne) {
  for (size_t i = 0; i < EmptyRows::kMostRanges; ++i) {
    Watch(BeginOf(i), 1000);
    rows_->Report(View(1), BeginOf(i), BeginOf(i) + "x", 1000);
  }
  int refused = 0;
  for (;; ++refused) {
    Watch("B", 40);
    EXPECT_EQ(rows_->Report(View(1), "B", "Bx", 40), refused == 5);
    rows_->MakeWay();
    if (Skip("B", 1) == "Bx") break;
    for (size_t i = 1; i < EmptyRows::kMostRanges; ++i) EXPECT_NE(Skip(BeginOf(i), 1), BeginOf(i));
    ASSERT_LT(refused, 100);
  }
  EXPECT_EQ(refused, 5);  // 1000, 500, 250, 125, 62 rows
  EXPECT_EQ(Skip("A", 1), "A");
}

TEST_F(EmptyRowsTest, AWalkThatIsRefusedAgainAndAgainReplacesNothing) {
  for (int scan = 0; scan < 3; ++scan) {
    for (size_t i = 0; i <= EmptyRows::kMostRanges; ++i) {
      const std::string begin = BeginOf(i);
      const bool is_known = Skip(begin, 1) != begin;
      EXPECT_EQ(is_known, scan > 0 && i < EmptyRows::kMostRanges);
      if (is_known) continue;
      for (uint64_t walked = 32; walked <= 1000; walked += 32) Watch(begin, walked);
      EXPECT_EQ(rows_->Report(View(1), begin, begin + "x", 1000), i < EmptyRows::kMostRanges);
    }
  }
}

TEST_F(EmptyRowsTest, ARangeThatAReadHasSkippedAndExtendedHasTheRowsOfBoth) {
  Watch("b");
  rows_->Report(View(1), "b", "m", 2 * EmptyRows::kLeastNotes);
  rows_->Report(View(1), "b", "n", 25);
  for (uint64_t i = 0; i < 2 * EmptyRows::kLeastNotes; ++i) Write("z");
  EXPECT_EQ(Skip("b", last_), "n");
}

TEST_F(EmptyRowsTest, RowsThatAreFilledFromTheFirstOnLeaveTheRest) {
  Know();
  for (const std::string row : {"b", "c", "d", "e", "f"}) {
    Write(row);
    EXPECT_EQ(rows_->ranges(), 1u);
    EXPECT_EQ(Skip(row, last_), row);
    EXPECT_EQ(Skip(row + "x", last_), row + "x");  // before what comes after it
  }
  EXPECT_EQ(Skip("g", last_), "m");
  Write("l");
  EXPECT_EQ(Skip("g", last_), "l");
  EXPECT_EQ(rows_->ranges(), 1u);  // nothing is left behind it
}

TEST_F(EmptyRowsTest, OfLongRowsTheBeginningIsKept) {
  const std::string most(EmptyRows::kMostBytes, 'm');
  Watch(most + "m");
  EXPECT_FALSE(rows_->is_watching());
  Watch("b");
  Report("b", most + "mmm", 10);
  EXPECT_EQ(Skip("b", 10), most);
  last_ = 10;
  Write(most + "f");
  EXPECT_EQ(Skip("b", 11), most);
  Report("b", "z", 11);
  EXPECT_EQ(Skip("b", 11), "z");
  Write(most + "f");
  EXPECT_EQ(Skip("b", 12), most);
  EXPECT_EQ(rows_->ranges(), 1);
}

TEST_F(EmptyRowsTest, ARangeThatIsNotUsedIsForgotten) {
  Know();
  for (uint64_t i = 0; i < EmptyRows::kLeastNotes; ++i) Write("z");
  EXPECT_EQ(Skip("b", last_), "m");  // a use
  for (uint64_t i = 0; i < EmptyRows::kLeastNotes; ++i) Write("z");
  EXPECT_TRUE(rows_->is_watching());
  Write("z");
  EXPECT_FALSE(rows_->is_watching());
  EXPECT_EQ(Skip("b", last_), "b");
}

TEST_F(EmptyRowsTest, AWalkBesideABusyWriterIsNotForgotten) {
  for (int part = 0; part < 3; ++part) {
    for (uint64_t i = 0; i < EmptyRows::kLeastNotes; ++i) Write("z");
    Watch("b");  // the walk goes on
  }
  const SequenceNumber seen = last_;
  Report("b", "m", 0);  // too early
  for (uint64_t i = 0; i < EmptyRows::kLeastNotes; ++i) Write("z");
  Report("b", "m", seen);
  EXPECT_EQ(Skip("b", seen), "m");
}

TEST_F(EmptyRowsTest, AWalkThatWasTooEarlyIsKeptForAsManyWritesAsItHasRows) {
  Write("z");
  Watch("b");
  rows_->Report(View(0), "b", "m", 2 * EmptyRows::kLeastNotes);
  for (uint64_t i = 0; i < 2 * EmptyRows::kLeastNotes; ++i) Write("z");
  Report("b", "m", last_);
  EXPECT_EQ(Skip("b", last_), "m");
}

TEST_F(EmptyRowsTest, ARangeIsKeptForAsManyWritesAsItHasRows) {
  Watch("b");
  rows_->Report(View(0), "b", "m", 2 * EmptyRows::kLeastNotes);
  for (uint64_t i = 0; i < 2 * EmptyRows::kLeastNotes; ++i) Write("z");
  EXPECT_TRUE(rows_->is_watching());
  Write("z");
  EXPECT_FALSE(rows_->is_watching());
}

// A writer gives rows of a small alphabet a cell or takes it, in `memtable`, and makes each write
// visible afterwards, as the engine does. Readers walk over what they see, use what is known, and
// report.
TEST_F(EmptyRowsTest, ConcurrentReadersAgreeWithTheWriter) {
  constexpr int kRows = 12;
  constexpr int kWrites = 40000;
  // For each row, its writes: twice the number, plus one if it has a cell then.
  static std::atomic<uint64_t> history[kRows][kWrites];
  static std::atomic<int> counts[kRows];
  for (auto& count : counts) count = 0;
  std::atomic<SequenceNumber> visible = 0;
  std::atomic<bool> ended = false;
  std::atomic<int> wrong = 0, skipped = 0;
  std::atomic<uint64_t> reads = 0;
  const auto row_of = [](int i) { return std::string(1, static_cast<char>('a' + i)); };
  const auto has_cell = [&](int row, SequenceNumber at) {
    for (int i = counts[row].load(std::memory_order_acquire); i-- > 0;) {
      const uint64_t write = history[row][i].load(std::memory_order_relaxed);
      if (write / 2 <= at) return write % 2 == 1;
    }
    return false;
  };
  const auto read = [&](Random* random) {
    if (random->OneIn(16)) rows_->BeginEpoch();  // so that watches begin all the time
    const SequenceNumber at = visible.load(std::memory_order_acquire);
    const int first = static_cast<int>(random->Between(0, 2));
    int row = first;
    KeyBuffer begin;
    begin.assign(row_of(first));
    const EmptyRows::View view = View(at);
    const EmptyRows::Skipped known = rows_->Skip(view, &begin);
    const int from = IsAll(known) ? kRows : begin.view()[0] - 'a' + (begin.size() > 1 ? 1 : 0);
    for (; row < from; ++row) {
      if (has_cell(row, at)) ++wrong;
    }
    if (known != EmptyRows::Skipped::kNone) ++skipped;
    if (IsAll(known)) return;
    rows_->Watch(view.epoch, begin.view(), 1);
    while (row < kRows && !has_cell(row, at)) ++row;
    if (random->OneIn(8)) std::this_thread::yield();
    rows_->Report(view, begin.view(), row < kRows ? row_of(row) : "", 1);
  };
  std::vector<std::thread> threads;
  for (uint64_t reader = 1; reader <= 3; ++reader) {
    threads.emplace_back([&, reader] {
      Random random(reader);
      for (; !ended; ++reads) read(&random);
    });
  }
  Random random(7);
  for (SequenceNumber sequence = 1; sequence <= kWrites; ++sequence) {
    const int row = static_cast<int>(random.Between(0, kRows - 1));
    rows_->RecordWrite(row_of(row), sequence);
    const int count = counts[row].load(std::memory_order_relaxed);
    history[row][count].store(2 * sequence + (random.OneIn(4) ? 1 : 0), std::memory_order_relaxed);
    counts[row].store(count + 1, std::memory_order_release);
    if (random.OneIn(3)) visible.store(sequence, std::memory_order_release);
    while (reads < sequence / 4) std::this_thread::yield();
  }
  ended = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(skipped, 0);
}

}  // namespace
}  // namespace bigtable
