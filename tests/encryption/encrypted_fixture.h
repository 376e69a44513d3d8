// A test with an encrypted file system in memory, and the bytes below it.
#ifndef BIGTABLE_TESTS_ENCRYPTION_ENCRYPTED_FIXTURE_H_
#define BIGTABLE_TESTS_ENCRYPTION_ENCRYPTED_FIXTURE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/encrypted_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/expect_status.h"

namespace bigtable {

// A key whose bytes follow from `seed`.
inline MasterKey KeyOf(std::string_view id, char seed = 'k') {
  return *MasterKey::Create(id, std::string(MasterKey::kSize, seed));
}

// Bytes that differ from their neighbours, and between files of different seeds.
inline std::string Pattern(size_t n, uint32_t seed = 1) {
  std::string bytes(n, '\0');
  uint32_t state = seed * 2654435761u + 1;
  for (char& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

class EncryptedFixture : public testing::Test {
 protected:
  // Appends each of the parts, syncs and closes.
  void Put(std::string_view path, const std::vector<std::string>& parts) {
    auto file = fs_.NewWritableFile(path);
    ASSERT_OK(file);
    for (const std::string& part : parts) ASSERT_OK((*file)->Append(part));
    ASSERT_OK((*file)->Sync());
    ASSERT_OK((*file)->Close());
  }
  std::string Get(std::string_view path) {
    const auto contents = fs_.ReadFile(path);
    return contents.ok() ? *contents : std::string(contents.status().ToString());
  }
  // The first error of opening the file and of reading all of it.
  absl::Status ReadAll(std::string_view path, std::string* contents) {
    auto file = fs_.NewRandomAccessFile(path, FileSystem::ReadMode::kMapped);
    if (!file.ok()) return file.status();
    contents->assign((*file)->size(), '\0');
    return (*file)->Read(0, contents->size(), contents->data());
  }

  InMemoryFileSystem base_;
  KeyRing keys_{KeyOf("first")};
  EncryptedFileSystem fs_{&base_, &keys_};
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_ENCRYPTION_ENCRYPTED_FIXTURE_H_
