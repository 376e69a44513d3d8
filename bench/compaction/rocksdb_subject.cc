// RocksDB with the settings of the paper's benchmarks (../paper/peer_settings.h), leveled or
// universal, with memtables and files of the size that the other subject has.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "common/strings.h"
#include "common/workload.h"
#include "paper/peer_settings.h"
#include "paper/rocksdb_quiet.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/metadata.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/statistics.h"
#include "subject.h"

namespace bench {
namespace {

absl::Status ToStatus(const rocksdb::Status& s) {
  if (s.ok()) return absl::OkStatus();
  return absl::InternalError(Concat("RocksDB: ", s.ToString()));
}

rocksdb::Slice ToSlice(std::string_view s) { return {s.data(), s.size()}; }

// Runs at which universal compaction merges: with ten it has as many on average as size-tiered
// compaction has here (6.9 in `overwrite`), so that the two can be compared by what they write for
// them. With the four of the leveled settings it has half as many, and writes three times as much.
constexpr int kUniversalTrigger = 10;

absl::StatusOr<rocksdb::Options> OptionsFor(const SubjectOptions& subject) {
  constexpr uint64_t kLeastFile = 1 << 20;
  OpenOptions open;
  open.purpose = Purpose::kReadsAndWrites;
  open.memory_limit = subject.memory_budget;
  rocksdb::Options options = RocksDBSettings(open);
  options.error_if_exists = true;
  options.write_buffer_size = subject.memtable_size;
  options.target_file_size_base = std::max(subject.memtable_size, kLeastFile);
  options.max_bytes_for_level_base = 4 * subject.memtable_size;
  const int factor = subject.policy.factor;
  if (subject.policy.value == bigtable::CompactionStyle::kLeveled) {
    options.compaction_style = rocksdb::kCompactionStyleLevel;
    if (factor != 0) options.max_bytes_for_level_multiplier = factor;
  } else {
    options.compaction_style = rocksdb::kCompactionStyleUniversal;
    options.level0_file_num_compaction_trigger = factor != 0 ? factor : kUniversalTrigger;
  }
  if (subject.positional) options.allow_mmap_reads = false;
  options.statistics = rocksdb::CreateDBStatistics();
  options.statistics->set_stats_level(rocksdb::StatsLevel::kExceptTimers);
  if (subject.rocksdb_options.empty()) return options;
  rocksdb::Options changed;
  const rocksdb::Status s =
      rocksdb::GetOptionsFromString(options, subject.rocksdb_options, &changed);
  if (!s.ok()) {
    return absl::InvalidArgumentError(
        Concat("--rocksdb_options ", subject.rocksdb_options, ": ", s.ToString()));
  }
  return changed;
}

class RocksDBSubject final : public Subject {
 public:
  static absl::StatusOr<std::unique_ptr<Subject>> Open(const SubjectOptions& options) {
    if (options.lifetime.has_value()) {
      return absl::UnimplementedError("rows do not expire in RocksDB here");
    }
    const absl::StatusOr<rocksdb::Options> settings = OptionsFor(options);
    if (!settings.ok()) return settings.status();
    rocksdb::DB* db = nullptr;
    absl::Status s = ToStatus(rocksdb::DB::Open(*settings, options.directory, &db));
    if (!s.ok()) return s;
    auto subject = absl::WrapUnique(new RocksDBSubject(db, settings->statistics, options.format));
    subject->is_universal_ = settings->compaction_style == rocksdb::kCompactionStyleUniversal;
    return subject;
  }

  void Step() override {}
  absl::Status Write(uint64_t row) override {
    const RowKey key = format_.KeyOf(row);
    return ToStatus(db_->Put(write_options_, ToSlice(key.view()), ToSlice(values_.Of(row))));
  }
  absl::Status Delete(uint64_t row) override {
    const RowKey key = format_.KeyOf(row);
    return ToStatus(db_->Delete(write_options_, ToSlice(key.view())));
  }
  absl::Status Read(uint64_t row) override {
    const RowKey key = format_.KeyOf(row);
    absl::StatusOr<bool> found = Get(key);
    if (!found.ok()) return found.status();
    if (*found && std::string_view(slice_.data(), slice_.size()) == values_.Of(row)) {
      return absl::OkStatus();
    }
    return absl::DataLossError(Concat("row ", key.view(), " is missing, or has another value"));
  }
  absl::Status ReadMissing(uint64_t row) override {
    const RowKey key = format_.MissingKeyOf(row);
    absl::StatusOr<bool> found = Get(key);
    if (!found.ok()) return found.status();
    if (!*found) return absl::OkStatus();
    return absl::DataLossError(Concat("row ", key.view(), " was never written, but exists"));
  }
  absl::StatusOr<uint64_t> Scan(uint64_t first, uint64_t rows) override {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan_options_));
    const RowKey key = format_.KeyOf(first);
    uint64_t seen = 0;
    for (it->Seek(ToSlice(key.view())); it->Valid(); it->Next()) {
      Touch({it->value().data(), it->value().size()});
      if (++seen == rows) break;
    }
    if (absl::Status s = ToStatus(it->status()); !s.ok()) return s;
    return seen;
  }

  absl::Status WaitUntilQuiet() override {
    return WaitUntilRocksDBIsQuiet(db_.get(), is_universal_);
  }
  absl::Status Settle() override {
    if (absl::Status s = ToStatus(db_->Flush({})); !s.ok()) return s;
    return WaitUntilQuiet();
  }
  absl::Status Close() override {
    slice_.Reset();
    return ToStatus(db_->Close());
  }

  void CountTouches() override {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
  }
  ReadTouches TakeTouches() override {
    const rocksdb::PerfContext& counts = *rocksdb::get_perf_context();
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    const auto number = [](uint64_t n) { return static_cast<double>(n); };
    return {
        .filters = number(counts.bloom_sst_hit_count + counts.bloom_sst_miss_count),
        .files = number(counts.bloom_sst_hit_count),
        .blocks = number(counts.block_cache_hit_count + counts.block_read_count -
                         counts.block_cache_filter_hit_count - counts.block_cache_index_hit_count -
                         counts.index_block_read_count - counts.filter_block_read_count),
        .bytes = number(counts.block_read_byte)};
  }

  absl::StatusOr<SubjectFigures> Figures() const override {
    SubjectFigures figures;
    const auto ticker = [&](rocksdb::Tickers which) {
      return static_cast<double>(statistics_->getTickerCount(which));
    };
    figures.stall_seconds = ticker(rocksdb::STALL_MICROS) / 1e6;
    figures.log_bytes = ticker(rocksdb::WAL_FILE_BYTES);
    figures.flush_bytes = ticker(rocksdb::FLUSH_WRITE_BYTES);
    figures.merge_read_bytes = ticker(rocksdb::COMPACT_READ_BYTES);
    figures.merge_bytes = ticker(rocksdb::COMPACT_WRITE_BYTES);

    rocksdb::ColumnFamilyMetaData all;
    db_->GetColumnFamilyMetaData(&all);
    figures.file_bytes = static_cast<double>(all.size);
    figures.files = static_cast<double>(all.file_count);
    for (const rocksdb::LevelMetaData& level : all.levels) {
      // Files of level 0 overlap; each of the other levels is one run.
      const size_t runs = level.level == 0 ? level.files.size() : (level.files.empty() ? 0 : 1);
      figures.sorted_runs += static_cast<double>(runs);
      for (const rocksdb::SstFileMetaData& file : level.files) {
        figures.entries += static_cast<double>(file.num_entries);
      }
    }
    uint64_t immutable = 0;
    if (!db_->GetIntProperty(rocksdb::DB::Properties::kNumImmutableMemTable, &immutable)) {
      return absl::InternalError("RocksDB does not report its memtables");
    }
    figures.memtables = 1 + static_cast<double>(immutable);
    return figures;
  }

 private:
  RocksDBSubject(rocksdb::DB* db, std::shared_ptr<rocksdb::Statistics> statistics,
                 const RowFormat& format)
      : format_(format), values_(format.value_size), statistics_(std::move(statistics)), db_(db) {}

  // Whether the row exists. Its value is in slice_.
  absl::StatusOr<bool> Get(const RowKey& key) {
    slice_.Reset();
    const rocksdb::Status s =
        db_->Get(read_options_, db_->DefaultColumnFamily(), ToSlice(key.view()), &slice_);
    if (s.IsNotFound()) return false;
    if (!s.ok()) return ToStatus(s);
    return true;
  }
  const RowFormat format_;
  const Values values_;
  const std::shared_ptr<rocksdb::Statistics> statistics_;
  const std::unique_ptr<rocksdb::DB> db_;
  bool is_universal_ = false;
  rocksdb::PinnableSlice slice_;  // destroyed before the database, which it pins
  const rocksdb::WriteOptions write_options_ = RocksDBWriteSettings();
  const rocksdb::ReadOptions read_options_ = RocksDBReadSettings(Checking::kDefault);
  const rocksdb::ReadOptions scan_options_ = RocksDBScanSettings(Checking::kDefault);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Subject>> OpenRocksDBSubject(const SubjectOptions& options) {
  return RocksDBSubject::Open(options);
}

}  // namespace bench
