// A small disk that fills up while a database uses it: errors, no signal, and no data loss.
#include <memory>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "world_fixture.h"

namespace bigtable {
namespace {

// Mounts a file system on `path` for its lifetime, if this process may do that.
class Mount {
 public:
  Mount(const char* type, std::string path, const std::string& options)
      : path_(std::move(path)),
        mounted_(mount(type, path_.c_str(), type, 0, options.c_str()) == 0) {}
  ~Mount() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  explicit operator bool() const { return mounted_; }

 private:
  const std::string path_;
  const bool mounted_;
};

class FullDiskTest : public WorldFixture {
 protected:
  // Writes until the disk is full. Acknowledged rows are found, now and after another opening.
  static void FillUp(const std::string& path) {
    int acknowledged = 0;
    {
      std::unique_ptr<Database> database = Create(path);
      ASSERT_NE(database, nullptr);
      Table* const table = OpenTable(database.get());
      absl::Status status;
      for (; acknowledged < 20000; ++acknowledged) {
        const std::string row = Cat("r", acknowledged);
        status = table->Apply(RowMutation(row).Set("f:q", row + std::string(4000, 'x')));
        if (!status.ok()) break;
      }
      EXPECT_STATUS(kResourceExhausted, "", status);
      EXPECT_GT(acknowledged, 100);
      ExpectRows(database.get(), acknowledged);
      database->Close().IgnoreError();
    }
    DatabaseOptions options = SmallOptions();
    options.read_only = true;
    std::unique_ptr<Database> database = Open(path, options);
    ASSERT_NE(database, nullptr);
    ExpectRows(database.get(), acknowledged);
  }
  static void ExpectRows(Database* database, int rows) {
    Table* const table = OpenTable(database);
    for (int i = 0; i < rows; ++i) {
      const std::string key = Cat("r", i);
      const absl::StatusOr<Row> row = table->ReadRow(key);
      ASSERT_OK(row);
      ASSERT_EQ(row->cells().size(), 1u) << key;
      ASSERT_EQ(row->cells()[0].value, key + std::string(4000, 'x'));
    }
  }
  // Where mounts are not allowed, the test is skipped with this message.
  static constexpr const char* kNoMount = "this process may not mount a file system here";
};

TEST_F(FullDiskTest, ASmallTmpfs) {
  const Mount disk("tmpfs", directory_.path(), "size=12m");
  if (!disk) GTEST_SKIP() << kNoMount;
  FillUp(directory_.database());
}

TEST_F(FullDiskTest, AnOverlayOnATmpfs) {
  const Mount disk("tmpfs", directory_.path(), "size=12m");
  if (!disk) GTEST_SKIP() << kNoMount;
  for (const char* name : {"lower", "upper", "work", "merged"}) {
    ASSERT_EQ(mkdir((directory_.path() + "/" + name).c_str(), 0755), 0);
  }
  const Mount overlay("overlay", directory_.path() + "/merged",
                      Cat("lowerdir=", directory_.path(), "/lower,upperdir=", directory_.path(),
                          "/upper,workdir=", directory_.path(), "/work"));
  if (!overlay) GTEST_SKIP() << kNoMount;
  FillUp(directory_.path() + "/merged/db");
}

}  // namespace
}  // namespace bigtable
