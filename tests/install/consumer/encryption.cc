// The smallest use of bigtable::encryption: a database in a temporary directory, written, closed
// and read again, whose rows are in no file as they are.
#include <bigtable/bigtable.h>
#include <bigtable/encrypted_file_system.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace {

absl::Status Run(const std::string& directory) {
  const absl::StatusOr<bigtable::MasterKey> key = bigtable::MasterKey::Generate("key");
  if (!key.ok()) return key.status();
  bigtable::KeyRing keys(*key);
  bigtable::EncryptedFileSystem files(bigtable::FileSystem::Posix(), &keys);
  bigtable::DatabaseOptions options;
  options.file_system = &files;
  bigtable::TableSchema schema;
  schema.families["f"] = {};
  for (const bool writes : {true, false}) {
    auto db = bigtable::Database::Open(directory + "/db", options);
    if (!db.ok()) return db.status();
    auto table = (*db)->OpenOrCreateTable("t", schema);
    if (!table.ok()) return table.status();
    if (writes) {
      const absl::Status written =
          (*table)->Apply(bigtable::RowMutation("r").Set("f:", "a readable value"));
      if (!written.ok()) return written;
    } else if ((*table)->Get("r", "f:").value_or("") != "a readable value") {
      return absl::InternalError("another value was read");
    }
    if (const absl::Status closed = (*db)->Close(); !closed.ok()) return closed;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    if (bytes.find("readable") != std::string::npos) {
      return absl::InternalError(entry.path().string() + " has the value as it is");
    }
  }
  return absl::OkStatus();
}

}  // namespace

int main() {
  std::string directory = (std::filesystem::temp_directory_path() / "consumer-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) return EXIT_FAILURE;
  const absl::Status status = Run(directory);
  std::filesystem::remove_all(directory);
  if (status.ok()) return EXIT_SUCCESS;
  std::cerr << status << "\n";
  return EXIT_FAILURE;
}
