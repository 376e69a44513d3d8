// A directory that is opened: created if it is empty, and never with an error left unnoticed.
#include "cluster/open_directory.h"

#include <string>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

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

}  // namespace
}  // namespace bigtable
