// The file systems of the engine and of bigtable::testing keep the contract.
#include "support/file_system_contract.h"

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "filesystem/posix_file_system.h"
#include "support/expect_status.h"
#include "temporary_directory.h"

namespace bigtable {
namespace {

FileSystemPlace InTemporaryDirectory(FileSystem* file_system) {
  FileSystemPlace place;
  place.root = place.Keep(std::make_unique<TemporaryDirectory>())->path();
  place.file_system = file_system;
  return place;
}

FileSystemPlace Posix() { return InTemporaryDirectory(FileSystem::Posix()); }

FileSystemPlace PosixWithoutMappings() {
  PosixFileSystemOptions options;
  options.max_mappings = 0;
  options.reserve_log_files = false;
  FileSystemPlace place = InTemporaryDirectory(nullptr);
  place.file_system = place.Keep(std::make_unique<PosixFileSystem>(options));
  return place;
}

FileSystemPlace InMemory() {
  FileSystemPlace place;
  place.file_system = place.Keep(std::make_unique<InMemoryFileSystem>());
  place.root = "/db";
  EXPECT_OK(place.file_system->CreateDirectory(place.root));
  return place;
}

FileSystemPlace FaultyOverInMemory(FaultyFileSystem::Options options) {
  FileSystemPlace place = InMemory();
  place.file_system = place.Keep(std::make_unique<FaultyFileSystem>(place.file_system, options));
  return place;
}

INSTANTIATE_TEST_SUITE_P(
    All, FileSystemContract,
    ::testing::Values(FileSystemImplementation{"Posix", Posix},
                      FileSystemImplementation{"PosixWithoutMappings", PosixWithoutMappings},
                      FileSystemImplementation{"InMemory", InMemory},
                      FileSystemImplementation{"Faulty", [] { return FaultyOverInMemory({}); }},
                      FileSystemImplementation{"FaultyWithoutMappings",
                                               [] {
                                                 return FaultyOverInMemory(
                                                     {.hide_log_mappings = true,
                                                      .hide_file_mappings = true});
                                               }}),
    [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace bigtable
