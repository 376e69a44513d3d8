#include "transfer/image_copy.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

#include "background/tablet_compaction.h"
#include "base/checksum.h"
#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "base/status.h"
#include "changes/change_file.h"
#include "compaction/clipped_cursor.h"
#include "compaction/cursor_pool.h"
#include "compaction/merging_cursor.h"
#include "memtable/memtable_cursor.h"
#include "tablet/file_leases.h"

namespace bigtable {
namespace {

// The entries of another cursor up to a sequence number, in forward order.
class UpToSequence final : public EntryCursor {
 public:
  UpToSequence(EntryCursor* input, SequenceNumber last) : input_(input), last_(last) {}

  void Seek(std::string_view target) override {
    input_->Seek(target);
    Show();
  }
  void SeekToFirst() override {
    input_->SeekToFirst();
    Show();
  }
  void Next() override {
    input_->Next();
    Show();
  }
  void SeekBefore(std::string_view /*target*/) override { FailReversed(); }
  void SeekToLast() override { FailReversed(); }

 private:
  void Show() {
    while (input_->valid() && VersionOf(input_->key()).sequence > last_) input_->Next();
    valid_ = input_->valid();
    status_ = input_->status();
    if (!valid_) return;
    key_ = input_->key();
    value_ = input_->value();
    value_owner_ = input_->value_owner();
  }
  void FailReversed() {
    valid_ = false;
    status_ = absl::UnimplementedError("a compaction reads forwards");
  }

  EntryCursor* const input_;
  const SequenceNumber last_;
};

// Calls `use` with each mebibyte of a file, and returns the checksum.
absl::StatusOr<uint64_t> ReadPieces(FileSystem* files, const std::string& path,
                                    const CallLimits& limits,
                                    absl::FunctionRef<absl::Status(std::string_view)> use) {
  constexpr size_t kPiece = 1 << 20;
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                      files->NewRandomAccessFile(path, FileSystem::ReadMode::kPositional));
  uint64_t checksum = 0;
  std::string piece;
  for (uint64_t at = 0; at < file->size(); at += piece.size()) {
    BT_RETURN_IF_ERROR(limits.Check("the copy"));
    piece.resize(std::min<uint64_t>(kPiece, file->size() - at));
    BT_RETURN_IF_ERROR(file->Read(at, piece.size(), piece.data()));
    checksum = Checksum(piece, checksum);
    BT_RETURN_IF_ERROR(use(piece));
  }
  return checksum;
}

class ImageCopy {
 public:
  ImageCopy(const CopyParts& parts, ImageTarget* target, const CallLimits& limits)
      : parts_(parts), target_(target), limits_(limits) {}

  absl::StatusOr<CopiedImage> Run() {
    BT_ASSIGN_OR_RETURN(DatabaseImage image, TakeImage(parts_.image, limits_));
    sequence_ = image.sequence;
    now_ = image.now;
    BT_RETURN_IF_ERROR(target_->Begin(image.files));
    ReserveNumbers(image);
    // What was in memory first, since writers wait for that memory; copies of files may take long.
    std::vector<std::pair<uint64_t, TabletState>> tablets;
    for (DatabaseImage::TableImage& table : image.tables) {
      if (!target_->TakesTable(table.layout.name)) continue;
      for (DatabaseImage::TabletImage& tablet : table.tablets) {
        BT_ASSIGN_OR_RETURN(TabletState state, WriteMemory(tablet));
        tablets.emplace_back(table.layout.table_id, std::move(state));
        tablet = {};
      }
    }
    for (const auto& [table_id, state] : tablets) {
      for (const auto& [_, group] : state.groups) BT_RETURN_IF_ERROR(AddFiles(group));
      BT_RETURN_IF_ERROR(target_->AddTablet(table_id, state));
    }
    BT_RETURN_IF_ERROR(limits_.Check("the copy"));
    return CopiedImage{sequence_, now_, std::move(image.files)};
  }

 private:
  void ReserveNumbers(const DatabaseImage& image) {
    for (const DatabaseImage::TableImage& table : image.tables) {
      for (const DatabaseImage::TabletImage& tablet : table.tablets) {
        const auto reserve = [&](const GroupFiles& group) {
          for (const GroupFiles::File& file : group.files()) {
            target_->file_numbers()->AdvanceTo(file.table->info().file_number);
          }
        };
        for (const GroupVersion& group : tablet.version->groups()) reserve(*group.files);
        if (const auto& changes = tablet.version->change_files()) reserve(*changes);
      }
    }
  }
  // The state of a tablet, with new files for what was in memtables.
  absl::StatusOr<TabletState> WriteMemory(const DatabaseImage::TabletImage& tablet) {
    TabletState state;
    state.rows = tablet.tablet->rows();
    state.last_timestamp = tablet.last_timestamp;
    const TableLayout& layout = tablet.version->layout();
    for (size_t i = 0; i < layout.groups.size(); ++i) {
      GroupState& group = state.groups[layout.groups[i].id];
      group = tablet.version->groups()[i].files->State();
      group.redo = {.sequence = sequence_};
      BT_ASSIGN_OR_RETURN(const std::vector<SSTableInfo> written, WriteMemtables(tablet, i));
      for (const SSTableInfo& info : written) {
        BT_RETURN_IF_ERROR(target_->AddNew(info, limits_));
        files_.insert(info.file_number);
        group.files.push_back({sequence_, info});
      }
    }
    BT_RETURN_IF_ERROR(WriteChanges(tablet, &state));
    return state;
  }
  absl::Status WriteChanges(const DatabaseImage::TabletImage& image, TabletState* state) {
    const TabletVersion& version = *image.version;
    if (version.change_files()) state->groups[kChangesGroupId] = version.change_files()->State();
    std::vector<Ref<Memtable>> memtables = version.groups().front().immutable;
    memtables.push_back(version.groups().front().active);
    const TableLayout& layout = version.layout();
    const ChangeFileJob job{
        .file_system = target_->file_system(),
        .new_file_number = [this] { return target_->file_numbers()->Take(); },
        .path_of = [this](uint64_t number) { return target_->PathOfNew(number); },
        .owner = {layout.table_id, layout.name, kChangesGroupId, ""},
        .rows = image.tablet->rows()};
    BT_ASSIGN_OR_RETURN(const std::optional<SSTableInfo> written, job.Write(memtables, sequence_));
    if (!written.has_value()) return absl::OkStatus();
    BT_RETURN_IF_ERROR(target_->AddNew(*written, limits_));
    files_.insert(written->file_number);
    state->groups[kChangesGroupId].files.push_back({sequence_, *written});
    return absl::OkStatus();
  }
  absl::Status AddFiles(const GroupState& group) {
    for (const TabletFile& file : group.files) {
      // Tablets that were one share files.
      if (!files_.insert(file.info.file_number).second) continue;
      BT_RETURN_IF_ERROR(limits_.Check("the copy"));
      BT_RETURN_IF_ERROR(target_->AddFile(file.info, parts_.storage->file_system,
                                          parts_.storage->directory.sstable(file.info.file_number),
                                          limits_));
    }
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<SSTableInfo>> WriteMemtables(const DatabaseImage::TabletImage& image,
                                                          size_t group) {
    const GroupVersion& version = image.version->groups()[group];
    std::vector<Ref<Memtable>> memtables = version.immutable;
    memtables.push_back(version.active);
    std::erase_if(memtables, [](const auto& memtable) { return memtable->first_sequence() == 0; });
    if (memtables.empty()) return std::vector<SSTableInfo>();

    const Tablet& tablet = *image.tablet;
    CompactionJob job =
        MakeCompactionJob(tablet, image.version->layout(), group, /*major=*/false, now_);
    job.file_system = target_->file_system();
    job.new_file_number = [this] { return target_->file_numbers()->Take(); };
    job.path_of = [this](uint64_t number) { return target_->PathOfNew(number); };
    job.abandoned = nullptr;  // its table may be deleted meanwhile
    job.limits = limits_;
    MergingCursor merged;
    CursorPool pool;
    for (const Ref<Memtable>& memtable : memtables) {
      merged.Add(pool.Make<MemtableCursor>(memtable.get()));
    }
    job.oldest_deletion = image.oldest_deletions[group];
    UpToSequence of_image(&merged, sequence_);
    ClippedCursor input(&of_image, tablet.keys().begin(), tablet.keys().end());
    return job.Run(&input);
  }

  const CopyParts& parts_;
  ImageTarget* const target_;
  const CallLimits& limits_;
  SequenceNumber sequence_ = 0;
  absl::Time now_;
  std::set<uint64_t> files_;  // that the target has
};

}  // namespace

absl::StatusOr<CopiedImage> CopyImage(const CopyParts& parts, ImageTarget* target,
                                      const CallLimits& limits) {
  const FileLeases::Lease lease(&parts.storage->leases);
  return ImageCopy(parts, target, limits).Run();
}

absl::StatusOr<uint64_t> CopyFile(FileSystem* from_files, const std::string& from,
                                  FileSystem* to_files, const std::string& to,
                                  const CallLimits& limits) {
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> copy, to_files->NewWritableFile(to));
  BT_ASSIGN_OR_RETURN(const uint64_t checksum,
                      ReadPieces(from_files, from, limits,
                                 [&](std::string_view piece) { return copy->Append(piece); }));
  BT_RETURN_IF_ERROR(copy->Sync());
  BT_RETURN_IF_ERROR(copy->Close());
  return checksum;
}

absl::StatusOr<uint64_t> ChecksumOfFile(FileSystem* files, const std::string& path,
                                        const CallLimits& limits) {
  return ReadPieces(files, path, limits, [](std::string_view) { return absl::OkStatus(); });
}

}  // namespace bigtable
