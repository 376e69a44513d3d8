// Errors of files and directories that may not be read or written name the path.
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
  // Opens as a user without access to root's files.
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

TEST_F(PermissionsTest, ADirectoryWithoutAccessIsNotAMissingDatabase) {
  fs::permissions(directory_.database(), fs::perms(0600));
  EXPECT_TRUE(IsDenied(directory_.database()));
  EXPECT_TRUE(IsDenied(directory_.database(), SmallOptions()));
}

TEST_F(PermissionsTest, NorIsAParentDirectoryWithoutAccess) {
  fs::permissions(directory_.path(), fs::perms(0600));
  EXPECT_TRUE(IsDenied(directory_.database()));
  EXPECT_TRUE(IsDenied(directory_.database(), SmallOptions()));
}

TEST_F(PermissionsTest, NorIsALockServiceDirectoryWithoutAccess) {
  fs::permissions(Place("lockservice"), fs::perms(0600));
  EXPECT_TRUE(IsDenied(Place("lockservice/root")));
}

TEST_F(PermissionsTest, TheErrorNamesAFileThatMayNotBeRead) {
  fs::permissions(Place("lockservice/root"), fs::perms(0200));
  EXPECT_TRUE(IsDenied(Place("lockservice/root")));
}

TEST_F(PermissionsTest, TheErrorNamesALockFileThatMayNotBeWritten) {
  EXPECT_TRUE(IsDenied(Place("LOCK"), SmallOptions()));
}

TEST_F(PermissionsTest, AReadableDatabaseCanBeOpenedReadOnly) {
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
