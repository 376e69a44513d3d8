#include "lockservice/versioned_files.h"

#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "lockservice/file_name.h"

namespace bigtable {
namespace {

std::string_view ParentOf(std::string_view path) { return path.substr(0, path.rfind('/')); }

}  // namespace

VersionedFiles::VersionedFiles(FileSystem* file_system, std::string directory,
                               SmallFileCopies copies)
    : file_system_(file_system),
      copies_(std::move(copies)),
      files_(file_system, std::move(directory), copies_.directory),
      counter_(&files_) {}

absl::StatusOr<std::optional<LockServiceFile>> VersionedFiles::Find(std::string_view name) {
  BT_ASSIGN_OR_RETURN(const bool there, MakeDurable(LockDirectoryOf(name)));
  if (!there && !files_.Exists(name)) return std::nullopt;
  absl::StatusOr<SmallFile> file = files_.ReadWithGeneration(name);
  if (absl::IsNotFound(file.status())) return std::nullopt;
  if (absl::IsFailedPrecondition(file.status()) && IsDirectory(name)) return std::nullopt;
  BT_RETURN_IF_ERROR(file.status());
  if (!file->damage.ok()) {
    if (copies_.on_use != nullptr) copies_.on_use(name, file->damage);
    // If this fails, the copy stays, and is read again.
    if (copies_.may_write) files_.Restore(name).IgnoreError();
  }
  if (file->generation > counter_.bound()) {
    return absl::DataLossError(Cat(files_.PathOf(name), ": has generation ", file->generation,
                                   "; according to ", files_.PathOf(GenerationCounter::kFile),
                                   " none above ", counter_.bound(), " was assigned"));
  }
  return LockServiceFile{std::move(file->contents), file->generation};
}

absl::StatusOr<std::vector<std::string>> VersionedFiles::List(std::string_view directory) {
  BT_ASSIGN_OR_RETURN(const bool there, MakeDurable(directory));
  if (!there && copies_.directory.empty()) return std::vector<std::string>();
  BT_ASSIGN_OR_RETURN(std::vector<std::string> names, files_.List(directory));
  if (directory.empty()) std::erase(names, GenerationCounter::kFile);
  return names;
}

absl::StatusOr<Generation> VersionedFiles::NextGeneration() {
  BT_RETURN_IF_ERROR(MakeDurable("").status());
  absl::StatusOr<Generation> next = counter_.Next();
  if (!next.ok()) durable_.erase("");
  return next;
}

absl::Status VersionedFiles::CheckParent(std::string_view name) {
  if (IsDirectory(name)) {
    return absl::InvalidArgumentError(Cat(Quoted(name), " is a directory"));
  }
  for (std::string_view above = LockDirectoryOf(name); !above.empty();
       above = LockDirectoryOf(above)) {
    if (IsFile(above)) {
      return absl::InvalidArgumentError(
          Cat(Quoted(name), ": ", Quoted(above), " is a file and cannot contain others"));
    }
  }
  return absl::OkStatus();
}

absl::Status VersionedFiles::Write(std::string_view name, std::string_view contents,
                                   Generation generation) {
  const std::string_view directory = LockDirectoryOf(name);
  absl::Status status = files_.Write(name, contents, generation);
  // An interrupted earlier call may have left its directories without a sync.
  if (status.ok()) status = MakeDurable(directory).status();
  if (!status.ok()) durable_.erase(std::string(directory));
  return status;
}

absl::Status VersionedFiles::Remove(std::string_view name) {
  absl::Status status = files_.Remove(name);
  if (!status.ok()) durable_.erase(std::string(LockDirectoryOf(name)));
  return status;
}

absl::StatusOr<bool> VersionedFiles::MakeDurable(std::string_view directory) {
  if (durable_.contains(directory)) return true;
  std::string path = files_.PathOf("");
  std::string_view rest = directory;
  while (true) {
    if (!file_system_->FileExists(path)) return false;
    BT_RETURN_IF_ERROR(file_system_->SyncDirectory(ParentOf(path)));
    if (rest.empty()) break;
    const size_t slash = rest.find('/');
    path = Cat(path, "/", rest.substr(0, slash));
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  if (!directory.empty() && IsFile(directory)) return false;
  BT_RETURN_IF_ERROR(file_system_->SyncDirectory(path));
  durable_.emplace(directory);
  return true;
}

bool VersionedFiles::IsFile(std::string_view name) const {
  return file_system_->FileSize(files_.PathOf(name)).ok();
}

bool VersionedFiles::IsDirectory(std::string_view name) const {
  return file_system_->ListDirectory(files_.PathOf(name)).ok();
}

}  // namespace bigtable
