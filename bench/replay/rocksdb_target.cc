// RocksDB with the settings of the paper's benchmarks (../paper/peer_settings.h). A table whose
// writes name one column has a key for each row; others have one for each column: the row, a zero
// byte, the column. All tables are in one tree, with a byte for the table before the key.
//
// What RocksDB does not have is made as near as its users would: a contribution to a cell is a Put,
// the deletion of a row of columns a DeleteRange, a read that changes a row a Get and a Put.
// Filters and versions are left out: a read of a row reads it whole.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/memory/memory.h"

#include "common/strings.h"
#include "common/workload.h"
#include "paper/peer_settings.h"
#include "paper/rocksdb_quiet.h"
#include "recorded_values.h"
#include "rocksdb/db.h"
#include "rocksdb/metadata.h"
#include "rocksdb/statistics.h"
#include "rocksdb/write_batch.h"
#include "target.h"

namespace bench {
namespace {

using bigtable::RecordedCall;
using bigtable::RecordedMutation;
using bigtable::RecordedOperation;
using Kind = RecordedCall::Kind;
using OperationKind = RecordedOperation::Kind;

absl::Status ToStatus(const rocksdb::Status& s) {
  if (s.ok()) return absl::OkStatus();
  return absl::InternalError(Concat("RocksDB: ", s.ToString()));
}

rocksdb::Options OptionsFor(const TargetOptions& target) {
  OpenOptions open;
  open.purpose = Purpose::kReadsAndWrites;
  open.memory_limit = target.database.memory_budget;
  rocksdb::Options options = RocksDBSettings(open);
  options.error_if_exists = true;
  options.write_buffer_size = target.database.memtable_size;
  options.max_bytes_for_level_base = 4 * options.write_buffer_size;
  const int factor = target.policy.factor;
  if (target.policy.value == bigtable::CompactionStyle::kLeveled) {
    options.compaction_style = rocksdb::kCompactionStyleLevel;
    if (factor != 0) options.max_bytes_for_level_multiplier = factor;
  } else {
    options.compaction_style = rocksdb::kCompactionStyleUniversal;
    if (factor != 0) options.level0_file_num_compaction_trigger = factor;
  }
  if (target.compression.value_or(bigtable::Compression::kNone) != bigtable::Compression::kNone) {
    options.compression = rocksdb::kZSTD;
  }
  options.statistics = rocksdb::CreateDBStatistics();
  options.statistics->set_stats_level(rocksdb::StatsLevel::kExceptTimers);
  return options;
}

class RocksDBTarget final : public Target {
 public:
  static absl::StatusOr<std::unique_ptr<Target>> Open(const Overview& recording,
                                                      const TargetOptions& options) {
    const rocksdb::Options settings = OptionsFor(options);
    rocksdb::DB* db = nullptr;
    absl::Status s = ToStatus(rocksdb::DB::Open(settings, options.directory, &db));
    if (!s.ok()) return s;
    auto target = absl::WrapUnique(new RocksDBTarget(db, settings.statistics, recording));
    target->is_universal_ = settings.compaction_style == rocksdb::kCompactionStyleUniversal;
    return target;
  }

  absl::Status Settle() override;
  absl::StatusOr<TargetFigures> Figures() override;
  absl::Status Close() override { return ToStatus(db_->Close()); }

 private:
  struct KeySpace {
    std::string prefix;
    bool has_one_column = false;
  };

  RocksDBTarget(rocksdb::DB* db, std::shared_ptr<rocksdb::Statistics> statistics,
                const Overview& recording)
      : db_(db), statistics_(std::move(statistics)) {
    for (const auto& [name, schema] : recording.tables) {
      const auto columns = recording.columns.find(name);
      tables_[name] = {
          .prefix = std::string(1, static_cast<char>(tables_.size() + 1)),
          .has_one_column = columns == recording.columns.end() || columns->second.size() <= 1};
    }
  }

  std::string KeyOf(const KeySpace& table, const std::string& row,
                    const RecordedOperation& operation) const {
    if (table.has_one_column) return table.prefix + row;
    return Concat(table.prefix, row, std::string(1, '\0'), operation.family, ":",
                  operation.qualifier);
  }
  void Add(const RecordedMutation& mutation, rocksdb::WriteBatch* batch);
  absl::StatusOr<Returned> ReadRow(const KeySpace& table, const std::string& row) const;
  absl::StatusOr<Returned> ReadRange(const KeySpace& table, const bigtable::RowRange& range,
                                     uint64_t most_rows, bool reverse) const;
  absl::StatusOr<Returned> Read(const RecordedCall& call) override;
  absl::Status Write(const RecordedCall& call) override;

  std::unique_ptr<rocksdb::DB> db_;
  const std::shared_ptr<rocksdb::Statistics> statistics_;
  bool is_universal_ = false;
  RecordedValues values_;
  std::map<std::string, KeySpace> tables_;
};

void RocksDBTarget::Add(const RecordedMutation& mutation, rocksdb::WriteBatch* batch) {
  const KeySpace& table = tables_.at(mutation.table);
  for (const RecordedOperation& operation : mutation.operations) {
    const std::string key = KeyOf(table, mutation.row, operation);
    switch (operation.kind) {
      case OperationKind::kSet:
      case OperationKind::kAddToCell:
      case OperationKind::kMergeToCell:
      case OperationKind::kAppend:
      case OperationKind::kIncrement:
        batch->Put(key, values_.Next(operation.value_size));
        break;
      case OperationKind::kDeleteCell:
      case OperationKind::kDeleteColumn:
      case OperationKind::kDeleteTimeRange:
        batch->Delete(key);
        break;
      case OperationKind::kDeleteFamily:
      case OperationKind::kDeleteRow:
        if (table.has_one_column) {
          batch->Delete(key);
        } else {
          batch->DeleteRange(Concat(table.prefix, mutation.row, std::string(1, '\0')),
                             Concat(table.prefix, mutation.row, std::string(1, '\1')));
        }
        break;
    }
  }
}

absl::StatusOr<Returned> RocksDBTarget::ReadRow(const KeySpace& table,
                                                const std::string& row) const {
  if (!table.has_one_column) return ReadRange(table, bigtable::RowRange::Single(row), 1, false);
  rocksdb::PinnableSlice value;
  const rocksdb::Status s = db_->Get(RocksDBReadSettings(Checking::kDefault),
                                     db_->DefaultColumnFamily(), table.prefix + row, &value);
  if (s.IsNotFound()) return Returned{};
  if (!s.ok()) return ToStatus(s);
  Touch({value.data(), value.size()});
  return Returned{1, 1};
}

absl::StatusOr<Returned> RocksDBTarget::ReadRange(const KeySpace& table,
                                                  const bigtable::RowRange& range,
                                                  uint64_t most_rows, bool reverse) const {
  const std::string begin = table.prefix + range.begin();
  std::string end(1, static_cast<char>(table.prefix[0] + 1));
  if (range.end().has_value()) end = table.prefix + *range.end();
  // The columns of one row are behind its zero byte.
  if (range == bigtable::RowRange::Single(range.begin())) end = begin + '\1';
  const rocksdb::Slice lower(begin);
  const rocksdb::Slice upper(end);
  rocksdb::ReadOptions options = RocksDBScanSettings(Checking::kDefault);
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options));
  Returned returned;
  std::string row;
  for (reverse ? it->SeekToLast() : it->Seek(lower); it->Valid();
       reverse ? it->Prev() : it->Next()) {
    const rocksdb::Slice key = it->key();
    const std::string_view whole(key.data(), key.size());
    const std::string_view of_row =
        table.has_one_column ? whole : whole.substr(0, whole.rfind('\0'));
    if (returned.rows == 0 || of_row != row) {
      if (returned.rows == most_rows) break;
      ++returned.rows;
      row = of_row;
    }
    ++returned.cells;
    Touch({it->value().data(), it->value().size()});
  }
  if (absl::Status s = ToStatus(it->status()); !s.ok()) return s;
  return returned;
}

absl::StatusOr<Returned> RocksDBTarget::Read(const RecordedCall& call) {
  const KeySpace& table = tables_.at(call.table);
  if (call.kind == Kind::kReadRow) return ReadRow(table, call.ranges.at(0).begin());
  Returned all;
  for (const bigtable::RowRange& range : call.ranges) {
    if (all.rows >= call.rows) break;
    absl::StatusOr<Returned> returned = ReadRange(table, range, call.rows - all.rows, call.reverse);
    if (!returned.ok()) return returned;
    all.rows += returned->rows;
    all.cells += returned->cells;
  }
  return all;
}

absl::Status RocksDBTarget::Write(const RecordedCall& call) {
  rocksdb::WriteOptions options = RocksDBWriteSettings();
  options.sync = call.synced;
  const KeySpace& table = tables_.at(call.table);
  rocksdb::WriteBatch batch;
  switch (call.kind) {
    case Kind::kDropRowRange: {
      const bigtable::RowRange& range = call.ranges.at(0);
      std::string end(1, static_cast<char>(table.prefix[0] + 1));
      if (range.end().has_value()) end = table.prefix + *range.end();
      batch.DeleteRange(table.prefix + range.begin(), end);
      return ToStatus(db_->Write(options, &batch));
    }
    case Kind::kCheckAndMutateRow: {
      absl::StatusOr<Returned> read = ReadRow(table, call.ranges.at(0).begin());
      if (!read.ok()) return read.status();
      Add(call.mutations.at(call.rows > 0 ? 0 : 1), &batch);
      return ToStatus(db_->Write(options, &batch));
    }
    case Kind::kMutateRowAtomically:
    case Kind::kReadModifyWriteRow: {
      absl::StatusOr<Returned> read = ReadRow(table, call.mutations.at(0).row);
      if (!read.ok()) return read.status();
      break;
    }
    default:
      break;
  }
  for (const RecordedMutation& mutation : call.mutations) Add(mutation, &batch);
  return ToStatus(db_->Write(options, &batch));
}

absl::Status RocksDBTarget::Settle() {
  if (absl::Status s = ToStatus(db_->Flush({})); !s.ok()) return s;
  return WaitUntilRocksDBIsQuiet(db_.get(), is_universal_);
}

absl::StatusOr<TargetFigures> RocksDBTarget::Figures() {
  const auto ticker = [&](rocksdb::Tickers which) {
    return static_cast<double>(statistics_->getTickerCount(which));
  };
  TargetFigures figures;
  figures.written_bytes = ticker(rocksdb::WAL_FILE_BYTES) + ticker(rocksdb::FLUSH_WRITE_BYTES) +
                          ticker(rocksdb::COMPACT_WRITE_BYTES);
  figures.stall_seconds = ticker(rocksdb::STALL_MICROS) / 1e6;
  rocksdb::ColumnFamilyMetaData all;
  db_->GetColumnFamilyMetaData(&all);
  figures.file_bytes = static_cast<double>(all.size);
  for (const rocksdb::LevelMetaData& level : all.levels) {
    const size_t runs = level.level == 0 ? level.files.size() : (level.files.empty() ? 0 : 1);
    figures.sorted_runs += static_cast<double>(runs);
  }
  return figures;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Target>> OpenRocksDBTarget(const Overview& recording,
                                                          const TargetOptions& options) {
  return RocksDBTarget::Open(recording, options);
}

}  // namespace bench
