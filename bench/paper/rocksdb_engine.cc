#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "common/strings.h"
#include "engine.h"
#include "peer_settings.h"
#include "rocksdb/db.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/version.h"
#include "rocksdb/write_batch.h"
#include "sorted_rows.h"

namespace bench {
namespace {

absl::Status ToStatus(const rocksdb::Status& s) {
  if (s.ok()) return absl::OkStatus();
  if (s.IsNotFound()) return absl::NotFoundError(s.ToString());
  return absl::InternalError(Concat("RocksDB: ", s.ToString()));
}

rocksdb::Slice ToSlice(std::string_view s) { return {s.data(), s.size()}; }

class RocksDBReader final : public Reader {
 public:
  RocksDBReader(rocksdb::DB* db, Checking checking)
      : db_(db), family_(db->DefaultColumnFamily()), options_(RocksDBReadSettings(checking)) {}

  absl::Status Read(std::string_view key) override {
    slice_.Reset();
    const rocksdb::Status s = db_->Get(options_, family_, ToSlice(key), &slice_);
    if (!s.ok()) return ToStatus(s);
    value_ = {slice_.data(), slice_.size()};
    return absl::OkStatus();
  }

 private:
  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;
  const rocksdb::ReadOptions options_;
  rocksdb::PinnableSlice slice_;  // the value: in the cache or the mapping, not a copy
};

class RocksDBCursor final : public Cursor {
 public:
  RocksDBCursor(rocksdb::DB* db, Checking checking)
      : iterator_(db->NewIterator(RocksDBScanSettings(checking))) {}

  bool Next() override {
    if (begun_) {
      iterator_->Next();
    } else {
      iterator_->SeekToFirst();
      begun_ = true;
    }
    if (!iterator_->Valid()) return false;
    const rocksdb::Slice key = iterator_->key();
    const rocksdb::Slice value = iterator_->value();
    key_ = {key.data(), key.size()};
    value_ = {value.data(), value.size()};
    return true;
  }
  absl::Status status() const override { return ToStatus(iterator_->status()); }

 private:
  const std::unique_ptr<rocksdb::Iterator> iterator_;
  bool begun_ = false;
};

class RocksDBFollower final : public Follower {
 public:
  explicit RocksDBFollower(rocksdb::DB* db) : db_(db) {}

  absl::Status Refresh() override { return ToStatus(db_->TryCatchUpWithPrimary()); }
  absl::StatusOr<std::string> Read(std::string_view key) override {
    std::string value;
    const rocksdb::Status s = db_->Get({}, ToSlice(key), &value);
    if (!s.ok()) return ToStatus(s);
    return value;
  }

 private:
  const std::unique_ptr<rocksdb::DB> db_;
};

class RocksDBWrites final : public Loader {
 public:
  explicit RocksDBWrites(rocksdb::DB* db) : db_(db) { options_.disableWAL = true; }

  absl::Status Add(std::string_view key, std::string_view value) override {
    const rocksdb::Status s = batch_.Put(ToSlice(key), ToSlice(value));
    if (!s.ok() || static_cast<size_t>(batch_.Count()) < kRowsOfLoad) return ToStatus(s);
    return Write();
  }
  absl::Status Finish() override {
    if (absl::Status s = Write(); !s.ok()) return s;
    return ToStatus(db_->Flush({}));
  }

 private:
  absl::Status Write() {
    const rocksdb::Status s = db_->Write(options_, &batch_);
    batch_.Clear();
    return ToStatus(s);
  }

  rocksdb::DB* const db_;
  rocksdb::WriteOptions options_;
  rocksdb::WriteBatch batch_;
};

// Sorts in memory, as SSTableSorter does, and writes a file in each thread.
class RocksDBFiles final : public Loader {
 public:
  RocksDBFiles(rocksdb::DB* db, std::string directory, int threads)
      : db_(db), directory_(std::move(directory)), threads_(threads) {}

  absl::Status Add(std::string_view key, std::string_view value) override {
    rows_.Add(key, value);
    return absl::OkStatus();
  }
  absl::Status Prepare() override {
    const std::vector<std::pair<size_t, size_t>> parts = rows_.Sort(threads_);
    std::vector<rocksdb::Status> statuses(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      files_.push_back(Concat(directory_, "/", i, ".sst"));
    }
    std::vector<std::thread> threads;
    for (size_t i = 0; i < parts.size(); ++i) {
      threads.emplace_back([&, i] { statuses[i] = WriteFile(files_[i], parts[i]); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const rocksdb::Status& s : statuses) {
      if (!s.ok()) return ToStatus(s);
    }
    return absl::OkStatus();
  }
  absl::Status Finish() override {
    if (files_.empty()) {
      if (absl::Status s = Prepare(); !s.ok()) return s;
    }
    rocksdb::IngestExternalFileOptions options;
    options.move_files = true;
    return ToStatus(db_->IngestExternalFile(files_, options));
  }

 private:
  rocksdb::Status WriteFile(const std::string& path, std::pair<size_t, size_t> part) {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), db_->GetOptions());
    rocksdb::Status s = writer.Open(path);
    for (size_t i = part.first; s.ok() && i < part.second; ++i) {
      s = writer.Put(ToSlice(rows_.key(i)), ToSlice(rows_.value(i)));
    }
    return s.ok() ? writer.Finish() : s;
  }

  rocksdb::DB* const db_;
  const std::string directory_;
  const int threads_;
  SortedRows rows_;
  std::vector<std::string> files_;
};

class RocksDB final : public Engine {
 public:
  static absl::StatusOr<std::unique_ptr<Engine>> Open(const OpenOptions& options) {
    rocksdb::DB* db = nullptr;
    rocksdb::Options settings = RocksDBSettings(options);
    // Logs are kept for this long, in an archive.
    if (options.keeps_changes) settings.WAL_ttl_seconds = 24 * 60 * 60;
    const rocksdb::Status s = rocksdb::DB::Open(settings, options.directory, &db);
    if (!s.ok()) return ToStatus(s);
    return absl::WrapUnique(new RocksDB(db, options));
  }
  absl::StatusOr<std::unique_ptr<Follower>> Follow(const std::string& directory) override {
    rocksdb::Options settings = RocksDBSettings(options_);
    settings.max_open_files = -1;  // which secondary instances need
    rocksdb::DB* db = nullptr;
    const rocksdb::Status s =
        rocksdb::DB::OpenAsSecondary(settings, options_.directory, directory, &db);
    if (!s.ok()) return ToStatus(s);
    return std::make_unique<RocksDBFollower>(db);
  }

  absl::Status Write(std::string_view key, std::string_view value) override {
    return ToStatus(db_->Put(write_options_, ToSlice(key), ToSlice(value)));
  }
  std::unique_ptr<Reader> NewReader(Checking checking) override {
    return std::make_unique<RocksDBReader>(db_.get(), checking);
  }
  std::unique_ptr<Cursor> NewCursor(Checking checking) override {
    return std::make_unique<RocksDBCursor>(db_.get(), checking);
  }

  absl::StatusOr<absl::Time> WaitUntilQuiet() override {
    // The thread that ends some work queues the next: a short rest suffices.
    constexpr absl::Duration kRest = absl::Milliseconds(20);
    constexpr absl::Duration kStep = absl::Milliseconds(1);
    absl::Time last_busy = absl::Now();
    while (absl::Now() - last_busy < kRest) {
      absl::StatusOr<bool> busy = IsBusy();
      if (!busy.ok()) return busy.status();
      if (*busy) last_busy = absl::Now();
      absl::SleepFor(kStep);
    }
    return last_busy;
  }

  absl::Status Close() override { return ToStatus(db_->Close()); }
  absl::Status Checkpoint(const std::string& directory) override {
    rocksdb::Checkpoint* made = nullptr;
    const rocksdb::Status s = rocksdb::Checkpoint::Create(db_.get(), &made);
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    return ToStatus(s.ok() ? checkpoint->CreateCheckpoint(directory) : s);
  }
  std::unique_ptr<Loader> NewLoader(Load load, const std::string& directory, int threads) override {
    if (load == Load::kWrites) return std::make_unique<RocksDBWrites>(db_.get());
    return std::make_unique<RocksDBFiles>(db_.get(), directory, threads);
  }
  absl::Status Backup(const std::string& directory) override {
    rocksdb::BackupEngine* opened = nullptr;
    const rocksdb::Status s = rocksdb::BackupEngine::Open(
        rocksdb::Env::Default(), rocksdb::BackupEngineOptions(directory), &opened);
    const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
    return ToStatus(s.ok() ? engine->CreateNewBackup(db_.get()) : s);
  }
  absl::StatusOr<uint64_t> CountChanges() override {
    // Each change as its operations, as a reader needs them.
    struct Counter final : rocksdb::WriteBatch::Handler {
      rocksdb::Status PutCF(uint32_t /*family*/, const rocksdb::Slice& /*key*/,
                            const rocksdb::Slice& /*value*/) override {
        ++count;
        return rocksdb::Status::OK();
      }
      uint64_t count = 0;
    } counter;
    std::unique_ptr<rocksdb::TransactionLogIterator> changes;
    rocksdb::Status s = db_->GetUpdatesSince(0, &changes);
    if (!s.ok()) return ToStatus(s);
    for (; changes->Valid(); changes->Next()) {
      const rocksdb::BatchResult batch = changes->GetBatch();
      if (s = batch.writeBatchPtr->Iterate(&counter); !s.ok()) return ToStatus(s);
    }
    if (s = changes->status(); !s.ok()) return ToStatus(s);
    return counter.count;
  }
  uint64_t MappedBytesWritten() override { return 0; }

 private:
  RocksDB(rocksdb::DB* db, const OpenOptions& options) : db_(db), options_(options) {}

  absl::StatusOr<bool> IsBusy() {
    for (const std::string& property :
         {rocksdb::DB::Properties::kMemTableFlushPending,
          rocksdb::DB::Properties::kCompactionPending, rocksdb::DB::Properties::kNumRunningFlushes,
          rocksdb::DB::Properties::kNumRunningCompactions}) {
      uint64_t value = 0;
      if (!db_->GetIntProperty(property, &value)) {
        return absl::InternalError(Concat("RocksDB has no property ", property));
      }
      if (value != 0) return true;
    }
    return false;
  }

  const std::unique_ptr<rocksdb::DB> db_;
  const OpenOptions options_;
  const rocksdb::WriteOptions write_options_ = RocksDBWriteSettings();
};

}  // namespace

EngineKind RocksDBEngine() {
  return {"rocksdb", rocksdb::GetRocksVersionAsString(), RocksDB::Open};
}

}  // namespace bench
