// RocksDB in each of its ways of reading: through the page cache, past it, and mapped. The settings
// are those of the paper's benchmarks (../paper/peer_settings.h), changed for reads.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "common/strings.h"
#include "common/workload.h"
#include "paper/peer_settings.h"
#include "paper/rocksdb_quiet.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "subject.h"

namespace bench {
namespace {

constexpr std::string_view kPositional = "rocksdb_positional";
constexpr std::string_view kDirect = "rocksdb_direct";
constexpr size_t kRowSize = 1100;  // in a file, with its key and its part of the index
constexpr std::string_view kMapped = "rocksdb_mapped";

absl::Status ToStatus(const rocksdb::Status& s) {
  if (s.ok()) return absl::OkStatus();
  if (s.IsNotFound()) return absl::NotFoundError(s.ToString());
  return absl::InternalError(Concat("RocksDB: ", s.ToString()));
}

rocksdb::Slice ToSlice(std::string_view s) { return {s.data(), s.size()}; }
std::string_view ToView(const rocksdb::Slice& s) { return {s.data(), s.size()}; }

rocksdb::Options Settings(const SubjectOptions& options) {
  // From peer_settings.h, with the reasons there: blocks of 4 KiB as in this engine's table, so
  // that a read takes as much from the disk; a Bloom filter for each file; two background threads;
  // no compression; indexes and filters in the cache, and every table open. By RocksDB's default,
  // each block is verified when it is read from the file or the mapping.
  OpenOptions open;
  open.directory = options.directory;
  open.purpose = options.writes ? Purpose::kReadsAndWrites : Purpose::kReads;
  open.memory_limit = options.memory_budget;
  rocksdb::Options s = RocksDBSettings(open);
  // What is compared: a block that is not in the cache comes from the page cache, from the disk in
  // any case, or from a mapping, and then it is not put into the cache.
  s.allow_mmap_reads = options.way == kMapped;
  s.use_direct_reads = options.way == kDirect;
  // By default RocksDB asks the kernel not to read ahead, which is right for random rows. A scan of
  // all rows is twice as fast by position and five times as fast mapped if the kernel does.
  s.advise_random_on_open = !options.in_order;
  if (!options.writes) {
    // Nothing is written, so no write buffer needs a share: the cache has the whole budget.
    auto t = *s.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    // Reads past the page cache leave that empty, so its memory goes to the cache, too.
    const uint64_t cache = (options.way == kDirect ? kShareOfPageCache : 1) * options.memory_budget;
    t.block_cache = rocksdb::HyperClockCacheOptions(cache, t.block_size).MakeSharedCache();
    s.table_factory.reset(rocksdb::NewBlockBasedTableFactory(t));
  }
  return s;
}

class RocksDBCursor final : public RowCursor {
 public:
  RocksDBCursor(rocksdb::DB* db, const rocksdb::ReadOptions& options, std::string_view from)
      : iterator_(db->NewIterator(options)), from_(from) {}

  bool Next() override {
    if (begun_) {
      iterator_->Next();
    } else {
      iterator_->Seek(from_);
      begun_ = true;
    }
    if (!iterator_->Valid()) return false;
    key_ = ToView(iterator_->key());
    value_ = ToView(iterator_->value());
    return true;
  }
  absl::Status status() const override { return ToStatus(iterator_->status()); }

 private:
  const std::unique_ptr<rocksdb::Iterator> iterator_;
  const std::string from_;
  bool begun_ = false;
};

class RocksDB final : public Subject {
 public:
  static absl::StatusOr<std::unique_ptr<Subject>> Open(const SubjectOptions& options) {
    rocksdb::Options settings = Settings(options);
    settings.create_if_missing = false;
    rocksdb::DB* db = nullptr;
    const rocksdb::Status s = rocksdb::DB::Open(settings, options.directory, &db);
    if (!s.ok()) return ToStatus(s);
    return absl::WrapUnique(new RocksDB(db));
  }

  absl::StatusOr<std::string_view> Get(std::string_view key) override {
    slice_.Reset();
    const rocksdb::Status s = db_->Get(read_options_, family_, ToSlice(key), &slice_);
    if (!s.ok()) return ToStatus(s);
    return ToView(slice_);
  }
  absl::Status GetBatch(absl::Span<const std::string_view> keys,
                        std::vector<std::string_view>* values) override {
    keys_.clear();
    for (const std::string_view key : keys) keys_.push_back(ToSlice(key));
    slices_ = std::vector<rocksdb::PinnableSlice>(keys.size());
    statuses_.resize(keys.size());
    db_->MultiGet(batch_options_, family_, keys.size(), keys_.data(), slices_.data(),
                  statuses_.data());
    values->clear();
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!statuses_[i].ok()) return ToStatus(statuses_[i]);
      values->push_back(ToView(slices_[i]));
    }
    return absl::OkStatus();
  }
  std::unique_ptr<RowCursor> Scan(std::string_view from, uint64_t limit) override {
    rocksdb::ReadOptions options = limit == kNoLimit ? full_scan_options_ : read_options_;
    // What the rows take, as this library derives it from its row limit: half as fast again.
    if (limit != kNoLimit) options.readahead_size = limit * kRowSize;
    return std::make_unique<RocksDBCursor>(db_.get(), options, from);
  }
  absl::Status Write(std::string_view key, std::string_view value) override {
    return ToStatus(db_->Put(write_options_, ToSlice(key), ToSlice(value)));
  }
  absl::Status Close() override {
    slice_.Reset();
    slices_.clear();
    return ToStatus(db_->Close());
  }

 private:
  explicit RocksDB(rocksdb::DB* db) : db_(db), family_(db->DefaultColumnFamily()) {
    // The blocks of a batch are read from the disk at the same time, where the build has io_uring.
    batch_options_.async_io = true;
    // Two megabytes at a time, and no blocks for the cache that are not read again before they are
    // dropped: half as fast again with direct reads. For scans that end soon this is slower than
    // RocksDB's automatic readahead, which grows with the scan.
    full_scan_options_.readahead_size = 2 << 20;
    full_scan_options_.fill_cache = false;
  }

  const std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* const family_;
  const rocksdb::ReadOptions read_options_ = RocksDBReadSettings(Checking::kDefault);
  rocksdb::ReadOptions batch_options_ = RocksDBReadSettings(Checking::kDefault);
  rocksdb::ReadOptions full_scan_options_ = RocksDBScanSettings(Checking::kDefault);
  const rocksdb::WriteOptions write_options_ = RocksDBWriteSettings();
  rocksdb::PinnableSlice slice_;  // what the last Get returned: in the cache or the mapping
  // The same of GetBatch, and what it was called with.
  std::vector<rocksdb::PinnableSlice> slices_;
  std::vector<rocksdb::Slice> keys_;
  std::vector<rocksdb::Status> statuses_;
};

absl::Status Load(rocksdb::DB* db, uint64_t rows) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;  // the flush at the end makes it durable
  const Values values;
  for (uint64_t row = 0; row < rows; ++row) {
    const Key key(row);
    const rocksdb::Status s = db->Put(options, ToSlice(key.view()), ToSlice(values.Of(row)));
    if (!s.ok()) return ToStatus(s);
  }
  if (rocksdb::Status s = db->Flush({}); !s.ok()) return ToStatus(s);
  // One sorted run.
  if (rocksdb::Status s = db->CompactRange({}, nullptr, nullptr); !s.ok()) return ToStatus(s);
  return WaitUntilRocksDBIsQuiet(db, /*is_universal=*/false);
}

absl::Status Make(const std::string& directory, uint64_t rows) {
  const rocksdb::Options settings = Settings({.directory = directory,
                                              .way = std::string(kPositional),
                                              .memory_budget = 256 << 20,
                                              .writes = true});
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status s = rocksdb::DB::Open(settings, directory, &opened);
  if (!s.ok()) return ToStatus(s);
  const std::unique_ptr<rocksdb::DB> db(opened);
  if (absl::Status loaded = Load(db.get(), rows); !loaded.ok()) return loaded;
  return ToStatus(db->Close());
}

}  // namespace

SubjectKind RocksDBSubject() {
  return {.engine = "rocksdb",
          .ways = {std::string(kPositional), std::string(kDirect), std::string(kMapped)},
          .writes = true,
          .make = Make,
          .open = RocksDB::Open};
}

}  // namespace bench
