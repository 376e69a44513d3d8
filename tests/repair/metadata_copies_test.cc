// The second copies of METADATA's SSTables and of the lock service's files: whatever happens to one
// file, the database opens, has everything, and has both copies again.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "repair/repair_fixture.h"
#include "support/capturing_sink.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class MetadataCopiesTest : public RepairFixture {
 protected:
  // Of all that is there twice, one of the two.
  static std::vector<std::string> FilesWithCopies(const InMemoryFileSystem& files) {
    std::vector<std::string> paths;
    for (const std::string& path : FilesOf(files)) {
      if (!path.starts_with("/db/copies/")) continue;
      paths.push_back(path);
      paths.push_back(OtherOf(path));
    }
    return paths;
  }
  static std::string OtherOf(const std::string& path) {
    if (path.starts_with("/db/copies/lockservice/")) return "/db/" + path.substr(11);
    if (path.starts_with("/db/copies/")) return "/db/sst/" + path.substr(11);
    if (path.starts_with("/db/sst/")) return "/db/copies/" + path.substr(8);
    return "/db/copies/" + path.substr(4);
  }
  absl::StatusOr<std::unique_ptr<Database>> OpenOn(FileSystem* files, bool read_only,
                                                   std::shared_ptr<LogSink> log = nullptr) {
    DatabaseOptions options = WithTwoServers();
    options.file_system = files;
    options.read_only = read_only;
    options.create_if_missing = false;
    options.log_sink = std::move(log);
    return Database::Open(kPath, options);
  }
  static void Damage(InMemoryFileSystem* files, const std::string& path, int how) {
    std::string bytes = files->Contents(path);
    if (how == 0) {
      EXPECT_OK(files->RemoveFile(path));
      return;
    }
    if (how == 1) {
      bytes.resize(bytes.size() / 2);
    } else {
      bytes[bytes.size() * static_cast<size_t>(how) / 8] ^= 4;
    }
    files->SetContents(path, bytes);
  }
};

TEST_F(MetadataCopiesTest, EachFileOfMetadataHasACopyAndNoOtherFileHas) {
  Make();
  CloseIt();
  const std::vector<std::string> paths = FilesWithCopies(*file_system_);
  EXPECT_GE(paths.size(), 2 * 7u);  // three schemas, root, .generation, and SSTables of two tablets
  for (const std::string& path : paths) {
    EXPECT_EQ(file_system_->Contents(path), file_system_->Contents(OtherOf(path))) << path;
  }
  int sstables = 0;
  for (const std::string& path : FilesOf(*file_system_)) {
    if (path.starts_with("/db/lockservice/")) {
      EXPECT_TRUE(file_system_->FileExists(OtherOf(path)));
    }
    if (!path.starts_with("/db/sst/")) continue;
    auto reader = SSTableReader::Open(path, {.file_system = file_system_.get()});
    ASSERT_OK(reader);
    const auto& families = (*reader)->info().families;
    const bool is_of_metadata = families.contains("file") || families.contains("location");
    EXPECT_EQ(file_system_->FileExists(OtherOf(path)), is_of_metadata) << path;
    sstables += is_of_metadata ? 1 : 0;
  }
  EXPECT_GE(sstables, 2);
}

TEST_F(MetadataCopiesTest, OneDamagedFileLosesNothingAndIsWrittenAgain) {
  for (const bool is_closed : {true, false}) {
    Make();
    is_closed ? CloseIt() : KillIt();
    for (const std::string& path : FilesWithCopies(*file_system_)) {
      for (const int how : {0, 1, 2, 5, 7}) {
        SCOPED_TRACE(Cat(path, ", ", how, is_closed ? ", closed" : ""));
        const auto files = file_system_->CrashClone(1, Unsynced::kEverything);
        Damage(files.get(), path, how);
        const auto damaged = BytesOf(*files);
        {
          ASSERT_OK_AND_ASSIGN(const auto database, OpenOn(files.get(), /*read_only=*/true));
          EXPECT_EQ(Read(database.get()), model_);
          ASSERT_OK(database->Close());
          EXPECT_EQ(BytesOf(*files), damaged);
        }
        ASSERT_OK_AND_ASSIGN(auto database, OpenOn(files.get(), /*read_only=*/false));
        EXPECT_EQ(Read(database.get()), model_);
        ASSERT_OK(database->CreateTable("new", {.families = {{"f", {}}}}));
        ASSERT_OK(database->Close());
        database.reset();
        for (const std::string& twice : FilesWithCopies(*files)) {
          if (!twice.ends_with(".sst") && twice.ends_with(path.substr(path.rfind('/')))) continue;
          EXPECT_EQ(files->Contents(twice), files->Contents(OtherOf(twice))) << twice;
        }
        ASSERT_OK_AND_ASSIGN(database, OpenOn(files.get(), /*read_only=*/false));
        Contents with_new = model_;
        with_new[{"new", ""}] = "table";
        EXPECT_EQ(Read(database.get()), with_new);
        if (HasFailure()) return;
      }
    }
    file_system_ = std::make_unique<InMemoryFileSystem>();
  }
}

TEST_F(MetadataCopiesTest, ADamagedFileIsNamedInTheInfoLog) {
  Make();
  CloseIt();
  for (const std::string name : {"lockservice/root", "lockservice/schema/web"}) {
    const auto files = file_system_->CrashClone(1, Unsynced::kEverything);
    Damage(files.get(), "/db/" + name, 3);
    const auto log = std::make_shared<CapturingSink>();
    ASSERT_OK_AND_ASSIGN(const auto database, OpenOn(files.get(), false, log));
    bool is_named = false;
    for (const CapturingSink::Message& message : log->messages()) {
      is_named |= message.severity == LogSeverity::kWarning &&
                  message.text.find("from its copy") != std::string::npos;
    }
    EXPECT_TRUE(is_named);
    EXPECT_EQ(Read(database.get()), model_);
    EXPECT_EQ(files->Contents("/db/" + name), files->Contents("/db/copies/" + name));
  }
}

TEST_F(MetadataCopiesTest, ADeletedTableDoesNotComeBackFromItsCopy) {
  Make();
  ASSERT_OK(database_->DeleteTable("plain"));
  CloseIt();
  EXPECT_FALSE(file_system_->FileExists("/db/copies/lockservice/schema/plain"));
  Open(WithTwoServers());
  EXPECT_EQ(Read(database_.get()), model_);
}

}  // namespace
}  // namespace bigtable
