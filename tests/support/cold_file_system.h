// A file system on top of another one whose SSTables are never in memory: each block of a row that
// an engine reads in place is looked for and not found, and so read past the memory of the system,
// or by position, or into the mapping (blocks/block_residency.h), or with others at the same time
// (late_reads.h). Files that are read by position anyway are not affected.
#ifndef BIGTABLE_TESTS_SUPPORT_COLD_FILE_SYSTEM_H_
#define BIGTABLE_TESTS_SUPPORT_COLD_FILE_SYSTEM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/file_system_wrapper.h"

#include "blocks/page_residency.h"
#include "support/late_reads.h"

namespace bigtable {

// Thread-safe. Outlives its files.
class ColdFileSystem final : public FileSystemWrapper {
 public:
  explicit ColdFileSystem(FileSystem* base, bool is_cold = true,
                          PageResidency* residency = PageResidency::OfProcess())
      : FileSystemWrapper(base), residency_(residency) {
    SetCold(is_cold);
  }
  ~ColdFileSystem() override { SetCold(false); }

  // Also for files that are open. While it is set, the process assumes that memory is not
  // plentiful.
  void SetCold(bool is_cold) {
    if (is_cold_.exchange(is_cold) == is_cold) return;
    constexpr int64_t kMore = int64_t{1} << 40;  // than is ever read
    residency_->CountKnown(is_cold ? kMore : -kMore);
    for (const uint32_t before = residency_->epoch(); is_cold && residency_->epoch() == before;) {
      residency_->CountSampleMissing();
    }
  }

  // Reads that are begun together of one file, that of the next of them, are not done before
  // Release.
  void HoldNextFile() { holds_next_ = true; }
  void Release() {
    holds_next_ = false;
    is_held_ = false;
  }
  bool is_holding() const { return is_held_; }

  uint64_t uncached_reads() const { return uncached_reads_; }
  uint64_t positional_reads() const { return positional_reads_; }
  uint64_t overlapped_reads() const { return overlapped_reads_; }
  uint64_t queries() const { return queries_; }  // while it was cold

  // Sometimes there is none.
  std::unique_ptr<ReadQueue> NewReadQueue() override {
    const uint64_t number = ++queues_;
    return number % 8 == 0 ? nullptr : std::make_unique<LateReads>(number);
  }

  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(std::string_view path,
                                                                        ReadMode mode) override {
    auto file = FileSystemWrapper::NewRandomAccessFile(path, mode);
    if (!file.ok() || !path.ends_with(".sst")) return file;
    return std::make_unique<File>(this, *std::move(file));
  }

 private:
  class File final : public RandomAccessFile {
   public:
    File(ColdFileSystem* owner, std::unique_ptr<RandomAccessFile> file)
        : owner_(owner), file_(std::move(file)) {}

    absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
      ++owner_->positional_reads_;
      return file_->Read(offset, n, buffer);
    }
    uint64_t size() const override { return file_->size(); }
    uint64_t identity() const override { return file_->identity(); }
    const char* mapping() const override { return file_->mapping(); }
    absl::Status Populate(uint64_t offset, size_t n) const override {
      return file_->Populate(offset, n);
    }
    void WillNeed(uint64_t offset, size_t n) const override { file_->WillNeed(offset, n); }
    bool ReadsByPosition() const override { return owner_->is_cold_ || file_->ReadsByPosition(); }
    absl::Status ReadUncached(uint64_t offset, size_t n, char* buffer) const override {
      ++owner_->uncached_reads_;
      return file_->Read(offset, n, buffer);
    }
    bool ReadsUncached() const override { return owner_->is_cold_ || file_->ReadsUncached(); }
    bool BeginRead(ReadQueue* queue, ReadQueue::Read* read) const override {
      auto* const late = dynamic_cast<LateReads*>(queue);
      if (owner_->holds_next_.exchange(false)) {
        owner_->held_ = this;
        owner_->is_held_ = true;
      }
      const bool is_held = owner_->is_held_ && owner_->held_ == this;
      if (late == nullptr || !late->Begin(*file_, read, is_held ? &owner_->is_held_ : nullptr)) {
        return false;
      }
      ++owner_->overlapped_reads_;
      return true;
    }
    bool IsResident(uint64_t offset, size_t n) const override {
      if (!owner_->is_cold_) return file_->IsResident(offset, n);
      owner_->NoteQuery();
      return false;
    }

   private:
    ColdFileSystem* const owner_;
    const std::unique_ptr<RandomAccessFile> file_;
  };

  // What was read into the mapping is soon dropped, and what was read past it soon forgotten. So
  // blocks are read in each way again and again.
  void NoteQuery() {
    constexpr int kQueriesOfRound = 8;
    constexpr int kReadsOfRound = 4096;
    ++queries_;
    residency_->CountSampleMissing();
    for (int i = 0; i < kReadsOfRound / kQueriesOfRound; ++i) residency_->CountPast(1);
  }

  PageResidency* const residency_;
  std::atomic<bool> holds_next_ = false;
  std::atomic<bool> is_held_ = false;
  std::atomic<const RandomAccessFile*> held_ = nullptr;
  std::atomic<bool> is_cold_ = false;
  std::atomic<uint64_t> uncached_reads_ = 0;
  std::atomic<uint64_t> positional_reads_ = 0;
  std::atomic<uint64_t> overlapped_reads_ = 0;
  std::atomic<uint64_t> queries_ = 0;
  std::atomic<uint64_t> queues_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_COLD_FILE_SYSTEM_H_
