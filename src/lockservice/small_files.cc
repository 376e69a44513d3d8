#include "lockservice/small_files.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::string_view kMagic = "BTSMALLF";
constexpr uint32_t kFormatVersion = 2;
constexpr uint32_t kVersionWithoutGeneration = 1;
constexpr size_t kChecksumOffset = 8 + 4;
constexpr size_t kHeaderSize = kChecksumOffset + 8;  // common to all versions
constexpr std::string_view kTemporary = "~";
constexpr std::string_view kWithoutCopies = "servers/";

// The checksum covers the version, so that a file of format 1 is not taken for one of format 2,
// whose first bytes after the header have another meaning.
uint64_t ChecksumOf(std::string_view name, uint32_t version, std::string_view body) {
  std::string covered(name);
  covered.push_back('\0');
  if (version != kVersionWithoutGeneration) AppendFixed32(&covered, version);
  covered.append(body);
  return Checksum(covered);
}

std::string_view ParentOf(std::string_view path) { return path.substr(0, path.rfind('/')); }

}  // namespace

std::string SmallFiles::PathOf(std::string_view name) const {
  return name.empty() ? directory_ : Cat(directory_, "/", name);
}

absl::StatusOr<std::string> SmallFiles::Read(std::string_view name) const {
  BT_ASSIGN_OR_RETURN(SmallFile file, ReadWithGeneration(name));
  return std::move(file.contents);
}

bool SmallFiles::HasCopy(std::string_view name) const {
  return !copies_.empty() && !name.starts_with(kWithoutCopies);
}

absl::StatusOr<SmallFile> SmallFiles::ReadWithGeneration(std::string_view name) const {
  absl::StatusOr<SmallFile> file = ReadAt(PathOf(name), name);
  // An unknown version may be damage, too: who writes later versions writes both files.
  const bool may_have_copy = absl::IsDataLoss(file.status()) || absl::IsNotFound(file.status()) ||
                             absl::IsFailedPrecondition(file.status());
  if (!may_have_copy || !HasCopy(name)) return file;
  absl::StatusOr<SmallFile> copy = ReadAt(Cat(copies_, "/", name), name);
  if (copy.ok()) {
    copy->damage = file.status();
    return copy;
  }
  // There is a copy, so there was a file.
  const bool was_there = absl::IsNotFound(file.status()) && absl::IsDataLoss(copy.status());
  return was_there ? copy : file;
}

absl::StatusOr<SmallFile> SmallFiles::ReadAt(const std::string& path, std::string_view name) const {
  BT_ASSIGN_OR_RETURN(const std::string bytes, file_system_->ReadFile(path));
  if (bytes.size() < kHeaderSize || !bytes.starts_with(kMagic)) {
    return absl::DataLossError(Cat(path, ": at offset 0: not a file of the lock service"));
  }
  const uint32_t version = LoadFixed32(bytes.data() + kMagic.size());
  if (version != kFormatVersion && version != kVersionWithoutGeneration) {
    return absl::FailedPreconditionError(Cat(path, " has format version ", version,
                                             "; this program knows ", kVersionWithoutGeneration,
                                             " to ", kFormatVersion));
  }
  std::string_view body = std::string_view(bytes).substr(kHeaderSize);
  if (LoadFixed64(bytes.data() + kChecksumOffset) != ChecksumOf(name, version, body)) {
    return absl::DataLossError(
        Cat(path, ": at offset ", kChecksumOffset, ": the checksum does not match"));
  }
  SmallFile file{.generation = kUnknownGeneration};
  if (version != kVersionWithoutGeneration) {
    if (body.size() < sizeof(uint64_t)) {
      return absl::DataLossError(
          Cat(path, ": at offset ", kHeaderSize, ": the generation is missing"));
    }
    file.generation = LoadFixed64(body.data());
    body.remove_prefix(sizeof(uint64_t));
  }
  file.contents = body;
  return file;
}

absl::Status SmallFiles::Write(std::string_view name, std::string_view contents,
                               uint64_t generation) {
  std::string body;
  AppendFixed64(&body, generation);
  body.append(contents);
  std::string bytes(kMagic);
  AppendFixed32(&bytes, kFormatVersion);
  AppendFixed64(&bytes, ChecksumOf(name, kFormatVersion, body));
  bytes.append(body);
  if (!HasCopy(name)) return WriteAt(directory_, name, bytes);
  BT_RETURN_IF_ERROR(WriteAt(copies_, name, bytes));
  absl::Status written = WriteAt(directory_, name, bytes);
  // Better no copy than one of what may not have been written.
  if (!written.ok()) RemoveAt(Cat(copies_, "/", name)).IgnoreError();
  return written;
}

absl::Status SmallFiles::Restore(std::string_view name) {
  BT_ASSIGN_OR_RETURN(const std::string bytes, file_system_->ReadFile(Cat(copies_, "/", name)));
  return WriteAt(directory_, name, bytes);
}

absl::Status SmallFiles::WriteAt(const std::string& directory, std::string_view name,
                                 std::string_view bytes) const {
  BT_RETURN_IF_ERROR(CreateDirectories(directory, name));
  const std::string path = Cat(directory, "/", name);
  const std::string temporary = Cat(path, kTemporary);
  BT_ASSIGN_OR_RETURN(auto file, file_system_->NewWritableFile(temporary));
  BT_RETURN_IF_ERROR(file->Append(bytes));
  BT_RETURN_IF_ERROR(file->Sync());
  BT_RETURN_IF_ERROR(file->Close());
  BT_RETURN_IF_ERROR(file_system_->RenameFile(temporary, path));
  return file_system_->SyncDirectory(ParentOf(path));
}

absl::Status SmallFiles::Remove(std::string_view name) {
  if (!HasCopy(name)) return RemoveAt(PathOf(name));
  const absl::Status copy = RemoveAt(Cat(copies_, "/", name));
  if (!copy.ok() && !absl::IsNotFound(copy)) return copy;
  const absl::Status removed = RemoveAt(PathOf(name));
  return copy.ok() && absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

absl::Status SmallFiles::RemoveAt(const std::string& path) const {
  BT_RETURN_IF_ERROR(file_system_->RemoveFile(path));
  return file_system_->SyncDirectory(ParentOf(path));
}

bool SmallFiles::Exists(std::string_view name) const {
  return file_system_->FileExists(PathOf(name)) ||
         (HasCopy(name) && file_system_->FileExists(Cat(copies_, "/", name)));
}

absl::StatusOr<std::vector<std::string>> SmallFiles::List(std::string_view directory) const {
  std::vector<std::string> files;
  BT_RETURN_IF_ERROR(ListAt(PathOf(directory), &files));
  if (!HasCopy(Cat(directory, "/"))) return files;
  BT_RETURN_IF_ERROR(ListAt(directory.empty() ? copies_ : Cat(copies_, "/", directory), &files));
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

absl::Status SmallFiles::ListAt(const std::string& path, std::vector<std::string>* files) const {
  absl::StatusOr<std::vector<std::string>> names = file_system_->ListDirectory(path);
  if (absl::IsNotFound(names.status())) return absl::OkStatus();
  BT_RETURN_IF_ERROR(names.status());
  for (std::string& child : *names) {
    if (child.ends_with(kTemporary)) continue;
    const absl::Status status = file_system_->FileSize(Cat(path, "/", child)).status();
    if (absl::IsNotFound(status)) continue;  // it was removed
    // A directory. Or the file system has a file that it refuses, which must not be left out.
    if (absl::IsFailedPrecondition(status) &&
        file_system_->ListDirectory(Cat(path, "/", child)).ok()) {
      continue;
    }
    BT_RETURN_IF_ERROR(status);
    files->push_back(std::move(child));
  }
  return absl::OkStatus();
}

absl::Status SmallFiles::CreateDirectories(const std::string& directory,
                                           std::string_view name) const {
  if (directory == copies_) BT_RETURN_IF_ERROR(CreateDirectory(std::string(ParentOf(directory))));
  std::string path = directory;
  std::string_view rest = name;
  while (true) {
    BT_RETURN_IF_ERROR(CreateDirectory(path));
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return absl::OkStatus();
    path = Cat(path, "/", rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
  }
}

absl::Status SmallFiles::CreateDirectory(const std::string& path) const {
  if (file_system_->FileExists(path)) return absl::OkStatus();
  BT_RETURN_IF_ERROR(file_system_->CreateDirectory(path));
  return file_system_->SyncDirectory(ParentOf(path));
}

}  // namespace bigtable
