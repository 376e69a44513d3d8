// A directory that is opened: created if it is empty, and never with an error left unnoticed.
#include "cluster/open_directory.h"

#include <cstdint>
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "lockservice/small_files.h"
#include "metadata/root_tablet.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

TEST(OpenDirectoryTest, AnErrorOfTheCreationIsReturned) {
  const DatabaseDirectory directory{"/db"};
  for (const std::string& path :
       {directory.lock_service(), directory.logs(), directory.sstables()}) {
    InMemoryFileSystem memory;
    ASSERT_OK(memory.CreateDirectory("/db"));
    FaultyFileSystem file_system(&memory);
    file_system.FailCalls({.kinds = {FileCall::kCreateDirectory}, .path_contains = path},
                          absl::InternalError("cannot create " + path));
    DatabaseOptions options;
    options.file_system = &file_system;
    // There is no root yet, and it is not created.
    EXPECT_STATUS(kInternal, "cannot create " + path,
                  OpenDirectory(directory, options, nullptr).status());
  }
}

class OpenDirectoryErrorsTest : public testing::Test {
 protected:
  absl::Status Open(FileSystem* file_system, bool read_only = false) {
    DatabaseOptions options;
    options.file_system = file_system;
    options.read_only = read_only;
    SmallFiles files(file_system, directory_.lock_service());
    RootTablet root(&files);
    return OpenDirectory(directory_, options, &root).status();
  }
  void FailEachCall(InMemoryFileSystem* (*make)(), bool read_only, int least) {
    int failed = 0;
    for (uint64_t call = 1;; ++call) {
      SCOPED_TRACE(call);
      const std::unique_ptr<InMemoryFileSystem> memory(make());
      FaultyFileSystem faulty(memory.get());
      faulty.CountCalls();
      faulty.FailCall(call, absl::InternalError("a fault"));
      const absl::Status status = Open(&faulty, read_only);
      const bool is_hit = faulty.faults() > 0;
      faulty.ClearFaults();
      if (is_hit) {
        ++failed;
        EXPECT_STATUS(kInternal, "a fault", status);
        EXPECT_OK(Open(&faulty, read_only));
      } else {
        EXPECT_OK(status);
        // What is there survives the machine.
        const auto after = memory->CrashClone(1, Unsynced::kNothing);
        EXPECT_OK(Open(after.get(), read_only));
        EXPECT_TRUE(after->FileExists(directory_.sstables()));
        EXPECT_TRUE(after->FileExists(directory_.logs()));
        break;
      }
    }
    EXPECT_GE(failed, least);
  }
  static InMemoryFileSystem* New() {
    auto memory = std::make_unique<InMemoryFileSystem>();
    EXPECT_OK(memory->CreateDirectory("/db"));
    EXPECT_OK(memory->SyncDirectory("/"));
    return memory.release();
  }
  static InMemoryFileSystem* Existing() {
    InMemoryFileSystem* const memory = New();
    EXPECT_OK(OpenDirectoryErrorsTest::OpenOnce(memory));
    return memory;
  }
  static absl::Status OpenOnce(FileSystem* file_system) {
    const DatabaseDirectory directory{"/db"};
    DatabaseOptions options;
    options.file_system = file_system;
    SmallFiles files(file_system, directory.lock_service());
    RootTablet root(&files);
    return OpenDirectory(directory, options, &root).status();
  }

  const DatabaseDirectory directory_{"/db"};
};

TEST_F(OpenDirectoryErrorsTest, AnErrorOfAnyCallIsReturned) {
  FailEachCall(New, false, 12);
  FailEachCall(Existing, false, 2);
  FailEachCall(Existing, true, 2);
}

TEST_F(OpenDirectoryErrorsTest, TheFilesOfACreationThatWasInterruptedAreNoOthers) {
  for (const char* name : {"LOG", "LOG.old", "OPTIONS", "OPTIONS~", ".hidden", "aquota.user"}) {
    const std::unique_ptr<InMemoryFileSystem> memory(New());
    memory->SetContents(std::string("/db/") + name, "x");
    EXPECT_OK(Open(memory.get())) << name;
  }
  for (const char* name : {"LOG1", "other", "OPTIONS~~"}) {
    const std::unique_ptr<InMemoryFileSystem> memory(New());
    memory->SetContents(std::string("/db/") + name, "x");
    EXPECT_STATUS(kFailedPrecondition, name, Open(memory.get()));
  }
}

TEST_F(OpenDirectoryErrorsTest, SSTablesWithoutARootAreDataLossAndOtherFilesAreNot) {
  const std::unique_ptr<InMemoryFileSystem> memory(New());
  EXPECT_OK(memory->CreateDirectory("/db/sst"));
  memory->SetContents("/db/sst/notes", "x");
  memory->SetContents("/db/sst/00000001.sst", "x");
  EXPECT_STATUS(kDataLoss, "missing, but there are SSTables", Open(memory.get()));
  EXPECT_OK(memory->RemoveFile("/db/sst/00000001.sst"));
  EXPECT_STATUS(kNotFound, "there is no database here", Open(memory.get(), true));
  EXPECT_OK(Open(memory.get()));
}

}  // namespace
}  // namespace bigtable
