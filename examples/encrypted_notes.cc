// Encryption at rest: a database whose files nobody reads without its key; another key, which new
// files are written under; and the day on which the old key can be destroyed.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "bigtable/bigtable.h"
#include "bigtable/encrypted_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

void Expect(bool holds, std::string_view what) {
  std::cout << (holds ? "holds: " : "DOES NOT HOLD: ") << what << std::endl;
  if (!holds) std::exit(EXIT_FAILURE);
}

absl::StatusOr<std::unique_ptr<bigtable::Database>> OpenNotes(bigtable::FileSystem* files) {
  bigtable::DatabaseOptions options;
  options.file_system = files;
  options.log_segment_size = 1 << 20;
  return bigtable::Database::Open("/notes", options);
}

// Writes a note, and closes the database.
absl::Status Write(bigtable::FileSystem* files, std::string_view day, std::string_view note) {
  auto database = OpenNotes(files);
  if (!database.ok()) return database.status();
  bigtable::TableSchema schema;
  schema.families["note"] = {};
  auto table = (*database)->OpenOrCreateTable("notes", schema);
  if (!table.ok()) return table.status();
  absl::Status written = (*table)->Apply(bigtable::RowMutation(day).Set("note:", note),
                                         {.durability = bigtable::Durability::kSync});
  return written.ok() ? (*database)->Close() : written;
}

std::string Read(bigtable::FileSystem* files, std::string_view day) {
  auto database = OpenNotes(files);
  if (!database.ok()) return "";
  auto table = (*database)->OpenTable("notes");
  return table.ok() ? (*table)->Get(day, "note:").value_or("") : "";
}

}  // namespace

int main() {
  // The files are in memory here; FileSystem::Posix() has them on the disk. A program gets its keys
  // from where it keeps secrets, and not from Generate.
  bigtable::InMemoryFileSystem disk;
  bigtable::KeyRing keys(*bigtable::MasterKey::Generate("2026"));
  bigtable::EncryptedFileSystem files(&disk, &keys);

  Expect(Write(&files, "monday", "the gold is under the oak").ok(), "a note is written");
  for (const std::string& path : disk.AllFiles()) {
    Expect(disk.Contents(path).find("oak") == std::string::npos, path + " does not tell where");
  }
  Expect(Read(&disk, "monday").empty(), "without encryption the database does not open");

  bigtable::KeyRing others(*bigtable::MasterKey::Generate("a guess"));
  bigtable::EncryptedFileSystem without(&disk, &others);
  const absl::Status refused = OpenNotes(&without).status();
  Expect(absl::IsFailedPrecondition(refused), "without the key it does not open");
  std::cout << refused << std::endl;  // names the file and the key

  // A new year, a new key. What is there stays readable as long as the old key is in the ring.
  keys.Rotate(*bigtable::MasterKey::Generate("2027"));
  Expect(Write(&files, "tuesday", "it was moved").ok(), "a note is written under the new key");
  Expect(Read(&files, "monday") == "the gold is under the oak", "the old note is read");
  auto used = files.KeysInUse("/notes");
  Expect(used.ok() && used->count("2026") == 1 && used->count("2027") == 1, "both keys are in use");

  // The database is closed: what is left of the old key is written again.
  Expect(files.RewriteUnderCurrentKey("/notes").ok(), "the old files are written again");
  used = files.KeysInUse("/notes");
  Expect(used.ok() && used->count("2026") == 0, "no file needs the old key");
  Expect(keys.Remove("2026").ok(), "the old key is destroyed");
  Expect(Read(&files, "monday") == "the gold is under the oak", "all notes are read without it");
}
