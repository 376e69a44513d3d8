// Which runs can be compacted around files that cannot be read.
#include "tablet/file_quarantine.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "memtable/memtable_cursor.h"
#include "support/entry_text.h"
#include "support/expect_status.h"
#include "support/test_sstables.h"

namespace bigtable {
namespace {

class FileQuarantineTest : public testing::Test {
 protected:
  // Runs of one file each, whose numbers are 1 to `count`, from new to old.
  std::vector<SortedRun> Runs(uint64_t count) {
    std::vector<SortedRun> runs;
    for (uint64_t number = 1; number <= count; ++number) {
      const Ref<Memtable> memtable = NewTestMemtable();
      const TextEntry entry = *ParseEntry("r/f:q@1#1 cell v");
      memtable->Add(entry.key, entry.value);
      MemtableCursor cursor(memtable.get());
      runs.push_back(SortedRun{{tables_.Open(tables_.Write(&cursor, number))}});
    }
    return runs;
  }
  // "first+count" of each stretch.
  std::string Stretches(size_t group, const std::vector<SortedRun>& runs) const {
    std::string out;
    for (const FileQuarantine::Stretch& stretch : quarantine_.StretchesOf(group, runs)) {
      absl::StrAppend(&out, out.empty() ? "" : " ", stretch.first, "+", stretch.count);
    }
    return out;
  }

  TestSSTables tables_;
  FileQuarantine quarantine_;
};

TEST_F(FileQuarantineTest, RunsWithAQuarantinedFileDivideTheOthers) {
  const std::vector<SortedRun> runs = Runs(6);
  EXPECT_EQ(Stretches(0, runs), "0+6");
  quarantine_.Add(0, 3, absl::DataLossError("damaged"));
  EXPECT_EQ(Stretches(0, runs), "0+2 3+3");
  quarantine_.Add(0, 6, absl::DataLossError("damaged"));
  quarantine_.Add(0, 4, absl::DataLossError("damaged"));
  EXPECT_EQ(Stretches(0, runs), "0+2 4+1");
  EXPECT_TRUE(quarantine_.HasAny(0, runs));
  EXPECT_FALSE(quarantine_.HasAny(0, {runs[0], runs[1], runs[4]}));
}

TEST_F(FileQuarantineTest, GroupsAreSeparate) {
  const std::vector<SortedRun> runs = Runs(3);
  quarantine_.Add(1, 2, absl::DataLossError("damaged"));
  EXPECT_EQ(Stretches(0, runs), "0+3");
  EXPECT_EQ(Stretches(1, runs), "0+1 2+1");
  EXPECT_EQ(Stretches(2, runs), "0+3");
  EXPECT_OK(quarantine_.Check(0));
  EXPECT_STATUS(kDataLoss, "damaged", quarantine_.Check(1));
  EXPECT_OK(quarantine_.Check(2));
}

TEST_F(FileQuarantineTest, TheFirstErrorOfAFileStays) {
  quarantine_.Add(0, 1, absl::DataLossError("first"));
  quarantine_.Add(0, 1, absl::UnavailableError("second"));
  EXPECT_STATUS(kDataLoss, "first", quarantine_.Check(0));
  EXPECT_EQ(quarantine_.List().size(), 1u);
}

TEST_F(FileQuarantineTest, RemovedFilesAreForgotten) {
  quarantine_.Add(0, 1, absl::DataLossError("damaged"));
  quarantine_.Add(0, 2, absl::DataLossError("damaged"));
  quarantine_.Retain({2, 3});
  ASSERT_EQ(quarantine_.List().size(), 1u);
  EXPECT_EQ(quarantine_.List()[0].number, 2u);
}

TEST_F(FileQuarantineTest, AfterALiftNoFileIsQuarantined) {
  EXPECT_FALSE(quarantine_.Lift());
  quarantine_.Add(0, 1, absl::DataLossError("damaged"));
  EXPECT_TRUE(quarantine_.Lift());
  EXPECT_OK(quarantine_.Check(0));
  EXPECT_EQ(Stretches(0, Runs(2)), "0+2");
}

}  // namespace
}  // namespace bigtable
