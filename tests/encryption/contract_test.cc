// The encrypted file system keeps the contract of file_system.h, over files that are mapped and
// over files that are not.
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/encrypted_file_system.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "encryption/encrypted_fixture.h"
#include "support/expect_status.h"
#include "support/file_system_contract.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

FileSystemPlace Encrypted(FileSystemPlace place) {
  KeyRing* const keys = place.Keep(std::make_unique<KeyRing>(KeyOf("key")));
  place.file_system = place.Keep(std::make_unique<EncryptedFileSystem>(place.file_system, keys));
  return place;
}

FileSystemPlace OnDisk() {
  FileSystemPlace place;
  place.root = place.Keep(std::make_unique<TempDirectory>())->path();
  place.file_system = FileSystem::Posix();
  return place;
}

FileSystemPlace MemoryPlace() {
  FileSystemPlace place;
  place.file_system = place.Keep(std::make_unique<InMemoryFileSystem>());
  place.root = "/db";
  EXPECT_OK(place.file_system->CreateDirectory(place.root));
  return place;
}

FileSystemPlace WithoutMappings() {
  FileSystemPlace place = MemoryPlace();
  const FaultyFileSystem::Options hidden = {.hide_log_mappings = true, .hide_file_mappings = true};
  place.file_system = place.Keep(std::make_unique<FaultyFileSystem>(place.file_system, hidden));
  return place;
}

INSTANTIATE_TEST_SUITE_P(
    Encrypted, FileSystemContract,
    ::testing::Values(FileSystemImplementation{"OnDisk", [] { return Encrypted(OnDisk()); }},
                      FileSystemImplementation{"InMemory", [] { return Encrypted(MemoryPlace()); }},
                      FileSystemImplementation{"WithoutMappings",
                                               [] { return Encrypted(WithoutMappings()); }}),
    [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace bigtable
