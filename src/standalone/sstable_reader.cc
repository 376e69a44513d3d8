#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/sstable.h"

#include "base/checksum.h"
#include "base/entry_key.h"
#include "base/ref_counted.h"
#include "base/status.h"
#include "base/strings.h"
#include "blocks/read_settings.h"
#include "sstable/row_index.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_verification.h"
#include "standalone/sstable_entry.h"

namespace bigtable {
namespace {

absl::Status Damaged(const SSTable& table, std::string_view what) {
  return absl::DataLossError(Cat(table.path(), ": damaged SSTable: ", what));
}

}  // namespace

class SSTableReader::Impl {
 public:
  Impl(FileSystem* file_system, std::shared_ptr<MemoryBudget> budget, Ref<SSTable> table)
      : file_system_(file_system),
        budget_(std::move(budget)),
        table_(std::move(table)),
        info_(MakeFileInfo(table_->info(), table_->properties())) {}

  const SSTable& table() const { return *table_; }
  const SSTableFileInfo& info() const { return info_; }

  // Whether the key range has keys that begin with the row's prefix.
  bool IsInRange(std::string_view row_prefix) const {
    const std::string& first = table_->info().smallest_key;
    return row_prefix <= table_->info().largest_key &&
           (row_prefix >= first || first.starts_with(row_prefix));
  }

  absl::Status Verify() const {
    return VerifySSTable(file_system_, table_->path(), table_->info());
  }

 private:
  FileSystem* const file_system_;
  const std::shared_ptr<MemoryBudget> budget_;
  const Ref<SSTable> table_;
  const SSTableFileInfo info_;
};

absl::StatusOr<std::unique_ptr<SSTableReader>> SSTableReader::Open(
    std::string_view path, const SSTableReaderOptions& options) {
  FileSystem* const file_system =
      options.file_system != nullptr ? options.file_system : FileSystem::Posix();
  std::shared_ptr<MemoryBudget> budget = options.memory_budget;
  if (budget == nullptr) {
    budget = std::make_shared<MemoryBudget>(SSTableReaderOptions::kDefaultBudget);
  }
  BT_ASSIGN_OR_RETURN(Ref<SSTable> table,
                      SSTable::OpenUnknown(file_system, std::string(path),
                                           {.read_mode = options.read_mode, .budget = budget}));
  // A program that made this file otherwise than with a builder could have written anything.
  const SSTableInfo& info = table->info();
  if (info.entries > 0 && !(IsWellFormed(info.smallest_key) && IsWellFormed(info.largest_key))) {
    return Damaged(*table, "its key range is malformed");
  }
  return std::unique_ptr<SSTableReader>(
      new SSTableReader(std::make_unique<Impl>(file_system, std::move(budget), std::move(table))));
}

SSTableReader::SSTableReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SSTableReader::~SSTableReader() = default;

const SSTableFileInfo& SSTableReader::info() const { return impl_->info(); }

bool SSTableReader::MayContainRow(std::string_view row) const {
  const std::string prefix = RowPrefix(row);
  return impl_->IsInRange(prefix) && impl_->table().MayContainRow(Checksum(prefix));
}

bool SSTableReader::MayContainColumn(std::string_view row, std::string_view family,
                                     std::string_view qualifier) const {
  std::string prefix = RowPrefix(row);
  if (!impl_->IsInRange(prefix)) return false;
  const uint64_t row_hash = Checksum(prefix);
  AppendColumn(&prefix, family, qualifier);
  return impl_->table().MayContainColumn(row_hash, Checksum(prefix));
}

absl::Status SSTableReader::Verify() const { return impl_->Verify(); }

class SSTableReader::Cursor::Impl {
 public:
  explicit Impl(const SSTableReader::Impl& reader) : reader_(reader), cursor_(&reader.table()) {}

  // Moves the cursor, without a limit, and shows where it is.
  template <typename Move>
  void Seek(Move move) {
    limit_.clear();
    cursor_.EndRowLimit();
    move(cursor_);
    Show();
  }
  void SeekToRow(std::string_view row) {
    limit_.clear();
    AppendRowPrefix(&limit_, row);
    valid_ = false;
    status_ = absl::OkStatus();
    if (!reader_.IsInRange(limit_)) return;
    RowIndex::Location location;
    switch (reader_.table().LookUpRow(Checksum(limit_), &location)) {
      case RowIndex::Answer::kAbsent:
        return;
      case RowIndex::Answer::kFound:
        cursor_.PlanRow(location);
        break;
      case RowIndex::Answer::kUnknown:
        break;
    }
    cursor_.SeekRow(limit_);
    Show();
  }
  void Next() {
    cursor_.Next();
    Show();
  }
  void Prev() {
    key_ = cursor_.key();
    cursor_.SeekBefore(key_);
    Show();
  }

  bool valid() const { return valid_; }
  const absl::Status& status() const { return status_; }
  const SSTableEntry& entry() const { return entry_; }

 private:
  void Show() {
    valid_ = false;
    status_ = cursor_.status();
    if (!cursor_.valid() || !cursor_.key().starts_with(limit_)) return;
    if (!IsWellFormed(cursor_.key())) {
      status_ = Damaged(reader_.table(), Cat("malformed key ", Quoted(cursor_.key())));
      return;
    }
    valid_ = true;
    DecodeEntryKey(cursor_.key(), &row_, &qualifier_, &entry_);
    entry_.value = cursor_.value();
  }

  const SSTableReader::Impl& reader_;
  SSTableCursor cursor_;
  std::string limit_;  // the prefix of all keys to show
  bool valid_ = false;
  absl::Status status_;
  SSTableEntry entry_;
  std::string row_;        // of entry_, if it had to be unescaped
  std::string qualifier_;  // the same
  std::string key_;
};

SSTableReader::Cursor::Cursor(const SSTableReader* reader)
    : impl_(std::make_unique<Impl>(*reader->impl_)) {}

SSTableReader::Cursor::~Cursor() = default;

void SSTableReader::Cursor::SeekToFirst() {
  impl_->Seek([](SSTableCursor& cursor) { cursor.SeekToFirst(); });
}

void SSTableReader::Cursor::SeekToLast() {
  impl_->Seek([](SSTableCursor& cursor) { cursor.SeekToLast(); });
}

void SSTableReader::Cursor::Seek(std::string_view row) {
  impl_->Seek([&](SSTableCursor& cursor) { cursor.Seek(RowPrefix(row)); });
}

void SSTableReader::Cursor::Seek(std::string_view row, std::string_view family,
                                 std::string_view qualifier) {
  std::string target = RowPrefix(row);
  AppendColumn(&target, family, qualifier);
  impl_->Seek([&](SSTableCursor& cursor) { cursor.Seek(target); });
}

void SSTableReader::Cursor::SeekBefore(std::string_view row) {
  impl_->Seek([&](SSTableCursor& cursor) { cursor.SeekBefore(RowPrefix(row)); });
}

void SSTableReader::Cursor::SeekToRow(std::string_view row) { impl_->SeekToRow(row); }

void SSTableReader::Cursor::Next() { impl_->Next(); }

void SSTableReader::Cursor::Prev() { impl_->Prev(); }

bool SSTableReader::Cursor::valid() const { return impl_->valid(); }

const absl::Status& SSTableReader::Cursor::status() const { return impl_->status(); }

const SSTableEntry& SSTableReader::Cursor::entry() const { return impl_->entry(); }

}  // namespace bigtable
