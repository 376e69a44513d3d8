#include "sstable/sstable_builder.h"

#include <optional>
#include <utility>

#include "absl/base/macros.h"
#include "absl/random/random.h"

#include "base/checksum.h"
#include "base/entry_key.h"
#include "base/status.h"
#include "base/strings.h"
#include "blocks/block_builder.h"
#include "blocks/block_writer.h"
#include "cache/budget_charge.h"
#include "sstable/bloom_filter.h"
#include "sstable/filter_pages.h"
#include "sstable/footer.h"
#include "sstable/properties.h"
#include "sstable/row_index.h"

namespace bigtable {
namespace {

uint64_t RandomIdentity() {
  absl::BitGen random;
  return absl::Uniform<uint64_t>(random);
}

}  // namespace

class SSTableBuilder::Impl {
 public:
  Impl(std::unique_ptr<WritableFile> file, std::string path, uint64_t file_number,
       const LocalityGroup& group, uint64_t identity)
      : path_(std::move(path)),
        file_number_(file_number),
        group_(group),
        identity_(identity),
        blocks_(std::move(file), group, identity),
        filter_(group.filter_bits) {}

  void ChargeTo(MemoryBudget* budget) {
    charge_.emplace(budget, MemoryBudget::Use::kWriters);
    Charge(memory());
  }

  void SetOldestDeletion(int64_t micros) { oldest_deletion_ = micros; }
  void SetFull() { is_full_ = true; }
  void SetOwner(SSTableOwner owner) { owner_ = std::move(owner); }

  absl::Status Add(std::string_view key, std::string_view value) {
    if (status_.ok()) status_ = AddEntry(key, value);
    return status_;
  }

  std::string_view last_key() const { return block_.last_key(); }

  size_t index_memory() const { return index_memory_; }

  uint64_t EstimatedSize() const {
    // Properties are small except for two keys. The quarter of the held bytes includes the
    // dictionary.
    constexpr uint64_t kRest = 512 + Footer::kSize;
    return blocks_.offset() + blocks_.held_bytes() / 4 + (block_.empty() ? 0 : block_.size()) +
           blocks_.index().size() + filter_.size() + row_index_.size() +
           blocks_.dictionary_size() / 4 + 2 * block_.last_key().size() + kRest;
  }

  absl::StatusOr<SSTableProperties> Finish() {
    BT_RETURN_IF_ERROR(status_);
    absl::StatusOr<SSTableProperties> properties = WriteRest();
    status_ = properties.ok() ? absl::FailedPreconditionError(Cat(path_, " is already finished"))
                              : properties.status();
    return properties;
  }

 private:
  absl::Status AddEntry(std::string_view key, std::string_view value) {
    if (!IsWellFormed(key)) {
      return absl::InternalError(Cat(path_, ": not a well-formed entry key: ", Quoted(key)));
    }
    // A value that fills a block gets a block of its own.
    const bool is_large = key.size() + value.size() >= group_.block_size;
    if (!block_.empty() && (is_large || !block_.Fits(key, value))) {
      BT_RETURN_IF_ERROR(FinishBlock());
    }
    if (!block_.Fits(key, value)) {
      return absl::InternalError(Cat(path_, ": a value of ", value.size(), " bytes for ",
                                     DebugString(key), " does not fit into a block of 4 GiB"));
    }
    const size_t last_size = block_.last_key().size();
    const bool begins_block = block_.empty();
    size_t shared;
    if (!block_.Add(key, value, &shared)) {
      return absl::InternalError(
          Cat(path_, ": ", DebugString(key), " was added after ", DebugString(block_.last_key())));
    }
    const bool same_row = last_size > 0 && shared >= row_prefix_size_;
    if (begins_block && finished_blocks_ > 0) {
      BT_RETURN_IF_ERROR(blocks_.BeginNextBlock(key, same_row));
    }
    AddToFilter(key, same_row, same_row && shared >= last_size - kTrailerSize);
    properties_.Add(key, value.size(), row_prefix_size_);
    return block_.size() >= group_.block_size ? FinishBlock() : absl::OkStatus();
  }

  absl::Status FinishBlock() {
    ++finished_blocks_;
    if (const size_t growth = blocks_.growth(block_.last_key().size()); growth > 0) {
      Charge(memory() + growth);
    }
    BT_RETURN_IF_ERROR(blocks_.AddDataBlock(&block_));
    index_memory_ = blocks_.index().memory() + filter_.memory() + row_index_.memory();
    Charge(memory());
    return absl::OkStatus();
  }

  size_t memory() const {
    return sizeof *this + blocks_.memory() + block_.memory() + filter_.memory() +
           row_index_.memory();
  }
  absl::StatusOr<BlockHandle> AddPages(std::string_view lines) {
    BlockHandle all{blocks_.offset(), 0};
    for (size_t at = 0; at < lines.size(); at += FilterPages::kPageSize) {
      BT_ASSIGN_OR_RETURN(const BlockHandle page,
                          blocks_.AddSection(lines.substr(at, FilterPages::kPageSize)));
      all.size = page.offset + page.size - all.offset;
    }
    return all;
  }

  // Sets the charged memory.
  void Charge(size_t bytes) {
    if (charge_.has_value()) charge_->Set(bytes);
  }

  // `same_row`, `same_column`: the key has the same row, or column, as the key before it.
  void AddToFilter(std::string_view key, bool same_row, bool same_column) {
    if (!same_row) {
      row_prefix_size_ = RowPrefixSize(key);
      if (group_.filter != FilterKind::kNone) {
        const uint64_t hash = Checksum(key.substr(0, row_prefix_size_));
        if (group_.filter == FilterKind::kRowIndex) {
          row_index_.Add(hash, finished_blocks_);
        } else {
          filter_.Add(hash);
        }
      }
    }
    if (group_.filter != FilterKind::kRowAndColumn) return;
    if (!same_column) filter_.Add(Checksum(ColumnPrefix(key)));
  }

  absl::StatusOr<SSTableProperties> WriteRest() {
    if (!block_.empty()) BT_RETURN_IF_ERROR(FinishBlock());
    BT_RETURN_IF_ERROR(blocks_.FinishData());
    ABSL_ASSERT(blocks_.blocks() == finished_blocks_ && "rows are indexed by the blocks written");
    SSTableProperties properties = properties_.Finish(block_.last_key());
    properties.info.file_number = file_number_;
    properties.info.identity = identity_;
    if (properties.info.deletions() > 0) properties.info.oldest_deletion = oldest_deletion_;
    properties.info.is_full = is_full_;
    properties.compression = group_.compression;
    properties.data_size = blocks_.offset();
    properties.blocks = blocks_.blocks();
    properties.largest_block = blocks_.largest_block();
    properties.index_size = blocks_.index().size();
    properties.dictionary_size = blocks_.dictionary_size();

    Footer footer;
    footer.identity = identity_;
    Charge(memory() + 2 * properties.index_size);  // a copy, and its compressed form
    BT_ASSIGN_OR_RETURN(footer.index, blocks_.AddIndex());
    properties.index_parts = blocks_.index().parts();
    properties.largest_index_part = blocks_.index().largest_part();
    Charge(memory());
    std::string lines;
    if (!filter_.empty()) {
      properties.filter_probes = static_cast<uint64_t>(filter_.probes());
      filter_.AppendTo(&lines);
    } else if (row_index_.CanBuild()) {
      properties.filter_probes = static_cast<uint64_t>(row_index_.block_bits());
      row_index_.AppendTo(&lines);
    }
    if (!lines.empty()) {
      properties.filter = group_.filter;
      Charge(memory() + 2 * lines.capacity());  // the file's buffer has a copy
      BT_ASSIGN_OR_RETURN(footer.filter, AddPages(lines));
    }
    BT_ASSIGN_OR_RETURN(footer.dictionary, blocks_.AddDictionary());
    properties.owner = owner_;
    std::string bytes;
    properties.EncodeTo(&bytes);
    BT_ASSIGN_OR_RETURN(footer.properties, blocks_.AddSection(bytes));
    properties.info.size = blocks_.offset() + Footer::kSize;
    properties.info.families = properties.FamilyBytes();
    bytes.clear();
    footer.EncodeTo(&bytes);
    BT_RETURN_IF_ERROR(blocks_.Finish(bytes));
    return properties;
  }

  std::optional<BudgetCharge> charge_;  // destroyed after the memory that it charges
  const std::string path_;
  const uint64_t file_number_;
  const LocalityGroup group_;
  const uint64_t identity_;
  int64_t oldest_deletion_ = 0;
  bool is_full_ = false;
  size_t index_memory_ = 0;
  std::optional<SSTableOwner> owner_;
  BlockWriter blocks_;
  BlockBuilder block_;
  uint64_t finished_blocks_ = 0;
  BloomFilterBuilder filter_;
  RowIndexBuilder row_index_;
  PropertiesCollector properties_;
  size_t row_prefix_size_ = 0;  // of the last key
  absl::Status status_;
};

SSTableBuilder::SSTableBuilder(std::unique_ptr<WritableFile> file, std::string path,
                               uint64_t file_number, const LocalityGroup& group)
    : SSTableBuilder(std::move(file), std::move(path), file_number, group, RandomIdentity()) {}

SSTableBuilder::SSTableBuilder(std::unique_ptr<WritableFile> file, std::string path,
                               uint64_t file_number, const LocalityGroup& group, uint64_t identity)
    : impl_(
          std::make_unique<Impl>(std::move(file), std::move(path), file_number, group, identity)) {}

SSTableBuilder::~SSTableBuilder() = default;

void SSTableBuilder::ChargeTo(MemoryBudget* budget) { impl_->ChargeTo(budget); }

void SSTableBuilder::SetOldestDeletion(int64_t micros) { impl_->SetOldestDeletion(micros); }

void SSTableBuilder::SetFull() { impl_->SetFull(); }

void SSTableBuilder::SetOwner(SSTableOwner owner) { impl_->SetOwner(std::move(owner)); }

absl::Status SSTableBuilder::Add(std::string_view key, std::string_view value) {
  return impl_->Add(key, value);
}

std::string_view SSTableBuilder::last_key() const { return impl_->last_key(); }

size_t SSTableBuilder::index_memory() const { return impl_->index_memory(); }

uint64_t SSTableBuilder::EstimatedSize() const { return impl_->EstimatedSize(); }

absl::StatusOr<SSTableInfo> SSTableBuilder::Finish(SSTableProperties* properties) {
  BT_ASSIGN_OR_RETURN(SSTableProperties finished, impl_->Finish());
  if (properties == nullptr) return std::move(finished.info);
  *properties = std::move(finished);
  return properties->info;
}

}  // namespace bigtable
