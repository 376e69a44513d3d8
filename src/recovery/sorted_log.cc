#include "recovery/sorted_log.h"

#include "absl/base/macros.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::StatusOr<std::unique_ptr<SortedLog>> SortedLog::Open(FileSystem* file_system,
                                                           const std::string& directory,
                                                           const SortedLogOptions& options) {
  const std::string path = Cat(directory, "/", kSortedManifestName);
  BT_ASSIGN_OR_RETURN(const std::string bytes, file_system->ReadFile(path));
  BT_ASSIGN_OR_RETURN(SortedManifest manifest, DecodeSortedManifest(bytes, path));
  std::unique_ptr<SortedLog> log(new SortedLog(std::move(manifest)));
  uint64_t number = 0;
  for (const SortedPieceSummary& summary : log->manifest_.pieces) {
    BT_ASSIGN_OR_RETURN(
        auto piece, SortedPiece::Open(file_system, Cat(directory, "/", SortedPieceName(++number)),
                                      summary, options.read_mode));
    if (options.verify) BT_RETURN_IF_ERROR(piece->Verify(&log->bytes_verified_));
    log->pieces_.push_back(std::move(piece));
  }
  return log;
}

uint64_t SortedLog::records() const {
  uint64_t records = 0;
  for (const SortedPieceSummary& piece : manifest_.pieces) records += piece.records;
  return records;
}

absl::Status SortedLog::ReadPiece(size_t i, const SortedRange& range,
                                  SortedRecordCallback callback) const {
  ABSL_ASSERT(i < pieces_.size() && "there is such a piece");
  uint64_t bytes = 0;
  const absl::Status status = pieces_[i]->Read(range, callback, &bytes);
  bytes_read_.fetch_add(bytes, std::memory_order_relaxed);
  return status;
}

absl::Status SortedLog::Read(const SortedRange& range, SortedRecordCallback callback) const {
  for (size_t i = 0; i < pieces_.size(); ++i) {
    BT_RETURN_IF_ERROR(ReadPiece(i, range, callback));
  }
  return absl::OkStatus();
}

absl::Status RemoveSortedLog(FileSystem* file_system, std::string_view directory) {
  auto names = file_system->ListDirectory(directory);
  if (absl::IsNotFound(names.status())) return absl::OkStatus();
  BT_RETURN_IF_ERROR(names.status());
  std::vector<std::string> others;
  bool manifest = false;
  for (std::string& name : *names) {
    if (name == kSortedManifestName) {
      manifest = true;
    } else if (name == kSortedManifestTemporaryName || ParseSortedPieceName(name).has_value()) {
      others.push_back(std::move(name));
    }
  }
  if (!manifest && others.empty()) return absl::OkStatus();
  if (manifest) {
    BT_RETURN_IF_ERROR(file_system->RemoveFile(Cat(directory, "/", kSortedManifestName)));
  }
  // Even if it was removed already: the call that removed it may have been interrupted before the
  // sync.
  BT_RETURN_IF_ERROR(file_system->SyncDirectory(directory));
  for (const std::string& name : others) {
    BT_RETURN_IF_ERROR(file_system->RemoveFile(Cat(directory, "/", name)));
  }
  return absl::OkStatus();
}

}  // namespace bigtable
