#include "cluster/metadata_copies.h"

#include <memory>

#include "base/status.h"
#include "base/strings.h"
#include "sstable/sstable_verification.h"

namespace bigtable {
namespace {

// Whether another copy helps.
bool IsOfTheFile(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status) || absl::IsUnavailable(status);
}

}  // namespace

absl::Status MetadataCopies::Write(const std::string& from, const std::string& to) const {
  BT_ASSIGN_OR_RETURN(const std::string bytes, file_system_->ReadFile(from));
  const std::string parent = to.substr(0, to.rfind('/'));
  if (!file_system_->FileExists(parent)) {
    BT_RETURN_IF_ERROR(file_system_->CreateDirectory(parent));
    BT_RETURN_IF_ERROR(file_system_->SyncDirectory(directory_.path()));
  }
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, file_system_->NewWritableFile(to));
  BT_RETURN_IF_ERROR(file->Append(bytes));
  BT_RETURN_IF_ERROR(file->Sync());
  BT_RETURN_IF_ERROR(file->Close());
  return file_system_->SyncDirectory(parent);
}

absl::Status MetadataCopies::Keep(uint64_t number) const {
  return Write(directory_.sstable(number), directory_.copy_of_sstable(number));
}

absl::Status MetadataCopies::Remove(uint64_t number) const {
  const absl::Status removed = file_system_->RemoveFile(directory_.copy_of_sstable(number));
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

absl::StatusOr<std::vector<uint64_t>> MetadataCopies::List() const {
  const absl::StatusOr<std::vector<std::string>> names =
      file_system_->ListDirectory(directory_.copies());
  std::vector<uint64_t> numbers;
  if (absl::IsNotFound(names.status())) return numbers;
  BT_RETURN_IF_ERROR(names.status());
  for (const std::string& name : *names) {
    if (const auto number = DatabaseDirectory::SSTableNumber(name)) numbers.push_back(*number);
  }
  return numbers;
}

void MetadataCopies::Check(const TabletState& state, bool read_only, InfoLog* info_log) {
  for (const auto& [_, group] : state.groups) {
    for (const TabletFile& file : group.files) CheckFile(file.info, read_only, info_log);
  }
}

void MetadataCopies::CheckFile(const SSTableInfo& info, bool read_only, InfoLog* info_log) {
  const std::string file = directory_.sstable(info.file_number);
  const std::string copy = directory_.copy_of_sstable(info.file_number);
  const absl::Status of_file = VerifySSTable(file_system_, file, info);
  const absl::Status of_copy = VerifySSTable(file_system_, copy, info);
  if (of_file.ok() == of_copy.ok()) return;
  const absl::Status& damage = of_file.ok() ? of_copy : of_file;
  if (!IsOfTheFile(damage)) return;
  const std::string& damaged = of_file.ok() ? copy : file;
  const std::string& sound = of_file.ok() ? file : copy;
  if (read_only) {
    if (of_file.ok()) return;
    info_log->Warning("a file of METADATA cannot be read, and its copy ", copy,
                      " is read instead: ", ToStd(damage.message()));
    MutexLock lock(&mutex_);
    read_copy_.insert(info.file_number);
    return;
  }
  // Not in place: the file may have another name.
  absl::Status status = file_system_->RemoveFile(damaged);
  if (status.ok() || absl::IsNotFound(status)) status = Write(sound, damaged);
  if (!status.ok()) {
    info_log->Error(damaged, " of METADATA is damaged (", ToStd(damage.message()),
                    ") and was not written again from ", sound, ": ", ToStd(status.message()));
  } else {
    info_log->Warning("a file of METADATA was damaged or missing, and was written again from ",
                      sound, ": ", ToStd(damage.message()));
  }
}

std::string MetadataCopies::PathOf(uint64_t number) const {
  MutexLock lock(&mutex_);
  return read_copy_.contains(number) ? directory_.copy_of_sstable(number)
                                     : directory_.sstable(number);
}

}  // namespace bigtable
