// RepairDatabase after errors and losses of power at each of its calls: the damaged database stays
// as it is, and the next repair succeeds.
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "repair/repair_fixture.h"
#include "support/expect_status.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

class RepairFailuresTest : public RepairFixture {
 protected:
  void MakeDamaged() {
    Make();
    KillIt();
    std::string largest;
    for (const std::string& path : FilesOf(*file_system_)) {
      if (!path.starts_with("/db/sst/")) continue;
      if (file_system_->Contents(path).size() > file_system_->Contents(largest).size()) {
        largest = path;
      }
    }
    std::string bytes = file_system_->Contents(largest);
    bytes[10] ^= 1;
    file_system_->SetContents(largest, bytes);
    const auto files = file_system_->CrashClone(1, Unsynced::kEverything);
    ASSERT_OK(Repair(files.get()));
    repaired_ = ReadRepaired(files.get());
  }
  // The root is written last, and its copy before it: either makes a complete database.
  static bool IsDatabase(FileSystem* files) {
    return files->FileExists("/db.repaired/lockservice/root") ||
           files->FileExists("/db.repaired/copies/lockservice/root");
  }
  Contents repaired_;
};

// Of the calls of the file system: each of the first, and then some.
uint64_t StepAfter(uint64_t call) {
  if (kSlow) return call < 30 ? 3 : 23;
  return call < 80 ? 1 : 3;
}

TEST_F(RepairFailuresTest, AnErrorAtEachCallLeavesNothingThatIsTakenForTheDatabase) {
  MakeDamaged();
  const auto before = BytesOf(*file_system_);
  for (uint64_t n = 1;; n += StepAfter(n)) {
    SCOPED_TRACE(n);
    const auto files = file_system_->CrashClone(1, Unsynced::kEverything);
    FaultyFileSystem faulty(files.get());
    faulty.CountCalls();
    faulty.FailCall(n, absl::ResourceExhaustedError("no space"));
    const absl::StatusOr<RepairReport> failed = Repair(&faulty);
    if (faulty.faults() == 0) break;
    faulty.ClearFaults();
    EXPECT_EQ(BytesOf(*files), before);
    if (!failed.ok()) {
      EXPECT_FALSE(IsDatabase(files.get()));
      ASSERT_OK(Repair(&faulty));
    }
    ASSERT_EQ(ReadRepaired(files.get(), kRepaired, /*changes=*/false), repaired_);
  }
}

TEST_F(RepairFailuresTest, ALossOfPowerAtEachCallLeavesNothingThatIsTakenForTheDatabase) {
  MakeDamaged();
  const auto before = BytesOf(*file_system_);
  for (uint64_t n = 1;; n += StepAfter(n)) {
    SCOPED_TRACE(n);
    const auto files = file_system_->CrashClone(1, Unsynced::kEverything);
    FaultyFileSystem faulty(files.get());
    faulty.CountCalls();
    faulty.FailCall(n, absl::ResourceExhaustedError("the power is gone"),
                    FaultyFileSystem::Repeat::kFromThenOn);
    const absl::StatusOr<RepairReport> failed = Repair(&faulty);
    if (faulty.faults() == 0) break;
    const auto after = files->CrashClone(n);
    EXPECT_EQ(BytesOf(*after), before);
    if (!IsDatabase(after.get())) {
      ASSERT_OK(Repair(after.get()));
    }
    ASSERT_EQ(ReadRepaired(after.get(), kRepaired, /*changes=*/false), repaired_);
  }
}

TEST_F(RepairFailuresTest, WhatCannotBeReadIsReportedAsDamaged) {
  Make();
  KillIt();
  std::string path;
  for (const std::string& file : FilesOf(*file_system_)) {
    if (file.starts_with("/db/sst/")) path = file;
  }
  FaultyFileSystem faulty(file_system_.get());
  faulty.FailCalls({.kinds = {FileCall::kRead}, .path_contains = path},
                   absl::UnavailableError("the disk cannot read it"));
  ASSERT_OK_AND_ASSIGN(const RepairReport report, Repair(&faulty));
  EXPECT_NE(TextOf(report).find("the disk cannot read it"), std::string::npos) << TextOf(report);
  ExpectOnlyLossesOf(report, ReadRepaired(file_system_.get()));
}

}  // namespace
}  // namespace bigtable
