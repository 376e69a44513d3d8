// Properties of the POSIX file system only: a limit of mappings, system errors, and locks that
// other processes see.
#include "filesystem/posix_file_system.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <signal.h>
#include <string>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "filesystem/posix_io.h"
#include "temporary_directory.h"

namespace bigtable {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using LockMode = FileSystem::LockMode;
using ReadMode = FileSystem::ReadMode;

// The number of descriptors of this process.
int64_t Descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

class PosixFileSystemTest : public ::testing::Test {
 protected:
  std::string Path(std::string_view name) const {
    return directory_.path() + "/" + std::string(name);
  }
  void Put(std::string_view name, std::string_view contents) {
    auto file = fs_.NewWritableFile(Path(name));
    ASSERT_TRUE(file.ok() && (*file)->Append(contents).ok());
  }

  TemporaryDirectory directory_;
  PosixFileSystem fs_;
};

TEST_F(PosixFileSystemTest, ErrnoBecomesTheCodeThatTheInterfaceSpecifies) {
  const auto code = [](int error) { return PosixError("/p", "op", error).code(); };
  EXPECT_EQ(code(ENOENT), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(EEXIST), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(code(EACCES), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code(EROFS), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code(ENOSPC), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(EDQUOT), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(EMFILE), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(EIO), absl::StatusCode::kUnavailable);
  EXPECT_EQ(PosixError("/p", "op", ENOENT).message(), "/p: op: No such file or directory");
}

TEST_F(PosixFileSystemTest, AWriteBeyondTheFileSizeLimitIsResourceExhaustedAndTheFileUnusable) {
  const pid_t child = ::fork();
  if (child == 0) {  // the limit applies to the process, and so would SIGXFSZ
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto file = fs_.NewWritableFile(Path("f"));
    if (!file.ok()) ::_exit(1);
    const absl::Status status = (*file)->Append(std::string(1001, 'x'));
    if (status.code() != absl::StatusCode::kResourceExhausted) ::_exit(2);
    if ((*file)->Sync() != status) ::_exit(3);
    if ((*file)->Append("") != status) ::_exit(4);
    if (fs_.NewLogFile(Path("log"), 2000).status().code() != absl::StatusCode::kResourceExhausted) {
      ::_exit(5);
    }
    ::_exit(fs_.FileExists(Path("log")) ? 6 : 0);
  }
  int result = -1;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_EQ(WEXITSTATUS(result), 0);
  EXPECT_EQ(*fs_.FileSize(Path("f")), 0u);
}

// Mounts a file system on a directory while this lives, if the process may do that.
class Mounted {
 public:
  Mounted(const char* type, std::string path, const std::string& options)
      : path_(std::move(path)), ok_(::mount(type, path_.c_str(), type, 0, options.c_str()) == 0) {}
  ~Mounted() {
    if (ok_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  bool ok() const { return ok_; }

 private:
  const std::string path_;
  const bool ok_;
};

// A large file reserves space while it grows.
TEST_F(PosixFileSystemTest, AFileTakesNoMoreSpaceThanItsBytesOnceItIsSyncedOrClosed) {
  struct statfs type = {};
  ASSERT_EQ(::statfs(directory_.path().c_str(), &type), 0);
  if (type.f_type != 0xef53) GTEST_SKIP() << "space is reserved only on ext4";
  const auto space = [&] {
    struct stat info = {};
    EXPECT_EQ(::stat(Path("file").c_str(), &info), 0);
    return static_cast<uint64_t>(info.st_blocks) * 512;
  };
  constexpr uint64_t kSlack = 256 << 10;  // of the file system
  const std::string piece(300'000, 'x');
  auto file = fs_.NewWritableFile(Path("file"));
  ASSERT_TRUE(file.ok());
  std::string expected;
  for (const std::string_view end : {"sync", "sync", "close", "drop"}) {
    if (*file == nullptr) {
      expected.clear();
      file = fs_.NewWritableFile(Path("file"));
      ASSERT_TRUE(file.ok());
    }
    bool has_reserved = false;
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE((*file)->Append(piece).ok());
      expected += piece;
      has_reserved |= space() > expected.size() + kSlack;
    }
    EXPECT_TRUE(has_reserved);
    if (end == "sync") {
      ASSERT_TRUE((*file)->Sync().ok());
    } else {
      if (end == "close") {
        ASSERT_TRUE((*file)->Close().ok());
      }
      file->reset();
    }
    EXPECT_LE(space(), expected.size() + kSlack) << end;
    std::ifstream in(Path("file"), std::ios::binary);
    EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(in), {}) == expected) << end;
  }
}

TEST_F(PosixFileSystemTest, ALogOnAnOverlayIsMappedOnlyIfTheLowerFileSystemReservesSpace) {
  ASSERT_TRUE(fs_.CreateDirectory(Path("below")).ok());
  ASSERT_TRUE(fs_.CreateDirectory(Path("above")).ok());
  const auto is_mapped = [&](std::string_view name) {
    auto file = fs_.NewLogFile(Path(name), 64 << 10);
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() && (*file)->mapping() != nullptr;
  };
  const auto is_mapped_on_overlay = [&] {
    for (const char* name : {"below/lower", "below/upper", "below/work"}) {
      EXPECT_TRUE(fs_.CreateDirectory(Path(name)).ok());
    }
    const Mounted overlay("overlay", Path("above"),
                          "lowerdir=" + Path("below/lower") + ",upperdir=" + Path("below/upper") +
                              ",workdir=" + Path("below/work"));
    if (!overlay.ok()) return std::optional<bool>();
    return std::optional<bool>(is_mapped("above/log"));
  };
  // tmpfs identifies itself; through an overlay it cannot be distinguished from others.
  {
    const Mounted memory("tmpfs", Path("below"), "size=4m");
    if (!memory.ok()) GTEST_SKIP() << "this process may not mount a file system";
    EXPECT_TRUE(is_mapped("below/log"));
    const std::optional<bool> mapped = is_mapped_on_overlay();
    if (!mapped.has_value()) GTEST_SKIP() << "this process may not mount an overlay";
    EXPECT_FALSE(*mapped);
  }
  struct statfs disk;
  ASSERT_EQ(::statfs(directory_.path().c_str(), &disk), 0);
  const bool is_known = disk.f_type == 0xef53 || disk.f_type == 0x58465342;  // ext4, XFS
  const std::optional<bool> mapped = is_mapped_on_overlay();
  EXPECT_TRUE(!is_known || !mapped.has_value() || *mapped);
}

TEST_F(PosixFileSystemTest, FilesBeyondTheLimitOfMappingsAreReadWithoutOne) {
  PosixFileSystemOptions options;
  options.max_mappings = 2;
  PosixFileSystem few(options);
  Put("f", "abc");
  auto one = *few.NewRandomAccessFile(Path("f"), ReadMode::kMapped);
  auto two = *few.NewRandomAccessFile(Path("f"), ReadMode::kMapped);
  auto three = *few.NewRandomAccessFile(Path("f"), ReadMode::kMapped);
  EXPECT_NE(one->mapping(), nullptr);
  EXPECT_NE(two->mapping(), nullptr);
  EXPECT_EQ(three->mapping(), nullptr);
  char buffer[3];
  EXPECT_TRUE(three->Read(0, 3, buffer).ok());
  EXPECT_EQ(std::string_view(buffer, 3), "abc");
  one.reset();
  EXPECT_NE((*few.NewRandomAccessFile(Path("f"), ReadMode::kMapped))->mapping(), nullptr);
}

TEST_F(PosixFileSystemTest, PopulatingATruncatedRangeIsAnErrorAndNotASignal) {
  Put("f", std::string(3 << 20, 'x'));
  auto file = *fs_.NewRandomAccessFile(Path("f"), ReadMode::kMapped);
  ASSERT_NE(file->mapping(), nullptr);
  ASSERT_EQ(::truncate(Path("f").c_str(), 4096), 0);
  EXPECT_TRUE(file->Populate(0, 4096).ok());
  const absl::Status status = file->Populate(2 << 20, 1 << 20);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(Path("f")));
}

TEST_F(PosixFileSystemTest, AMappedFileHoldsNoDescriptorAndCanBeRead) {
  Put("f", "abcdef");
  const int64_t before = Descriptors();
  auto file = *fs_.NewRandomAccessFile(Path("f"), ReadMode::kMapped);
  ASSERT_NE(file->mapping(), nullptr);
  EXPECT_EQ(Descriptors(), before);
  ASSERT_TRUE(fs_.RemoveFile(Path("f")).ok());
  char buffer[3];
  EXPECT_TRUE(file->Read(2, 3, buffer).ok());
  EXPECT_EQ(std::string_view(buffer, 3), "cde");
  EXPECT_EQ(file->Read(4, 3, buffer).code(), absl::StatusCode::kDataLoss);
}

TEST_F(PosixFileSystemTest, AMappedFileIsReadByPositionOnRequest) {
  Put("f", "abcdef");
  const int64_t before = Descriptors();
  auto file = *fs_.NewRandomAccessFile(Path("f"), ReadMode::kMapped);
  ASSERT_NE(file->mapping(), nullptr);
  EXPECT_TRUE(file->ReadsByPosition());
  EXPECT_EQ(Descriptors(), before + 1);
  ASSERT_TRUE(fs_.RemoveFile(Path("f")).ok());
  EXPECT_TRUE(file->ReadsByPosition()) << "the descriptor still belongs to the file";
  char buffer[3];
  EXPECT_TRUE(file->Read(2, 3, buffer).ok());
  EXPECT_EQ(std::string_view(buffer, 3), "cde");
  const absl::Status status = file->Read(4, 3, buffer);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(Path("f")));
  file.reset();
  EXPECT_EQ(Descriptors(), before);
}

// The file that has its name now has other bytes.
TEST_F(PosixFileSystemTest, ARenamedFileIsNotReadByPosition) {
  Put("f", "abcdef");
  auto file = *fs_.NewRandomAccessFile(Path("f"), ReadMode::kMapped);
  ASSERT_NE(file->mapping(), nullptr);
  ASSERT_TRUE(fs_.RenameFile(Path("f"), Path("g")).ok());
  EXPECT_FALSE(file->ReadsByPosition());
  Put("f", "ABCDEF");
  EXPECT_FALSE(file->ReadsByPosition());
  char buffer[3];
  EXPECT_TRUE(file->Read(2, 3, buffer).ok());
  EXPECT_EQ(std::string_view(buffer, 3), "cde");
}

// Of each of the two ways.
TEST_F(PosixFileSystemTest, MappedFilesReadPastTheirMappingShareFewDescriptors) {
  struct rlimit before_test = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before_test), 0);
  rlimit few = before_test;
  few.rlim_cur = std::min<rlim_t>(few.rlim_cur, 800);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  constexpr size_t kFiles = 300;
  const int64_t before = Descriptors();
  std::vector<std::unique_ptr<RandomAccessFile>> files;
  for (size_t i = 0; i < kFiles; ++i) {
    const std::string name = "f" + std::to_string(i);
    Put(name, name + "xyz");
    files.push_back(*fs_.NewRandomAccessFile(Path(name), ReadMode::kMapped));
    ASSERT_NE(files.back()->mapping(), nullptr);
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < kFiles; ++i) {
      const std::string name = "f" + std::to_string(i);
      EXPECT_TRUE(files[i]->ReadsByPosition());
      std::string buffer(name.size(), '\0');
      EXPECT_TRUE(files[i]->Read(0, buffer.size(), buffer.data()).ok());
      EXPECT_EQ(buffer, name);
      (void)files[i]->ReadsUncached();
      const size_t other = i / 2;  // whose descriptors may be closed by now
      const std::string other_name = "f" + std::to_string(other);
      buffer.resize(other_name.size());
      EXPECT_TRUE(files[other]->ReadUncached(0, buffer.size(), buffer.data()).ok());
      EXPECT_EQ(buffer, other_name);
    }
    EXPECT_LE(Descriptors(), before + static_cast<int64_t>(few.rlim_cur) / 8);
    EXPECT_GT(Descriptors(), before);
  }
  files.clear();
  EXPECT_EQ(Descriptors(), before);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before_test), 0);
}

TEST_F(PosixFileSystemTest, OnlyTheRequestedRangeOfAMappingIsRead) {
  Put("f", std::string(8 << 20, 'x'));
  ASSERT_TRUE(fs_.SyncFile(Path("f")).ok());
  const int fd = ::open(Path("f").c_str(), O_RDONLY);
  ASSERT_EQ(::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
  ::close(fd);
  auto file = *fs_.NewRandomAccessFile(Path("f"), ReadMode::kMapped);
  ASSERT_NE(file->mapping(), nullptr);
  if (file->IsResident(0, 8 << 20)) GTEST_SKIP() << "this file system keeps everything in memory";
  file->WillNeed(1 << 20, 10'000);
  EXPECT_TRUE(file->Populate(1 << 20, 10'000).ok());
  EXPECT_TRUE(file->IsResident(1 << 20, 10'000));
  uint64_t resident = 0;
  for (uint64_t page = 0; page < 2048; ++page) {
    resident += file->IsResident(page * 4096, 4096) ? 1 : 0;
  }
  EXPECT_EQ(resident, 3);
}

TEST_F(PosixFileSystemTest, OnlyTheRequestedRangeOfAFileThatIsNotMappedIsRead) {
  constexpr uint64_t kPages = 2048;
  Put("f", std::string(kPages * 4096, 'x'));
  ASSERT_TRUE(fs_.SyncFile(Path("f")).ok());
  const int fd = ::open(Path("f").c_str(), O_RDONLY);
  ASSERT_EQ(::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
  ::close(fd);
  const auto mapped = *fs_.NewRandomAccessFile(Path("f"), ReadMode::kMapped);  // to look
  if (mapped->IsResident(0, kPages * 4096)) GTEST_SKIP() << "everything stays in memory";
  const auto file = *fs_.NewRandomAccessFile(Path("f"), ReadMode::kPositional);
  ASSERT_EQ(file->mapping(), nullptr);
  file->WillNeed(1 << 20, 10'000);
  file->WillNeed(kPages * 4096 - 10, 20);  // beyond its end
  file->WillNeed(0, 0);
  std::string buffer(10'000, '\0');
  EXPECT_TRUE(file->Read(1 << 20, buffer.size(), buffer.data()).ok());
  for (int i = 0; i < 1000 && !mapped->IsResident(1 << 20, 10'000); ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  uint64_t resident = 0;
  for (uint64_t page = 0; page < kPages; ++page) {
    resident += mapped->IsResident(page * 4096, 4096) ? 1 : 0;
  }
  EXPECT_EQ(resident, 3);
}

TEST_F(PosixFileSystemTest, AReservedLogFileIsMappedAndItsSpaceIsAllocated) {
  auto log = *fs_.NewLogFile(Path("log"), 1 << 20);
  if (log->mapping() == nullptr) GTEST_SKIP() << "this file system reserves no space";
  struct stat info;
  ASSERT_EQ(::stat(Path("log").c_str(), &info), 0);
  EXPECT_GE(info.st_blocks * 512, 1 << 20);
}

TEST_F(PosixFileSystemTest, AFailedLogFileLeavesNoFile) {
  for (const bool reserve : {true, false}) {
    PosixFileSystemOptions options;
    options.reserve_log_files = reserve;
    PosixFileSystem fs(options);
    for (const uint64_t size : {uint64_t{1} << 62, UINT64_MAX}) {
      if (!reserve && size < UINT64_MAX) continue;  // tmpfs has such files
      const absl::Status status = fs.NewLogFile(Path("log"), size).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(Path("log")));
      EXPECT_FALSE(fs.FileExists(Path("log")));
    }
  }
}

TEST_F(PosixFileSystemTest, StoresIntoALogFileOutliveTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto log = fs_.NewLogFile(Path("log"), 4096);
    if (!log.ok()) ::_exit(1);
    if (char* mapping = (*log)->mapping()) {
      std::memcpy(mapping + 100, "stored", 6);
    } else if (!(*log)->Write(100, "stored").ok()) {
      ::_exit(2);
    }
    ::kill(::getpid(), SIGKILL);
  }
  int result = -1;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  ASSERT_TRUE(WIFSIGNALED(result)) << WEXITSTATUS(result);
  EXPECT_EQ(fs_.ReadFile(Path("log"))->substr(100, 6), "stored");
}

TEST_F(PosixFileSystemTest, AFileWithoutPermissionIsPermissionDenied) {
  Put("f", "x");
  ASSERT_EQ(::chmod(Path("f").c_str(), 0), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // Nothing is denied to root.
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(1);
    const absl::Status status = fs_.ReadFile(Path("f")).status();
    ::_exit(status.code() == absl::StatusCode::kPermissionDenied ? 0 : 2);
  }
  int result = -1;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_EQ(WEXITSTATUS(result), 0);
}

TEST_F(PosixFileSystemTest, InterruptedCallsAreRepeated) {
  int interruptions = 3;
  const int result = RetryInterrupted([&] {
    if (interruptions-- == 0) return 7;
    errno = EINTR;
    return -1;
  });
  EXPECT_EQ(result, 7);
  int calls = 0;
  EXPECT_EQ(RetryInterrupted([&] {
              ++calls;
              errno = EIO;
              return -1;
            }),
            -1);
  EXPECT_EQ(calls, 1);
}

// Locks `path` in another process until this is destroyed.
class OtherProcess {
 public:
  OtherProcess(FileSystem* fs, const std::string& path, LockMode mode) {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      auto lock = fs->LockFile(path, mode);
      const char answer = lock.ok() ? 'y' : 'n';
      if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    char answer = 'n';
    locked_ = ::read(ready[0], &answer, 1) == 1 && answer == 'y';
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~OtherProcess() { Kill(); }

  void Kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  bool locked() const { return locked_; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  bool locked_ = false;
};

TEST_F(PosixFileSystemTest, TheErrorNamesTheProcessThatHoldsTheLockAndItsDeathReleasesIt) {
  OtherProcess other(&fs_, Path("LOCK"), LockMode::kExclusive);
  ASSERT_TRUE(other.locked());
  for (const LockMode mode : {LockMode::kExclusive, LockMode::kShared}) {
    const absl::Status refused = fs_.LockFile(Path("LOCK"), mode).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
    EXPECT_THAT(std::string(refused.message()),
                HasSubstr("process " + std::to_string(other.pid())));
  }
  other.Kill();
  EXPECT_TRUE(fs_.LockFile(Path("LOCK"), LockMode::kExclusive).ok());
}

TEST_F(PosixFileSystemTest, ProcessesShareAReadLockAndADeadProcessIsNotNamed) {
  Put("LOCK", "999999999");  // left by a killed process
  OtherProcess other(&fs_, Path("LOCK"), LockMode::kShared);
  ASSERT_TRUE(other.locked());
  EXPECT_TRUE(fs_.LockFile(Path("LOCK"), LockMode::kShared).ok());
  const absl::Status refused = fs_.LockFile(Path("LOCK"), LockMode::kExclusive).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("999999999")));
}

}  // namespace
}  // namespace bigtable
