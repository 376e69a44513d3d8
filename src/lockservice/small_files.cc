#include "lockservice/small_files.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::string_view kMagic = "BTSMALLF";
constexpr uint32_t kFormatVersion = 1;
constexpr size_t kHeaderSize = 8 + 4 + 8;
constexpr std::string_view kTemporary = "~";

uint64_t ChecksumOf(std::string_view name, std::string_view contents) {
  std::string covered(name);
  covered.push_back('\0');
  covered.append(contents);
  return Checksum(covered);
}

std::string_view ParentOf(std::string_view path) { return path.substr(0, path.rfind('/')); }

}  // namespace

std::string SmallFiles::PathOf(std::string_view name) const {
  return name.empty() ? directory_ : Cat(directory_, "/", name);
}

absl::StatusOr<std::string> SmallFiles::Read(std::string_view name) const {
  const std::string path = PathOf(name);
  BT_ASSIGN_OR_RETURN(std::string bytes, file_system_->ReadFile(path));
  if (bytes.size() < kHeaderSize || !bytes.starts_with(kMagic)) {
    return absl::DataLossError(Cat(path, ": at offset 0: not a file of the lock service"));
  }
  if (const uint32_t version = LoadFixed32(bytes.data() + 8); version != kFormatVersion) {
    return absl::FailedPreconditionError(
        Cat(path, " has format version ", version, "; this program knows ", kFormatVersion));
  }
  std::string contents = bytes.substr(kHeaderSize);
  if (LoadFixed64(bytes.data() + 12) != ChecksumOf(name, contents)) {
    return absl::DataLossError(Cat(path, ": at offset 12: the checksum does not fit"));
  }
  return contents;
}

absl::Status SmallFiles::Write(std::string_view name, std::string_view contents) {
  BT_RETURN_IF_ERROR(CreateDirectories(name));
  std::string bytes(kMagic);
  AppendFixed32(&bytes, kFormatVersion);
  AppendFixed64(&bytes, ChecksumOf(name, contents));
  bytes.append(contents);

  const std::string path = PathOf(name);
  const std::string temporary = Cat(path, kTemporary);
  BT_ASSIGN_OR_RETURN(auto file, file_system_->NewWritableFile(temporary));
  BT_RETURN_IF_ERROR(file->Append(bytes));
  BT_RETURN_IF_ERROR(file->Sync());
  BT_RETURN_IF_ERROR(file->Close());
  BT_RETURN_IF_ERROR(file_system_->RenameFile(temporary, path));
  return file_system_->SyncDirectory(ParentOf(path));
}

absl::Status SmallFiles::Remove(std::string_view name) {
  const std::string path = PathOf(name);
  BT_RETURN_IF_ERROR(file_system_->RemoveFile(path));
  return file_system_->SyncDirectory(ParentOf(path));
}

bool SmallFiles::Exists(std::string_view name) const {
  return file_system_->FileExists(PathOf(name));
}

absl::StatusOr<std::vector<std::string>> SmallFiles::List(std::string_view directory) const {
  const std::string path = PathOf(directory);
  if (!file_system_->FileExists(path)) return std::vector<std::string>();
  BT_ASSIGN_OR_RETURN(std::vector<std::string> names, file_system_->ListDirectory(path));
  std::erase_if(names, [&](const std::string& name) {
    return name.ends_with(kTemporary) || !file_system_->FileSize(Cat(path, "/", name)).ok();
  });
  return names;
}

absl::Status SmallFiles::CreateDirectories(std::string_view name) {
  std::string path = directory_;
  std::string_view rest = name;
  while (true) {
    if (!file_system_->FileExists(path)) {
      BT_RETURN_IF_ERROR(file_system_->CreateDirectory(path));
      BT_RETURN_IF_ERROR(file_system_->SyncDirectory(ParentOf(path)));
    }
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return absl::OkStatus();
    path = Cat(path, "/", rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace bigtable
