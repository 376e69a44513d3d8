#include "transfer/backup_store.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "base/status.h"
#include "base/strings.h"
#include "compaction/job.h"

namespace bigtable {
namespace {

constexpr std::string_view kBackups = "backups";
constexpr std::string_view kSuffix = ".sst";
constexpr std::string_view kNew = ".new";
constexpr size_t kDigits = 16;  // of a number in hexadecimal

std::string Hexadecimal(uint64_t number) {
  return absl::StrCat(absl::Hex(number, absl::kZeroPad16));
}

std::optional<BackupFile> ParseName(std::string_view name) {
  if (name.size() != 3 * kDigits + 2 + kSuffix.size() || !name.ends_with(kSuffix) ||
      name[kDigits] != '-' || name[2 * kDigits + 1] != '-') {
    return std::nullopt;
  }
  BackupFile file;
  const auto parse = [&](size_t i, uint64_t* number) {
    return absl::SimpleHexAtoi(ToAbsl(name.substr(i * (kDigits + 1), kDigits)), number);
  };
  if (!parse(0, &file.identity) || !parse(1, &file.size) || !parse(2, &file.checksum)) {
    return std::nullopt;
  }
  return file;
}

}  // namespace

BackupStore::BackupStore(FileSystem* file_system, std::string_view directory)
    : file_system_(file_system),
      directory_(directory),
      descriptions_(file_system, std::string(directory)) {}

absl::StatusOr<std::unique_ptr<BackupStore>> BackupStore::Open(FileSystem* file_system,
                                                               std::string_view directory) {
  std::unique_ptr<BackupStore> store(new BackupStore(file_system, directory));
  BT_RETURN_IF_ERROR(file_system->CreateDirectory(directory));
  BT_ASSIGN_OR_RETURN(store->lock_, file_system->LockFile(Cat(directory, "/LOCK"),
                                                          FileSystem::LockMode::kExclusive));
  BT_RETURN_IF_ERROR(file_system->CreateDirectory(store->FilesPath()));
  BT_RETURN_IF_ERROR(file_system->SyncDirectory(directory));
  BT_RETURN_IF_ERROR(SyncDirectoryOf(file_system, directory));
  return store;
}

std::string BackupStore::NameOf(uint64_t number) { return Cat(kBackups, "/", number); }

absl::StatusOr<std::vector<uint64_t>> BackupStore::Numbers() const {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names, descriptions_.List(kBackups));
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    uint64_t number = 0;
    if (absl::SimpleAtoi(name, &number) && Cat(number) == name) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

absl::StatusOr<BackupManifest> BackupStore::Read(uint64_t number) const {
  const absl::StatusOr<std::string> bytes = descriptions_.Read(NameOf(number));
  if (absl::IsNotFound(bytes.status())) {
    return absl::NotFoundError(Cat(directory_, ": there is no backup ", number));
  }
  BT_RETURN_IF_ERROR(bytes.status());
  absl::StatusOr<BackupManifest> manifest = BackupManifest::Decode(*bytes);
  if (manifest.ok()) return manifest;
  return absl::Status(manifest.status().code(), Cat(directory_, ": backup ", number, ": ",
                                                    ToStd(manifest.status().message())));
}

absl::Status BackupStore::Write(uint64_t number, const BackupManifest& manifest) {
  return descriptions_.Write(NameOf(number), manifest.Encode());
}

absl::Status BackupStore::Remove(uint64_t number) {
  const absl::Status removed = descriptions_.Remove(NameOf(number));
  if (!absl::IsNotFound(removed)) return removed;
  return absl::NotFoundError(Cat(directory_, ": there is no backup ", number));
}

absl::StatusOr<BackupStore::Files> BackupStore::ListFiles() const {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system_->ListDirectory(FilesPath()));
  Files files;
  for (const std::string& name : names) {
    if (const auto file = ParseName(name)) files[{file->identity, file->size}] = file->checksum;
  }
  return files;
}

std::string BackupStore::PathOf(const BackupFile& file) const {
  return Cat(FilesPath(), "/", Hexadecimal(file.identity), "-", Hexadecimal(file.size), "-",
             Hexadecimal(file.checksum), kSuffix);
}

std::string BackupStore::PathOfNew(uint64_t number) const {
  return Cat(FilesPath(), "/", number, kNew);
}

absl::Status BackupStore::Name(uint64_t number, const BackupFile& file) {
  return file_system_->RenameFile(PathOfNew(number), PathOf(file));
}

absl::Status BackupStore::SyncFiles() { return file_system_->SyncDirectory(FilesPath()); }

absl::Status BackupStore::RemoveUnfinished() {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system_->ListDirectory(FilesPath()));
  for (const std::string& name : names) {
    if (!name.ends_with(kNew)) continue;
    BT_RETURN_IF_ERROR(file_system_->RemoveFile(Cat(FilesPath(), "/", name)));
  }
  return absl::OkStatus();
}

absl::Status BackupStore::RemoveUnnamed() {
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, Numbers());
  std::set<std::string> named;
  for (const uint64_t number : numbers) {
    // With a description that cannot be read, nothing is known of its files.
    BT_ASSIGN_OR_RETURN(const BackupManifest manifest, Read(number));
    for (const BackupFile& file : manifest.files) named.insert(PathOf(file));
  }
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system_->ListDirectory(FilesPath()));
  for (const std::string& name : names) {
    const std::string path = Cat(FilesPath(), "/", name);
    const bool is_ours = ParseName(name).has_value() || name.ends_with(kNew);
    if (is_ours && !named.contains(path)) BT_RETURN_IF_ERROR(file_system_->RemoveFile(path));
  }
  return absl::OkStatus();
}

}  // namespace bigtable
