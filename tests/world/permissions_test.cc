// What may not be read or written is said to be that, with its path.
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "world_fixture.h"

namespace bigtable {
namespace {

namespace fs = std::filesystem;

class PermissionsTest : public WorldFixture {
 protected:
  void SetUp() override {
    auto database = Create(directory_.database());
    EXPECT_OK(Write(database.get(), "early", 50));
    EXPECT_OK(database->Close());
    fs::permissions(directory_.path(), fs::perms(0755));
  }
  std::string Place(const std::string& path) const { return directory_.database() + "/" + path; }
  // As a user whom files that are only root's are closed to.
  bool IsDenied(const std::string& path, const DatabaseOptions& options) {
    return InChild([&] {
      alarm(60);
      if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return false;
      const absl::Status status = Database::Open(directory_.database(), options).status();
      const bool denied = absl::IsPermissionDenied(status) &&
                          status.message().find(ToAbsl(path)) != std::string::npos;
      if (!denied) std::fprintf(stderr, "%s\n", std::string(status.ToString()).c_str());
      return denied;
    });
  }
  bool IsDenied(const std::string& path) {
    DatabaseOptions options = SmallOptions();
    options.read_only = true;
    return IsDenied(path, options);
  }
};

TEST_F(PermissionsTest, ADirectoryThatMayNotBeEnteredIsNoMissingDatabase) {
  fs::permissions(directory_.database(), fs::perms(0600));
  EXPECT_TRUE(IsDenied(directory_.database()));
  EXPECT_TRUE(IsDenied(directory_.database(), SmallOptions()));
}

TEST_F(PermissionsTest, NorIsOneAboveIt) {
  fs::permissions(directory_.path(), fs::perms(0600));
  EXPECT_TRUE(IsDenied(directory_.database()));
  EXPECT_TRUE(IsDenied(directory_.database(), SmallOptions()));
}

TEST_F(PermissionsTest, NorIsThatOfTheLockService) {
  fs::permissions(Place("lockservice"), fs::perms(0600));
  EXPECT_TRUE(IsDenied(Place("lockservice/root")));
}

TEST_F(PermissionsTest, AFileThatMayNotBeReadIsNamed) {
  fs::permissions(Place("lockservice/root"), fs::perms(0200));
  EXPECT_TRUE(IsDenied(Place("lockservice/root")));
}

TEST_F(PermissionsTest, ALockFileThatMayNotBeWrittenIsNamed) {
  EXPECT_TRUE(IsDenied(Place("LOCK"), SmallOptions()));
}

TEST_F(PermissionsTest, WhatMayBeReadCanBeOpenedReadOnly) {
  EXPECT_TRUE(InChild([&] {
    alarm(60);
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return false;
    DatabaseOptions options = SmallOptions();
    options.read_only = true;
    auto database = Open(directory_.database(), options);
    return database != nullptr && Count(database.get(), "early", 50) == 50;
  }));
}

}  // namespace
}  // namespace bigtable
