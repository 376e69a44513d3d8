// A directory in the real file system. The destructor removes it with its contents.
#ifndef BIGTABLE_TESTS_SUPPORT_TEMP_DIRECTORY_H_
#define BIGTABLE_TESTS_SUPPORT_TEMP_DIRECTORY_H_

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <unistd.h>

namespace bigtable {

class TempDirectory {
 public:
  enum class Where {
    kDisk,    // $TMPDIR or /tmp
    kMemory,  // /dev/shm if it is writable, else as kDisk: for tests that need no disk
  };

  explicit TempDirectory(Where where = Where::kDisk) {
    const char* parent = std::getenv("TMPDIR");
    if (parent == nullptr) parent = "/tmp";
    if (where == Where::kMemory && access("/dev/shm", W_OK) == 0) parent = "/dev/shm";
    path_ = std::string(parent) + "/bigtable_test.XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) {
      std::perror(path_.c_str());
      std::abort();
    }
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }
  // A path for a database.
  std::string database() const { return path_ + "/db"; }

  // The bytes of every file below, by path. Directories have the value "".
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      std::string bytes;
      if (entry.is_regular_file()) {
        std::ifstream file(entry.path(), std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
      }
      contents[entry.path().string()] = std::move(bytes);
    }
    return contents;
  }

 private:
  std::string path_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_TEMP_DIRECTORY_H_
