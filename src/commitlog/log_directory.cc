#include "commitlog/log_directory.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_format.h"
#include "commitlog/log_state.h"

namespace bigtable {
namespace {

std::string_view ParentOf(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

// Whether a log has files of this name, in any version of the format.
bool IsOfLog(std::string_view name) {
  return ParseSegmentName(name).has_value() || name == kTemporarySegmentName ||
         name == kLogStateName || name == kTemporaryLogStateName || name == kSortedManifestName ||
         name == kSortedManifestTemporaryName || ParseSortedPieceName(name).has_value();
}

// The bytes of the copy are durable, its name is not.
absl::Status CopyFile(FileSystem* file_system, const std::string& from, const std::string& to) {
  constexpr uint64_t kPiece = uint64_t{1} << 20;
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                      file_system->NewRandomAccessFile(from, FileSystem::ReadMode::kPositional));
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> copy, file_system->NewWritableFile(to));
  std::string piece;
  for (uint64_t offset = 0; offset < file->size(); offset += piece.size()) {
    piece.resize(std::min(kPiece, file->size() - offset));
    BT_RETURN_IF_ERROR(file->Read(offset, piece.size(), piece.data()));
    BT_RETURN_IF_ERROR(copy->Append(piece));
  }
  BT_RETURN_IF_ERROR(copy->Sync());
  return copy->Close();
}

}  // namespace

absl::Status CreateLogDirectory(FileSystem* file_system, std::string_view directory) {
  BT_RETURN_IF_ERROR(file_system->CreateDirectory(directory));
  BT_ASSIGN_OR_RETURN(const auto names, file_system->ListDirectory(directory));
  for (const std::string& name : names) {
    if (ParseSegmentName(name).has_value() || name == kRemovedMarker) {
      return absl::AlreadyExistsError(Cat("there is a commit log in ", directory, " already"));
    }
  }
  return file_system->SyncDirectory(ParentOf(directory));
}

absl::Status SyncLog(FileSystem* file_system, std::string_view directory) {
  const auto names = file_system->ListDirectory(directory);
  if (absl::IsNotFound(names.status())) return absl::OkStatus();
  BT_RETURN_IF_ERROR(names.status());
  for (const std::string& name : *names) {
    if (ParseSegmentName(name).has_value()) {
      BT_RETURN_IF_ERROR(file_system->SyncFile(Cat(directory, "/", name)));
    }
  }
  return file_system->SyncDirectory(directory);
}

absl::Status CopyLog(FileSystem* file_system, std::string_view directory, uint64_t first) {
  BT_ASSIGN_OR_RETURN(const auto names, file_system->ListDirectory(directory));
  const std::string temporary = Cat(directory, "/", kTemporarySegmentName);
  for (const std::string& name : names) {
    const auto number = ParseSegmentName(name);
    if (!number.has_value() || *number < first) continue;
    const std::string path = Cat(directory, "/", name);
    if (const absl::Status copied = CopyFile(file_system, path, temporary); !copied.ok()) {
      file_system->RemoveFile(temporary).IgnoreError();  // a partial file may take space
      return copied;
    }
    BT_RETURN_IF_ERROR(file_system->RenameFile(temporary, path));
  }
  return file_system->SyncDirectory(directory);
}

absl::Status RemoveLog(FileSystem* file_system, std::string_view directory) {
  auto names = file_system->ListDirectory(directory);
  if (absl::IsNotFound(names.status())) return absl::OkStatus();
  BT_RETURN_IF_ERROR(names.status());
  const std::string marker = Cat(directory, "/", kRemovedMarker);
  BT_ASSIGN_OR_RETURN(auto file, file_system->NewWritableFile(marker));
  BT_RETURN_IF_ERROR(file->Close());
  BT_RETURN_IF_ERROR(file_system->SyncDirectory(directory));
  for (const std::string& name : *names) {
    if (!IsOfLog(name)) continue;
    BT_RETURN_IF_ERROR(file_system->RemoveFile(Cat(directory, "/", name)));
  }
  BT_RETURN_IF_ERROR(file_system->SyncDirectory(directory));  // the marker is removed last
  BT_RETURN_IF_ERROR(file_system->RemoveFile(marker));
  const absl::Status removed = file_system->RemoveDirectory(directory);
  // The directory is not empty: the next opening finds a directory without a log, and retries.
  if (!absl::IsFailedPrecondition(removed)) BT_RETURN_IF_ERROR(removed);
  return file_system->SyncDirectory(ParentOf(directory));
}

}  // namespace bigtable
