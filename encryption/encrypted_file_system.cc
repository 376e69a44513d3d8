#include "bigtable/encrypted_file_system.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

#include "base/status.h"
#include "base/strings.h"
#include "encryption/appended_file.h"
#include "encryption/file_header.h"
#include "encryption/log_file.h"

namespace bigtable {
namespace {

// The first bytes of a file, kFileHeaderSize or fewer.
absl::StatusOr<std::string> ReadBeginning(const RandomAccessFile& file) {
  std::string bytes(std::min<uint64_t>(file.size(), kFileHeaderSize), '\0');
  BT_RETURN_IF_ERROR(file.Read(0, bytes.size(), bytes.data()));
  return bytes;
}

// Calls `use` with the path of each file in `directory` and below it.
absl::Status ForEachFile(FileSystem* files, const std::string& directory,
                         absl::FunctionRef<absl::Status(const std::string&)> use) {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files->ListDirectory(directory));
  for (const std::string& name : names) {
    const std::string path = Cat(directory, "/", name);
    const absl::Status as_directory = files->ListDirectory(path).status();
    BT_RETURN_IF_ERROR(as_directory.ok() ? ForEachFile(files, path, use) : use(path));
  }
  return absl::OkStatus();
}

}  // namespace

EncryptedFileSystem::EncryptedFileSystem(FileSystem* base, KeyProvider* keys)
    : FileSystemWrapper(base), keys_(keys) {}
EncryptedFileSystem::EncryptedFileSystem(std::unique_ptr<FileSystem> held, KeyProvider* keys)
    : FileSystemWrapper(held.get()), held_(std::move(held)), keys_(keys) {}
EncryptedFileSystem::~EncryptedFileSystem() = default;

absl::StatusOr<std::unique_ptr<FileSystem>> EncryptedFileSystem::HoldDirectory(
    std::string_view path) {
  BT_ASSIGN_OR_RETURN(std::unique_ptr<FileSystem> held, base()->HoldDirectory(path));
  if (held == nullptr) return held;
  return std::unique_ptr<FileSystem>(new EncryptedFileSystem(std::move(held), keys_));
}

absl::StatusOr<std::unique_ptr<WritableFile>> EncryptedFileSystem::NewWritableFile(
    std::string_view path) {
  BT_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, base()->NewWritableFile(path));
  return NewAppendedFile(std::string(path), std::move(file), keys_);
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> EncryptedFileSystem::NewRandomAccessFile(
    std::string_view path, ReadMode /*mode*/) {
  BT_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file,
                      base()->NewRandomAccessFile(path, ReadMode::kPositional));
  if (file->size() == 0) return file;
  BT_ASSIGN_OR_RETURN(const std::string bytes, ReadBeginning(*file));
  if (!IsEncrypted(bytes)) {
    BT_ASSIGN_OR_RETURN(auto zeros, OpenUnsyncedLogFile(std::string(path), *file));
    if (zeros != nullptr) return zeros;
  }
  BT_ASSIGN_OR_RETURN(const FileHeader header, ReadFileHeader(path, bytes, keys_));
  if (header.kind == FileKind::kLog) {
    return OpenEncryptedLogFile(std::string(path), std::move(file), header.size, header.key);
  }
  return OpenAppendedFile(std::string(path), std::move(file), header.key);
}

absl::StatusOr<std::unique_ptr<LogFile>> EncryptedFileSystem::NewLogFile(std::string_view path,
                                                                         uint64_t size) {
  return NewEncryptedLogFile(base(), std::string(path), size, keys_);
}

absl::StatusOr<std::string> EncryptedFileSystem::ReadFile(std::string_view path) {
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                      NewRandomAccessFile(path, ReadMode::kPositional));
  std::string contents(file->size(), '\0');
  BT_RETURN_IF_ERROR(file->Read(0, contents.size(), contents.data()));
  return contents;
}

absl::StatusOr<uint64_t> EncryptedFileSystem::FileSize(std::string_view path) {
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                      NewRandomAccessFile(path, ReadMode::kPositional));
  return file->size();
}

// --- Rotation ---

absl::StatusOr<std::map<std::string, uint64_t>> EncryptedFileSystem::KeysInUse(
    std::string_view directory) {
  std::map<std::string, uint64_t> files_by_key;
  const absl::Status done =
      ForEachFile(base(), std::string(directory), [&](const std::string& path) -> absl::Status {
        const auto file = base()->NewRandomAccessFile(path, ReadMode::kPositional);
        if (absl::IsNotFound(file.status())) return absl::OkStatus();  // removed meanwhile
        BT_RETURN_IF_ERROR(file.status());
        BT_ASSIGN_OR_RETURN(const std::string bytes, ReadBeginning(**file));
        if (!IsEncrypted(bytes)) {
          ++files_by_key[""];
          return absl::OkStatus();
        }
        BT_ASSIGN_OR_RETURN(std::string id, KeyIdOf(path, bytes));
        ++files_by_key[std::move(id)];
        return absl::OkStatus();
      });
  BT_RETURN_IF_ERROR(done);
  return files_by_key;
}

absl::StatusOr<uint64_t> EncryptedFileSystem::RewriteUnderCurrentKey(std::string_view directory) {
  BT_ASSIGN_OR_RETURN(const MasterKey current, keys_->Current());
  uint64_t rewritten = 0;
  const absl::Status done =
      ForEachFile(base(), std::string(directory), [&](const std::string& path) -> absl::Status {
        const auto file = base()->NewRandomAccessFile(path, ReadMode::kPositional);
        // The copy of an earlier call that was interrupted: this one has replaced it.
        if (absl::IsNotFound(file.status())) return absl::OkStatus();
        BT_RETURN_IF_ERROR(file.status());
        BT_ASSIGN_OR_RETURN(const std::string bytes, ReadBeginning(**file));
        if (!IsEncrypted(bytes)) return absl::OkStatus();
        BT_ASSIGN_OR_RETURN(const std::string id, KeyIdOf(path, bytes));
        if (id == current.id()) return absl::OkStatus();
        ++rewritten;
        return Rewrite(path);
      });
  BT_RETURN_IF_ERROR(done);
  return rewritten;
}

absl::Status EncryptedFileSystem::Rewrite(const std::string& path) {
  constexpr uint64_t kPiece = 256 << 10;
  // The engine takes no file of this name for one of its own.
  const std::string temporary = Cat(path, "~");
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                      NewRandomAccessFile(path, ReadMode::kPositional));
  const auto write = [&]() -> absl::Status {
    BT_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> copy, NewWritableFile(temporary));
    std::string piece;
    for (uint64_t at = 0; at < file->size(); at += piece.size()) {
      piece.resize(std::min(kPiece, file->size() - at));
      BT_RETURN_IF_ERROR(file->Read(at, piece.size(), piece.data()));
      BT_RETURN_IF_ERROR(copy->Append(piece));
    }
    BT_RETURN_IF_ERROR(copy->Sync());
    BT_RETURN_IF_ERROR(copy->Close());
    BT_RETURN_IF_ERROR(RenameFile(temporary, path));
    return SyncDirectory(path.substr(0, path.rfind('/')));
  };
  const absl::Status written = write();
  if (!written.ok()) RemoveFile(temporary).IgnoreError();  // it may take space
  return written;
}

}  // namespace bigtable
