// A failed opening leaves the directory as large as it was.
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "world_fixture.h"

namespace bigtable {
namespace {

namespace fs = std::filesystem;

class FailedOpening : public WorldFixture {
 protected:
  static DatabaseOptions ManyServers() {
    DatabaseOptions options = SmallOptions();
    options.tablet_servers = 8;
    options.memory_budget = 128 << 20;
    options.log_segment_size = 4 << 20;
    return options;
  }
  void SetUp() override {
    auto database = Open(directory_.database(), ManyServers());
    TableSchema schema;
    schema.families["f"] = {};
    EXPECT_OK(
        database->CreateTable("t", schema, {.split_rows = {"b", "c", "d", "e", "f", "g", "h"}}));
    for (const char* prefix : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
      EXPECT_OK(Write(database.get(), prefix, 10));
    }
    const std::set<std::string> before = SSTables();
    EXPECT_OK(database->Flush("t"));
    for (const std::string& path : SSTables()) {
      if (!before.contains(path)) tables_.push_back(path);
    }
    EXPECT_EQ(tables_.size(), 8u);
    EXPECT_OK(database->Close());
  }
  std::set<std::string> SSTables() const {
    std::set<std::string> paths;
    for (const auto& file : fs::directory_iterator(Place("sst"))) paths.insert(file.path());
    return paths;
  }
  std::string Place(const std::string& path) const { return directory_.database() + "/" + path; }
  // Moves the file of one tablet away, or restores it.
  void Damage() { fs::rename(tables_.back(), directory_.path() + "/away"); }
  void Repair() { fs::rename(directory_.path() + "/away", tables_.back()); }
  // The size of the database on the disk.
  uint64_t Bytes() const {
    uint64_t bytes = 0;
    for (const auto& file : fs::recursive_directory_iterator(directory_.path())) {
      struct stat info;
      if (stat(file.path().c_str(), &info) == 0)
        bytes += static_cast<uint64_t>(info.st_blocks) * 512;
    }
    return bytes;
  }
  size_t Logs() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(Place("log")), fs::directory_iterator()));
  }

  std::vector<std::string> tables_;  // the files of the tablets
};

TEST_F(FailedOpening, TwentyFailuresLeaveNoGrowth) {
  const uint64_t before = Bytes();
  EXPECT_EQ(Logs(), 0u);
  Damage();
  for (int i = 0; i < 20; ++i) {
    EXPECT_STATUS(kDataLoss, tables_.back(), Database::Open(directory_.database(), ManyServers()));
    EXPECT_EQ(Logs(), 0u);
    // METADATA has recorded the locations of its tablets each time.
    EXPECT_LT(Bytes(), before + (1 << 20));
  }
  Repair();
  auto database = Open(directory_.database(), ManyServers());
  for (const char* prefix : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    EXPECT_EQ(Count(database.get(), prefix, 10), 10);
  }
}

TEST_F(FailedOpening, RemnantsOfAKilledOpeningAreSweptByTheNext) {
  EXPECT_TRUE(InChild([&] {
    Database* const database = Open(directory_.database(), ManyServers()).release();
    return Write(database, "a", 1).ok();
  }));
  EXPECT_GT(Logs(), 2u);
  auto database = Open(directory_.database(), ManyServers());
  EXPECT_OK(database->Close());
  EXPECT_EQ(Logs(), 0u);
}

}  // namespace
}  // namespace bigtable
