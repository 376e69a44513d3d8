// A new directory in the machine's file system, removed with its contents. One thread.
#ifndef BIGTABLE_TESTS_FILESYSTEM_TEMPORARY_DIRECTORY_H_
#define BIGTABLE_TESTS_FILESYSTEM_TEMPORARY_DIRECTORY_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace bigtable {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "bigtable-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_FILESYSTEM_TEMPORARY_DIRECTORY_H_
