// Damaged files of a sorted log.
#include "recovery/sorted_log_test_util.h"

namespace bigtable {
namespace {

using testing::HasSubstr;

class SortedLogCorruptionTest : public testing::TestWithParam<FileSystem::ReadMode> {
 protected:
  SortedLogCorruptionTest() {
    for (SequenceNumber s = 1; s <= 12; ++s) {
      records_.push_back(MakeRecord(s % 3, Cat("row", s * 5 % 12), s, 20 + s));
    }
    WriteLog(&fs_, records_);
    // Three pieces, of which the second has two blocks.
    records_.push_back(MakeRecord(0, "row", 13, kSortedBlockSize));
    records_.push_back(MakeRecord(1, "row", 14, 30));
    EXPECT_OK(fs_.CreateDirectory("sorted"));
    LogSorter sorter(&fs_, "sorted", KeyOf, {.piece_size = 1000, .threads = 1});
    for (const TestRecord& record : records_) {
      EXPECT_OK(sorter.Add(RecordType::kMutation, record.sequence, record.payload));
    }
    EXPECT_OK(sorter.Finish({}).status());
    files_ = SortedFiles(&fs_);
    EXPECT_GT(files_.size(), 3u);
  }

  absl::StatusOr<std::unique_ptr<SortedLog>> Open(bool verify) {
    return SortedLog::Open(&fs_, "sorted", {.read_mode = GetParam(), .verify = verify});
  }

  // Expects damage in `name` to be detected, by Open if it verifies, or by the readers that read
  // it.
  void ExpectDetected(const std::string& name) {
    const absl::Status status = Open(true).status();
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    ASSERT_THAT(status.ToString(), HasSubstr(Cat("sorted/", name)));
    ASSERT_THAT(status.ToString(), HasSubstr("at offset "));

    auto log = Open(false);
    if (!log.ok()) {
      ASSERT_EQ(log.status(), status);
      return;
    }
    bool detected = false;
    for (uint64_t table_id = 0; table_id < 3; ++table_id) {
      const SortedRange range{.table_id = table_id};
      const ReadRecords read = ReadRange(**log, range);
      std::vector<TestRecord> expected = Expected(records_, EndsOf(**log), range);
      if (!read.status.ok()) {
        detected = true;
        ASSERT_EQ(read.status, status);
        ASSERT_LT(read.records.size(), expected.size() + 1);
        expected.resize(read.records.size());  // records before the damage are valid
      }
      ASSERT_EQ(read.records, expected);
    }
    ASSERT_TRUE(detected);
  }

  InMemoryFileSystem fs_;
  std::vector<TestRecord> records_;
  std::vector<std::string> files_;
};
INSTANTIATE_TEST_SUITE_P(Ways, SortedLogCorruptionTest,
                         testing::Values(FileSystem::ReadMode::kMapped,
                                         FileSystem::ReadMode::kPositional),
                         [](const auto& param_info) {
                           return param_info.param == FileSystem::ReadMode::kMapped ? "Mapped"
                                                                                    : "Positional";
                         });

TEST_P(SortedLogCorruptionTest, AFlippedBitAnywhereIsDataLossAndNeverAWrongRecord) {
  for (const std::string& name : files_) {
    const std::string sound = fs_.Contents(Cat("sorted/", name));
    for (size_t i = 0; i<sound.size(); i += i> 2000 && i + 2000 < sound.size() ? 997 : 1) {
      SCOPED_TRACE(Cat(name, " at ", i));
      std::string broken = sound;
      broken[i] ^= static_cast<char>(1 << i % 8);
      fs_.SetContents(Cat("sorted/", name), broken);
      ASSERT_NO_FATAL_FAILURE(ExpectDetected(name));
    }
    fs_.SetContents(Cat("sorted/", name), sound);
  }
}

TEST_P(SortedLogCorruptionTest, AFileOfAnotherLengthIsDataLoss) {
  for (const std::string& name : files_) {
    const std::string sound = fs_.Contents(Cat("sorted/", name));
    for (size_t n = 0; n<sound.size(); n += n> 1000 && n + 1000 < sound.size() ? 997 : 1) {
      SCOPED_TRACE(Cat(name, " cut at ", n));
      fs_.SetContents(Cat("sorted/", name), sound.substr(0, n));
      ASSERT_NO_FATAL_FAILURE(ExpectDetected(name));
    }
    fs_.SetContents(Cat("sorted/", name), sound + "x");
    ASSERT_NO_FATAL_FAILURE(ExpectDetected(name));
    fs_.SetContents(Cat("sorted/", name), sound);
  }
}

TEST_P(SortedLogCorruptionTest, AMissingPieceIsDataLossAndAMissingManifestIsNoSortedLog) {
  for (const std::string& name : files_) {
    const std::string sound = fs_.Contents(Cat("sorted/", name));
    ASSERT_OK(fs_.RemoveFile(Cat("sorted/", name)));
    if (name == kSortedManifestName) {
      EXPECT_EQ(Open(true).status().code(), absl::StatusCode::kNotFound);
    } else {
      ASSERT_NO_FATAL_FAILURE(ExpectDetected(name));
    }
    fs_.SetContents(Cat("sorted/", name), sound);
  }
}

// Valid bytes, but not those of this sort.
TEST_P(SortedLogCorruptionTest, APieceOfAnotherSortOrPositionIsDataLoss) {
  const std::string first = fs_.Contents(Cat("sorted/", SortedPieceName(1)));
  // Another sort, whose first piece has the same size and numbers but another row.
  TestRecord changed = records_[0];
  changed.payload[2] ^= 1;
  ASSERT_OK(fs_.CreateDirectory("other"));
  {
    LogSorter sorter(&fs_, "other", KeyOf, {.piece_size = 1000, .threads = 1});
    ASSERT_OK(sorter.Add(RecordType::kMutation, changed.sequence, changed.payload));
    for (size_t i = 1; i < records_.size(); ++i) {
      ASSERT_OK(sorter.Add(RecordType::kMutation, records_[i].sequence, records_[i].payload));
    }
    ASSERT_OK(sorter.Finish({}).status());
  }
  const std::string other = fs_.Contents(Cat("other/", SortedPieceName(1)));
  ASSERT_EQ(other.size(), first.size());
  ASSERT_NE(other, first);
  fs_.SetContents(Cat("sorted/", SortedPieceName(1)), other);
  ASSERT_NO_FATAL_FAILURE(ExpectDetected(SortedPieceName(1)));

  // The other's blocks and index with this one's footer: the size of the footer is 64.
  fs_.SetContents(Cat("sorted/", SortedPieceName(1)),
                  other.substr(0, other.size() - 64) + first.substr(first.size() - 64));
  ASSERT_NO_FATAL_FAILURE(ExpectDetected(SortedPieceName(1)));

  fs_.SetContents(Cat("sorted/", SortedPieceName(1)),
                  fs_.Contents(Cat("sorted/", SortedPieceName(2))));
  ASSERT_NO_FATAL_FAILURE(ExpectDetected(SortedPieceName(1)));
}

}  // namespace
}  // namespace bigtable
