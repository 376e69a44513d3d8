// The guarantees of include/bigtable/file_system.h as a suite of tests, FileSystemContract, for one
// program to instantiate with its implementations.
#ifndef BIGTABLE_TESTS_SUPPORT_FILE_SYSTEM_CONTRACT_H_
#define BIGTABLE_TESTS_SUPPORT_FILE_SYSTEM_CONTRACT_H_

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/file_system.h"

#include "support/expect_status.h"

namespace bigtable {

// A file system and an empty directory in it; what else it needs is in `owned`, in the order in
// which it was made.
struct FileSystemPlace {
  FileSystemPlace() = default;
  FileSystemPlace(FileSystemPlace&&) = default;
  ~FileSystemPlace() {
    while (!owned.empty()) owned.pop_back();
  }

  template <typename T>
  T* Keep(std::unique_ptr<T> made) {
    T* const kept = made.get();
    owned.push_back(std::shared_ptr<T>(std::move(made)));
    return kept;
  }

  std::vector<std::shared_ptr<void>> owned;
  FileSystem* file_system = nullptr;
  std::string root;
};

struct FileSystemImplementation {
  std::string name;
  std::function<FileSystemPlace()> make;
};

class FileSystemContract : public testing::TestWithParam<FileSystemImplementation> {
 protected:
  FileSystemContract() : place_(GetParam().make()), fs_(*place_.file_system) {}

  std::string Path(std::string_view name) const { return place_.root + "/" + std::string(name); }

  void Put(std::string_view name, std::string_view contents) {
    auto file = fs_.NewWritableFile(Path(name));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_OK((*file)->Append(contents));
    EXPECT_OK((*file)->Sync());
    EXPECT_OK((*file)->Close());
  }
  std::string Get(std::string_view name) {
    auto contents = fs_.ReadFile(Path(name));
    return contents.ok() ? *contents : contents.status().ToString();
  }
  // The message of every error must contain the path.
  static void ExpectError(const absl::Status& status, absl::StatusCode code,
                          std::string_view path) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(std::string(path)));
  }

  FileSystemPlace place_;
  FileSystem& fs_;
};

TEST_P(FileSystemContract, AppendedBytesAreReadBackBeforeSyncAndClose) {
  auto file = fs_.NewWritableFile(Path("f"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_OK((*file)->Append("one"));
  EXPECT_EQ(Get("f"), "one");
  EXPECT_OK((*file)->Append(""));
  EXPECT_OK((*file)->Append("two"));
  EXPECT_EQ(Get("f"), "onetwo");
  EXPECT_EQ(*fs_.FileSize(Path("f")), 6u);
}

TEST_P(FileSystemContract, LargeAppendsAreWrittenWhole) {
  std::string large(5 << 20, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7 + (i >> 12));
  Put("f", large);
  EXPECT_TRUE(Get("f") == large);
}

TEST_P(FileSystemContract, OpeningAnExistingFileForWritingEmptiesIt) {
  Put("f", "old");
  auto file = fs_.NewWritableFile(Path("f"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(Get("f"), "");
  EXPECT_OK((*file)->Append("n"));
  EXPECT_EQ(Get("f"), "n");
}

TEST_P(FileSystemContract, AClosedFileRefusesAppends) {
  auto file = fs_.NewWritableFile(Path("f"));
  ASSERT_TRUE(file.ok());
  EXPECT_OK((*file)->Append("x"));
  EXPECT_OK((*file)->Close());
  ExpectError((*file)->Append("y"), absl::StatusCode::kFailedPrecondition, Path("f"));
  ExpectError((*file)->Sync(), absl::StatusCode::kFailedPrecondition, Path("f"));
  EXPECT_OK((*file)->Close());
  EXPECT_EQ(Get("f"), "x");
}

TEST_P(FileSystemContract, ReadsAnyRangeInBothModes) {
  Put("f", "0123456789");
  for (const FileSystem::ReadMode mode :
       {FileSystem::ReadMode::kMapped, FileSystem::ReadMode::kPositional}) {
    auto file = fs_.NewRandomAccessFile(Path("f"), mode);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ((*file)->size(), 10u);
    char buffer[10];
    EXPECT_OK((*file)->Read(3, 4, buffer));
    EXPECT_EQ(std::string_view(buffer, 4), "3456");
    EXPECT_OK((*file)->Read(0, 10, buffer));
    EXPECT_EQ(std::string_view(buffer, 10), "0123456789");
    EXPECT_OK((*file)->Read(10, 0, buffer));
  }
}

TEST_P(FileSystemContract, ReadingPastTheEndIsDataLossThatNamesFileAndOffset) {
  Put("f", "0123456789");
  for (const FileSystem::ReadMode mode :
       {FileSystem::ReadMode::kMapped, FileSystem::ReadMode::kPositional}) {
    auto file = fs_.NewRandomAccessFile(Path("f"), mode);
    ASSERT_TRUE(file.ok()) << file.status();
    char buffer[8];
    const absl::Status status = (*file)->Read(7, 4, buffer);
    ExpectError(status, absl::StatusCode::kDataLoss, Path("f"));
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("offset 7"));
    ExpectError((*file)->Read(11, 1, buffer), absl::StatusCode::kDataLoss, Path("f"));
    ExpectError((*file)->Read(UINT64_MAX, 2, buffer), absl::StatusCode::kDataLoss, Path("f"));
  }
}

TEST_P(FileSystemContract, AMappingShowsTheFileOncePopulated) {
  std::string contents(100'000, 'a');
  contents[70'000] = 'b';
  Put("f", contents);
  auto file = fs_.NewRandomAccessFile(Path("f"), FileSystem::ReadMode::kMapped);
  ASSERT_TRUE(file.ok()) << file.status();
  const char* const mapping = (*file)->mapping();
  if (mapping == nullptr) {
    EXPECT_EQ((*file)->Populate(0, 1).code(), absl::StatusCode::kUnimplemented);
    return;
  }
  EXPECT_OK((*file)->Populate(69'999, 3));
  EXPECT_EQ(std::string_view(mapping + 69'999, 3), "aba");
  EXPECT_OK((*file)->Populate(0, contents.size()));
  EXPECT_EQ(std::string_view(mapping, contents.size()), contents);
  EXPECT_OK((*file)->Populate(contents.size(), 0));
  ExpectError((*file)->Populate(99'999, 2), absl::StatusCode::kDataLoss, Path("f"));
}

TEST_P(FileSystemContract, PositionalFilesAndEmptyFilesHaveNoMapping) {
  Put("f", "x");
  Put("empty", "");
  auto positional = fs_.NewRandomAccessFile(Path("f"), FileSystem::ReadMode::kPositional);
  ASSERT_TRUE(positional.ok());
  EXPECT_EQ((*positional)->mapping(), nullptr);
  auto empty = fs_.NewRandomAccessFile(Path("empty"), FileSystem::ReadMode::kMapped);
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ((*empty)->size(), 0u);
  EXPECT_EQ((*empty)->mapping(), nullptr);
}

TEST_P(FileSystemContract, AnOpenFileKeepsItsBytesWhenRemovedOrRenamedOver) {
  for (const FileSystem::ReadMode mode :
       {FileSystem::ReadMode::kMapped, FileSystem::ReadMode::kPositional}) {
    Put("removed", "first");
    Put("replaced", "second");
    Put("new", "third");
    auto removed = fs_.NewRandomAccessFile(Path("removed"), mode);
    auto replaced = fs_.NewRandomAccessFile(Path("replaced"), mode);
    ASSERT_TRUE(removed.ok() && replaced.ok());
    EXPECT_OK(fs_.RemoveFile(Path("removed")));
    EXPECT_OK(fs_.RenameFile(Path("new"), Path("replaced")));
    char buffer[6];
    EXPECT_OK((*removed)->Read(0, 5, buffer));
    EXPECT_EQ(std::string_view(buffer, 5), "first");
    EXPECT_OK((*replaced)->Read(0, 6, buffer));
    EXPECT_EQ(std::string_view(buffer, 6), "second");
    if (const char* mapping = (*replaced)->mapping()) {
      EXPECT_OK((*replaced)->Populate(0, 6));
      EXPECT_EQ(std::string_view(mapping, 6), "second");
    }
    EXPECT_EQ(Get("replaced"), "third");
  }
}

TEST_P(FileSystemContract, ALogFileIsZeroAndHasItsSizeFromTheStart) {
  Put("log", "old content");
  auto log = fs_.NewLogFile(Path("log"), 10'000);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ((*log)->size(), 10'000u);
  EXPECT_EQ(Get("log"), std::string(10'000, '\0'));
  if (const char* mapping = (*log)->mapping()) {
    EXPECT_EQ(std::string_view(mapping, 10'000), std::string(10'000, '\0'));
  }
}

TEST_P(FileSystemContract, WritesAndStoresToALogFileAreReadBack) {
  auto log = fs_.NewLogFile(Path("log"), 10'000);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_OK((*log)->Write(9'990, "0123456789"));
  EXPECT_OK((*log)->Write(5, "abc"));
  std::string expected(10'000, '\0');
  expected.replace(9'990, 10, "0123456789");
  expected.replace(5, 3, "abc");
  if (char* mapping = (*log)->mapping()) {
    EXPECT_EQ(std::string_view(mapping + 9'990, 10), "0123456789");
    std::memcpy(mapping + 4'095, "xy", 2);
    expected.replace(4'095, 2, "xy");
  }
  EXPECT_EQ(Get("log"), expected);
  EXPECT_OK((*log)->Sync());
  log->reset();
  EXPECT_EQ(Get("log"), expected);
}

TEST_P(FileSystemContract, AWriteBeyondTheEndOfTheLogFileIsRefused) {
  auto log = fs_.NewLogFile(Path("log"), 100);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_OK((*log)->Write(100, ""));
  ExpectError((*log)->Write(99, "ab"), absl::StatusCode::kInvalidArgument, Path("log"));
  ExpectError((*log)->Write(101, ""), absl::StatusCode::kInvalidArgument, Path("log"));
  EXPECT_EQ(Get("log"), std::string(100, '\0'));
}

TEST_P(FileSystemContract, ALogFileMayBeSyncedWhileItIsWritten) {
  auto log = fs_.NewLogFile(Path("log"), 64 << 10);
  ASSERT_TRUE(log.ok()) << log.status();
  std::atomic<bool> done{false};
  std::thread syncer([&] {
    while (!done.load()) EXPECT_OK((*log)->Sync());
  });
  for (int i = 0; i < 64 << 10; ++i) {
    if (char* mapping = (*log)->mapping()) {
      mapping[i] = static_cast<char>(i);
    } else {
      const char byte = static_cast<char>(i);
      EXPECT_OK((*log)->Write(static_cast<uint64_t>(i), {&byte, 1}));
    }
  }
  done.store(true);
  syncer.join();
  EXPECT_OK((*log)->Sync());
  const std::string contents = Get("log");
  for (size_t i = 0; i < contents.size(); ++i) ASSERT_EQ(contents[i], static_cast<char>(i));
}

TEST_P(FileSystemContract, AMissingFileIsNotFound) {
  const std::string path = Path("nothing");
  const absl::StatusCode code = absl::StatusCode::kNotFound;
  ExpectError(fs_.NewRandomAccessFile(path, FileSystem::ReadMode::kMapped).status(), code, path);
  ExpectError(fs_.ReadFile(path).status(), code, path);
  ExpectError(fs_.FileSize(path).status(), code, path);
  ExpectError(fs_.ListDirectory(path).status(), code, path);
  ExpectError(fs_.RemoveFile(path), code, path);
  ExpectError(fs_.RemoveDirectory(path), code, path);
  ExpectError(fs_.RenameFile(path, Path("other")), code, path);
  ExpectError(fs_.SyncFile(path), code, path);
  ExpectError(fs_.SyncDirectory(path), code, path);
  ExpectError(fs_.CreateDirectory(path + "/child"), code, path);
  ExpectError(fs_.NewWritableFile(path + "/child").status(), code, path);
  ExpectError(fs_.NewLogFile(path + "/child", 10).status(), code, path);
  ExpectError(fs_.LockFile(path, FileSystem::LockMode::kShared).status(), code, path);
  EXPECT_FALSE(fs_.FileExists(path));
  EXPECT_FALSE(fs_.FileExists(path + "/child"));
}

TEST_P(FileSystemContract, FilesAndDirectoriesAreNotInterchangeable) {
  const absl::StatusCode code = absl::StatusCode::kFailedPrecondition;
  EXPECT_OK(fs_.CreateDirectory(Path("d")));
  Put("f", "x");
  ExpectError(fs_.NewWritableFile(Path("d")).status(), code, Path("d"));
  ExpectError(fs_.NewRandomAccessFile(Path("d"), FileSystem::ReadMode::kMapped).status(), code,
              Path("d"));
  ExpectError(fs_.NewLogFile(Path("d"), 10).status(), code, Path("d"));
  ExpectError(fs_.ReadFile(Path("d")).status(), code, Path("d"));
  ExpectError(fs_.FileSize(Path("d")).status(), code, Path("d"));
  ExpectError(fs_.RemoveFile(Path("d")), code, Path("d"));
  ExpectError(fs_.RenameFile(Path("f"), Path("d")), code, Path("d"));
  ExpectError(fs_.RemoveDirectory(Path("f")), code, Path("f"));
  ExpectError(fs_.ListDirectory(Path("f")).status(), code, Path("f"));
  ExpectError(fs_.SyncDirectory(Path("f")), code, Path("f"));
  ExpectError(fs_.SyncFile(Path("d")), code, Path("d"));
  EXPECT_OK(fs_.SyncFile(Path("f")));
  ExpectError(fs_.CreateDirectory(Path("f")), absl::StatusCode::kAlreadyExists, Path("f"));
  ExpectError(fs_.NewWritableFile(Path("f/child")).status(), code, Path("f"));
}

TEST_P(FileSystemContract, DirectoriesListTheirNamesSorted) {
  Put("b", "");
  EXPECT_OK(fs_.CreateDirectory(Path("c")));
  Put("a", "");
  Put("c/inner", "");
  EXPECT_THAT(*fs_.ListDirectory(place_.root), testing::ElementsAre("a", "b", "c"));
  EXPECT_THAT(*fs_.ListDirectory(Path("c")), testing::ElementsAre("inner"));
  EXPECT_OK(fs_.RemoveFile(Path("a")));
  EXPECT_THAT(*fs_.ListDirectory(place_.root), testing::ElementsAre("b", "c"));
  EXPECT_TRUE(fs_.FileExists(Path("b")));
  EXPECT_TRUE(fs_.FileExists(Path("c")));
}

TEST_P(FileSystemContract, CreatingAnExistingDirectoryIsOk) {
  EXPECT_OK(fs_.CreateDirectory(Path("d")));
  Put("d/f", "x");
  EXPECT_OK(fs_.CreateDirectory(Path("d")));
  EXPECT_EQ(Get("d/f"), "x");
}

TEST_P(FileSystemContract, OnlyAnEmptyDirectoryIsRemoved) {
  EXPECT_OK(fs_.CreateDirectory(Path("d")));
  Put("d/f", "x");
  ExpectError(fs_.RemoveDirectory(Path("d")), absl::StatusCode::kFailedPrecondition, Path("d"));
  EXPECT_OK(fs_.RemoveFile(Path("d/f")));
  EXPECT_OK(fs_.RemoveDirectory(Path("d")));
  EXPECT_FALSE(fs_.FileExists(Path("d")));
}

TEST_P(FileSystemContract, ALinkIsASecondNameOfTheBytes) {
  EXPECT_OK(fs_.CreateDirectory(Path("d")));
  Put("from", "bytes");
  Put("other", "others");
  ExpectError(fs_.LinkFile(Path("from"), Path("other")), absl::StatusCode::kAlreadyExists,
              Path("other"));
  EXPECT_EQ(Get("other"), "others");
  ExpectError(fs_.LinkFile(Path("missing"), Path("d/to")), absl::StatusCode::kNotFound,
              Path("missing"));
  EXPECT_OK(fs_.LinkFile(Path("from"), Path("d/to")));
  EXPECT_OK(fs_.SyncDirectory(Path("d")));
  EXPECT_EQ(Get("d/to"), "bytes");
  EXPECT_OK(fs_.RemoveFile(Path("from")));
  EXPECT_EQ(Get("d/to"), "bytes");
  // The name is free again, for a file of its own.
  Put("from", "new");
  EXPECT_EQ(Get("d/to"), "bytes");
}

TEST_P(FileSystemContract, RenameReplacesAndMovesBetweenDirectories) {
  EXPECT_OK(fs_.CreateDirectory(Path("d")));
  Put("from", "new");
  Put("to", "old");
  EXPECT_OK(fs_.RenameFile(Path("from"), Path("to")));
  EXPECT_EQ(Get("to"), "new");
  EXPECT_FALSE(fs_.FileExists(Path("from")));
  EXPECT_OK(fs_.RenameFile(Path("to"), Path("to")));
  EXPECT_EQ(Get("to"), "new");
  EXPECT_OK(fs_.RenameFile(Path("to"), Path("d/to")));
  EXPECT_EQ(Get("d/to"), "new");
  EXPECT_OK(fs_.SyncDirectory(Path("d")));
  EXPECT_OK(fs_.SyncDirectory(place_.root));
  EXPECT_EQ(Get("d/to"), "new");
  EXPECT_THAT(*fs_.ListDirectory(place_.root), testing::ElementsAre("d"));
}

TEST_P(FileSystemContract, AnExclusiveLockExcludesAllOthersUntilItIsReleased) {
  auto lock = fs_.LockFile(Path("LOCK"), FileSystem::LockMode::kExclusive);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_TRUE(fs_.FileExists(Path("LOCK")));
  const absl::Status refused =
      fs_.LockFile(Path("LOCK"), FileSystem::LockMode::kExclusive).status();
  ExpectError(refused, absl::StatusCode::kFailedPrecondition, Path("LOCK"));
  EXPECT_THAT(std::string(refused.message()), testing::HasSubstr(std::to_string(::getpid())));
  ExpectError(fs_.LockFile(Path("LOCK"), FileSystem::LockMode::kShared).status(),
              absl::StatusCode::kFailedPrecondition, Path("LOCK"));
  lock->reset();
  EXPECT_OK(fs_.LockFile(Path("LOCK"), FileSystem::LockMode::kShared).status());
  EXPECT_OK(fs_.LockFile(Path("LOCK"), FileSystem::LockMode::kExclusive).status());
}

TEST_P(FileSystemContract, SharedLocksExcludeOnlyExclusiveOnesAndWriteNothing) {
  Put("LOCK", "content");
  auto one = fs_.LockFile(Path("LOCK"), FileSystem::LockMode::kShared);
  auto two = fs_.LockFile(Path("LOCK"), FileSystem::LockMode::kShared);
  ASSERT_TRUE(one.ok() && two.ok());
  one->reset();
  ExpectError(fs_.LockFile(Path("LOCK"), FileSystem::LockMode::kExclusive).status(),
              absl::StatusCode::kFailedPrecondition, Path("LOCK"));
  two->reset();
  EXPECT_EQ(Get("LOCK"), "content");
  EXPECT_OK(fs_.LockFile(Path("LOCK"), FileSystem::LockMode::kExclusive).status());
}

TEST_P(FileSystemContract, ThreadsMayShareIt) {
  Put("shared", "0123456789");
  auto shared = fs_.NewRandomAccessFile(Path("shared"), FileSystem::ReadMode::kMapped);
  ASSERT_TRUE(shared.ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string name = "f" + std::to_string(t);
      for (int i = 0; i < 50; ++i) {
        Put(name, std::to_string(i));
        EXPECT_OK(fs_.RenameFile(Path(name), Path(name + ".renamed")));
        EXPECT_OK(fs_.SyncDirectory(place_.root));
        EXPECT_EQ(Get(name + ".renamed"), std::to_string(i));
        char buffer[3];
        EXPECT_OK((*shared)->Read(5, 3, buffer));
        EXPECT_EQ(std::string_view(buffer, 3), "567");
        EXPECT_TRUE(fs_.ListDirectory(place_.root).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fs_.ListDirectory(place_.root)->size(), 5u);
}

TEST_P(FileSystemContract, ALockDetectsThatItsFileWasRemovedOrReplaced) {
  auto lock = fs_.LockFile(Path("LOCK"), FileSystem::LockMode::kExclusive);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_OK((*lock)->Check());
  EXPECT_OK(fs_.RemoveFile(Path("LOCK")));
  ExpectError((*lock)->Check(), absl::StatusCode::kFailedPrecondition, Path("LOCK"));
  Put("LOCK", "");
  ExpectError((*lock)->Check(), absl::StatusCode::kFailedPrecondition, Path("LOCK"));
}

TEST_P(FileSystemContract, AHeldDirectoryHasTheSameFiles) {
  EXPECT_OK(fs_.CreateDirectory(Path("d")));
  auto made = fs_.HoldDirectory(Path("d"));
  ASSERT_TRUE(made.ok()) << made.status();
  FileSystem& held = *made != nullptr ? **made : fs_;
  EXPECT_OK(held.CreateDirectory(Path("d/sub")));
  auto file = held.NewWritableFile(Path("d/sub/f"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_OK((*file)->Append("x"));
  EXPECT_EQ(Get("d/sub/f"), "x");
  EXPECT_EQ(*held.ReadFile(Path("d/sub/f")), "x");
  EXPECT_THAT(*held.ListDirectory(Path("d")), testing::ElementsAre("sub"));
  EXPECT_OK(held.SyncDirectory(Path("d")));
  EXPECT_OK(held.RenameFile(Path("d/sub/f"), Path("d/g")));
  EXPECT_OK(held.SyncFile(Path("d/g")));
  EXPECT_EQ(*held.FileSize(Path("d/g")), 1u);
  EXPECT_OK(held.RemoveDirectory(Path("d/sub")));
  EXPECT_THAT(*fs_.ListDirectory(Path("d")), testing::ElementsAre("g"));
  EXPECT_TRUE(held.FileExists(Path("d")));
  // Outside the directory, with a name that has the same prefix.
  Put("d2", "other");
  EXPECT_EQ(*held.ReadFile(Path("d2")), "other");
  ExpectError(held.ReadFile(Path("d/none")).status(), absl::StatusCode::kNotFound, Path("d/none"));
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_FILE_SYSTEM_CONTRACT_H_
