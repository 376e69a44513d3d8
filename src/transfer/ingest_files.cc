#include "transfer/ingest_files.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/status.h"
#include "base/strings.h"
#include "compaction/job.h"
#include "sstable/sstable.h"
#include "transfer/image_copy.h"
#include "transfer/ingest_check.h"
#include "transfer/ingest_rewrite.h"

namespace bigtable {
namespace {

// Whether files that were checked for one of these schemas are right for the other.
bool TakesTheSame(const TableLayout& a, const TableLayout& b) {
  return std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                    [](const GroupLayout& x, const GroupLayout& y) { return x.id == y.id; }) &&
         std::equal(a.families.begin(), a.families.end(), b.families.begin(), b.families.end(),
                    [](const FamilyLayout& x, const FamilyLayout& y) {
                      return x.name == y.name && x.group_id == y.group_id &&
                             x.aggregate == y.aggregate;
                    });
}

// One call.
class FileIngestion {
 public:
  FileIngestion(const IngestParts& parts, absl::Span<const std::string> paths,
                const IngestOptions& options, const CallLimits& limits)
      : parts_(parts),
        paths_(paths),
        options_(options),
        limits_(limits),
        work_(&parts.storage->file_numbers) {}
  ~FileIngestion() {
    if (is_kept_) return;
    for (const IngestedFile& file : files_) Remove(file.info.file_number);
  }
  FileIngestion(const FileIngestion&) = delete;
  FileIngestion& operator=(const FileIngestion&) = delete;

  absl::StatusOr<IngestSummary> Run() {
    // The schema may change between the check and the moment at which the files are added.
    constexpr int kMostTries = 1000;
    BT_ASSIGN_OR_RETURN(layout_, parts_.layout());
    BT_RETURN_IF_ERROR(CheckTakesFiles(layout_));
    BT_RETURN_IF_ERROR(parts_.quotas->CheckStorage(layout_));
    for (const std::string& path : paths_) BT_RETURN_IF_ERROR(Take(path));
    absl::Status added;
    for (int tries = 0; tries < kMostTries && !files_.empty(); ++tries) {
      BT_RETURN_IF_ERROR(SyncDirectoryOf(file_system(), PathOf(files_.front().info.file_number)));
      added = parts_.add(
          {.layout = &layout_, .files = files_, .oldest_wins = loses(), .limits = limits_},
          &is_kept_);
      if (is_kept_ || !absl::IsAborted(added)) break;
      absl::SleepFor(std::min(absl::Milliseconds(10), limits_.MostSleep()));
      BT_ASSIGN_OR_RETURN(TableLayout now, parts_.layout());
      const bool is_other = !TakesTheSame(layout_, now);
      layout_ = std::move(now);
      if (is_other) BT_RETURN_IF_ERROR(CheckAgain());
    }
    if (absl::IsAborted(added)) {
      return absl::UnavailableError(
          Cat("the schema of table ", layout_.name, " has changed all the time"));
    }
    BT_RETURN_IF_ERROR(added);
    parts_.quotas->MarkChanged();
    for (const IngestedFile& file : files_) {
      ++summary_.files;
      summary_.entries += file.info.entries;
      summary_.bytes += file.info.size;
    }
    if (options_.moves_files) RemoveMoved();
    parts_.info_log->Info("ingested ", paths_.size(), " files into table ", layout_.name, ": ",
                          summary_.entries, " entries, ", summary_.bytes, " bytes, ",
                          summary_.linked, " linked, ", summary_.copied, " copied, ",
                          summary_.rewritten, " rewritten");
    return summary_;
  }

 private:
  FileSystem* file_system() const { return parts_.storage->file_system; }
  FileSystem* from_files() const {
    return options_.file_system != nullptr ? options_.file_system : file_system();
  }
  bool loses() const { return options_.wins == IngestOptions::Wins::kOldest; }
  std::string PathOf(uint64_t number) const { return parts_.storage->directory.sstable(number); }
  void Remove(uint64_t number) const { file_system()->RemoveFile(PathOf(number)).IgnoreError(); }

  absl::StatusOr<Ref<SSTable>> Open(uint64_t number) const {
    return SSTable::OpenUnknown(
        file_system(), PathOf(number),
        {.read_mode = FileSystem::ReadMode::kPositional, .budget = parts_.budget});
  }

  absl::Status Take(const std::string& path) {
    BT_RETURN_IF_ERROR(limits_.Check("the ingestion"));
    const uint64_t number = parts_.storage->file_numbers.Take();
    files_.push_back({.info = {.file_number = number}});  // so that it is removed after an error
    absl::Status placed = absl::UnimplementedError("it is to be copied");
    if (options_.moves_files && from_files() == file_system()) {
      placed = file_system()->LinkFile(path, PathOf(number));
      if (placed.ok()) {
        ++summary_.linked;
        placed = file_system()->SyncFile(PathOf(number));
      }
    }
    if (absl::IsUnimplemented(placed)) {
      ++summary_.copied;
      placed = CopyFile(from_files(), path, file_system(), PathOf(number), limits_).status();
    }
    BT_RETURN_IF_ERROR(placed);
    const absl::Status taken = Accept(number);
    return taken.ok() ? taken : Annotate(taken, path);
  }

  // The last of files_, which is in the directory.
  absl::Status Accept(uint64_t number) {
    BT_ASSIGN_OR_RETURN(const Ref<SSTable> file, Open(number));
    BT_ASSIGN_OR_RETURN(const std::set<uint32_t> groups,
                        CheckFileToIngest(*file, layout_, options_.verifies, limits_));
    if (groups.empty()) {  // it has no entries
      files_.pop_back();
      Remove(number);
      return absl::OkStatus();
    }
    const SSTableInfo& info = file->info();
    if (groups.size() == 1 && !(loses() && info.min_sequence != info.max_sequence)) {
      files_.back() = {.group_id = *groups.begin(), .info = info};
      files_.back().info.file_number = number;
      files_.back().info.ingested = {.file_number = info.file_number};
      return absl::OkStatus();
    }
    ++summary_.rewritten;
    const IngestRewrite rewrite{
        .file_system = file_system(),
        .budget = parts_.budget.get(),
        .layout = &layout_,
        .new_file_number = [this] { return parts_.storage->file_numbers.Take(); },
        .path_of = [this](uint64_t n) { return PathOf(n); },
        .target_file_size = parts_.live->target_file_size,
        .flattens = loses()};
    std::vector<IngestedFile> written;
    const absl::Status status = RewriteToIngest(*file, rewrite, limits_, &written);
    if (status.ok()) {
      files_.pop_back();
      Remove(number);
    }
    for (IngestedFile& one : written) files_.push_back(std::move(one));
    return status;
  }

  // With another schema of the table.
  absl::Status CheckAgain() const {
    for (const IngestedFile& one : files_) {
      BT_ASSIGN_OR_RETURN(const Ref<SSTable> file, Open(one.info.file_number));
      BT_ASSIGN_OR_RETURN(const std::set<uint32_t> groups,
                          CheckFileToIngest(*file, layout_, /*reads_all=*/true, limits_));
      if (groups == std::set<uint32_t>{one.group_id}) continue;
      return absl::AbortedError(
          Cat("the locality groups of table ", layout_.name, " have changed meanwhile"));
    }
    return absl::OkStatus();
  }

  void RemoveMoved() const {
    for (const std::string& path : paths_) {
      const absl::Status removed = from_files()->RemoveFile(path);
      if (removed.ok() || absl::IsNotFound(removed)) continue;
      parts_.info_log->Warning("a file that was ingested could not be removed: ",
                               ToStd(removed.message()));
    }
  }

  const IngestParts& parts_;
  const absl::Span<const std::string> paths_;
  const IngestOptions& options_;
  const CallLimits& limits_;
  const FileNumbers::Work work_;
  TableLayout layout_;
  std::vector<IngestedFile> files_;  // in the directory
  bool is_kept_ = false;             // METADATA may name them
  IngestSummary summary_;
};

}  // namespace

absl::StatusOr<IngestSummary> IngestFiles(const IngestParts& parts,
                                          absl::Span<const std::string> paths,
                                          const IngestOptions& options, const CallLimits& limits) {
  return FileIngestion(parts, paths, options, limits).Run();
}

}  // namespace bigtable
