// Each call is durable on its own, whatever interrupted calls have left.
#include "lockservice/versioned_files.h"

#include <cstdint>
#include <optional>

#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class VersionedFilesTest : public testing::Test {
 protected:
  // Directories that were created but not synced before the process died.
  void SetUp() override {
    ASSERT_OK(file_system_.CreateDirectory("/ls"));
    ASSERT_OK(file_system_.CreateDirectory("/ls/d"));
    ASSERT_OK(files_.Load());
  }
  template <typename Check>
  void AfterEveryPowerLoss(Check check) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(Cat("seed ", seed));
      const auto found = file_system_.CrashClone(seed);
      VersionedFiles files(found.get(), "/ls");
      ASSERT_OK(files.Load());
      check(&files);
    }
  }

  InMemoryFileSystem file_system_;
  VersionedFiles files_{&file_system_, "/ls"};
};

TEST_F(VersionedFilesTest, AGenerationIsNeverAssignedTwice) {
  ASSERT_OK_AND_ASSIGN(const Generation given, files_.NextGeneration());
  AfterEveryPowerLoss([&](VersionedFiles* files) {
    ASSERT_OK_AND_ASSIGN(const Generation next, files->NextGeneration());
    EXPECT_GT(next, given);
  });
}

TEST_F(VersionedFilesTest, AWrittenFileSurvives) {
  ASSERT_OK(files_.Write("d/f", "x", SmallFiles::kUnknownGeneration));
  AfterEveryPowerLoss([](VersionedFiles* files) {
    const absl::StatusOr<std::optional<LockServiceFile>> file = files->Find("d/f");
    ASSERT_OK(file);
    ASSERT_TRUE(file->has_value());
    EXPECT_EQ((*file)->contents, "x");
  });
}

TEST_F(VersionedFilesTest, AListedFileSurvives) {
  // As another process left it: the rename was not synced.
  ASSERT_OK(SmallFiles(&file_system_, "/ls").Write("d/f~", "x"));
  ASSERT_OK(file_system_.RenameFile("/ls/d/f~", "/ls/d/g"));
  ASSERT_OK_AND_ASSIGN(const auto listed, files_.List("d"));
  ASSERT_EQ(listed.size(), 1u);
  AfterEveryPowerLoss([&](VersionedFiles* files) {
    ASSERT_OK_AND_ASSIGN(const auto found, files->List("d"));
    EXPECT_EQ(found, listed);
  });
}

}  // namespace
}  // namespace bigtable
