// The file names of a database's directory. These names are on disk: never change them.
#include "cluster/directory.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

TEST(DatabaseDirectoryTest, FilesHaveTheirPaths) {
  const DatabaseDirectory directory("/data/db");
  EXPECT_EQ(directory.path(), "/data/db");
  EXPECT_EQ(directory.lock_file(), "/data/db/LOCK");
  EXPECT_EQ(directory.lock_service(), "/data/db/lockservice");
  EXPECT_EQ(directory.logs(), "/data/db/log");
  EXPECT_EQ(directory.log_of("server-3"), "/data/db/log/server-3");
  EXPECT_EQ(directory.sstables(), "/data/db/sst");
  EXPECT_EQ(directory.sstable(12), "/data/db/sst/00000012.sst");
  EXPECT_EQ(directory.sstable(1234567890123), "/data/db/sst/1234567890123.sst");
}

TEST(DatabaseDirectoryTest, AnSSTablesNameContainsItsNumber) {
  const DatabaseDirectory directory("/db");
  for (const uint64_t number : {uint64_t{1}, uint64_t{99999999}, uint64_t{100000000}, UINT64_MAX}) {
    const std::string path = directory.sstable(number);
    EXPECT_EQ(DatabaseDirectory::SSTableNumber(path.substr(path.rfind('/') + 1)), number);
  }
}

TEST(DatabaseDirectoryTest, OtherNamesAreNotSSTables) {
  for (const char* name : {"", ".sst", "x.sst", "12", "12.sst.tmp", "12.sstx", "12.SST", "-1.sst",
                           " 12.sst", "12 .sst", "0x12.sst", "18446744073709551616.sst"}) {
    EXPECT_EQ(DatabaseDirectory::SSTableNumber(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace bigtable
