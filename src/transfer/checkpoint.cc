#include "transfer/checkpoint.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "background/tablet_compaction.h"
#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "base/status.h"
#include "base/strings.h"
#include "compaction/clipped_cursor.h"
#include "compaction/cursor_pool.h"
#include "compaction/merging_cursor.h"
#include "memtable/memtable_cursor.h"
#include "tablet/file_leases.h"
#include "transfer/new_database.h"

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

absl::Status CopyFile(FileSystem* file_system, const std::string& from, const std::string& to,
                      const CallLimits& limits) {
  constexpr size_t kPiece = 1 << 20;
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> source,
                      file_system->NewRandomAccessFile(from, FileSystem::ReadMode::kPositional));
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> copy, file_system->NewWritableFile(to));
  std::string piece;
  for (uint64_t at = 0; at < source->size(); at += piece.size()) {
    BT_RETURN_IF_ERROR(limits.Check("the checkpoint"));
    piece.resize(std::min<uint64_t>(kPiece, source->size() - at));
    BT_RETURN_IF_ERROR(source->Read(at, piece.size(), piece.data()));
    BT_RETURN_IF_ERROR(copy->Append(piece));
  }
  BT_RETURN_IF_ERROR(copy->Sync());
  return copy->Close();
}

class Checkpoint {
 public:
  Checkpoint(const CheckpointParts& parts, std::string_view directory, const CallLimits& limits)
      : parts_(parts),
        limits_(limits),
        file_system_(parts.storage->file_system),
        copy_({file_system_, parts.image.clock, parts.budget}, directory) {}

  absl::Status Write() {
    BT_RETURN_IF_ERROR(copy_.Begin());
    BT_ASSIGN_OR_RETURN(DatabaseImage image, TakeImage(parts_.image, limits_));
    sequence_ = image.sequence;
    now_ = image.now;
    // The numbers of new files come after those of all others.
    for (const DatabaseImage::TableImage& table : image.tables) {
      for (const DatabaseImage::TabletImage& tablet : table.tablets) {
        for (const GroupVersion& group : tablet.version->groups()) {
          for (const GroupFiles::File& file : group.files->files()) {
            copy_.file_numbers()->AdvanceTo(file.table->info().file_number);
          }
        }
      }
    }
    for (DatabaseImage::TableImage& table : image.tables) {
      for (DatabaseImage::TabletImage& tablet : table.tablets) {
        BT_RETURN_IF_ERROR(AddTablet(table.layout.table_id, tablet));
        tablet = {};  // the memory of its memtables
      }
    }
    BT_RETURN_IF_ERROR(limits_.Check("the checkpoint"));
    return copy_.Finish(image.files, image.sequence);
  }
  size_t linked() const { return linked_; }
  size_t copied() const { return copied_; }

 private:
  absl::Status AddTablet(uint64_t table_id, const DatabaseImage::TabletImage& tablet) {
    TabletState state;
    state.rows = tablet.tablet->rows();
    state.last_timestamp = tablet.last_timestamp;
    const TableLayout& layout = tablet.version->layout();
    for (size_t i = 0; i < layout.groups.size(); ++i) {
      const GroupVersion& group = tablet.version->groups()[i];
      GroupState of_group = group.files->State();
      of_group.redo = {.sequence = sequence_};
      for (const TabletFile& file : of_group.files) {
        BT_RETURN_IF_ERROR(AddFile(file.info.file_number));
      }
      BT_ASSIGN_OR_RETURN(const std::vector<SSTableInfo> written, WriteMemtables(tablet, i));
      for (const SSTableInfo& info : written) of_group.files.push_back({sequence_, info});
      state.groups[layout.groups[i].id] = std::move(of_group);
    }
    copy_.AddTablet(table_id, state);
    return absl::OkStatus();
  }

  // Tablets that were one share files.
  absl::Status AddFile(uint64_t number) {
    if (!files_.insert(number).second) return absl::OkStatus();
    BT_RETURN_IF_ERROR(limits_.Check("the checkpoint"));
    const std::string from = parts_.storage->directory.sstable(number);
    const std::string to = copy_.directory().sstable(number);
    const absl::Status linked = file_system_->LinkFile(from, to);
    if (linked.ok()) ++linked_;
    if (!absl::IsUnimplemented(linked)) return linked;
    ++copied_;
    return CopyFile(file_system_, from, to, limits_);
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
    job.new_file_number = [this] { return copy_.file_numbers()->Take(); };
    job.path_of = [this](uint64_t number) { return copy_.directory().sstable(number); };
    job.abandoned = nullptr;  // its table may be deleted meanwhile
    job.limits = limits_;
    MergingCursor merged;
    CursorPool pool;
    for (const Ref<Memtable>& memtable : memtables) {
      merged.Add(pool.Make<MemtableCursor>(memtable.get()));
      const int64_t time = memtable->oldest_deletion();
      if (time == 0) continue;
      job.oldest_deletion = job.oldest_deletion == 0 ? time : std::min(job.oldest_deletion, time);
    }
    UpToSequence of_image(&merged, sequence_);
    ClippedCursor input(&of_image, tablet.keys().begin(), tablet.keys().end());
    return job.Run(&input);
  }

  const CheckpointParts& parts_;
  const CallLimits& limits_;
  FileSystem* const file_system_;
  NewDatabase copy_;
  SequenceNumber sequence_ = 0;
  absl::Time now_;
  std::set<uint64_t> files_;
  size_t linked_ = 0;
  size_t copied_ = 0;
};

}  // namespace

absl::Status WriteCheckpoint(const CheckpointParts& parts, std::string_view directory,
                             const CallLimits& limits) {
  constexpr int kMostTries = 3;
  for (int tries = 1;; ++tries) {
    const FileLeases::Lease lease(&parts.storage->leases);
    Checkpoint checkpoint(parts, directory, limits);
    const absl::Status written = checkpoint.Write();
    // A sweep may have removed a file that METADATA, but not the tablet, had given up just before
    // the lease began. The next image is without it.
    if (absl::IsNotFound(written) && tries < kMostTries) continue;
    if (written.ok()) {
      parts.info_log->Info("checkpoint in ", directory, ": ", checkpoint.linked(),
                           " SSTables are linked, ", checkpoint.copied(), " copied");
    }
    return written;
  }
}

}  // namespace bigtable
