// LMDB, which reads its one file through a mapping. It has no checksums, no cache and no background
// work, so kinds of checking and the memory limit have no meaning for it.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "common/strings.h"
#include "engine.h"
#include "lmdb.h"
#include "quiet.h"

namespace bench {
namespace {

absl::Status ToStatus(int error) {
  if (error == MDB_SUCCESS) return absl::OkStatus();
  if (error == MDB_NOTFOUND) return absl::NotFoundError(mdb_strerror(error));
  return absl::InternalError(Concat("LMDB: ", mdb_strerror(error)));
}

// LMDB does not write through it.
MDB_val ToVal(std::string_view s) { return {s.size(), const_cast<char*>(s.data())}; }
std::string_view ToView(const MDB_val& v) {
  return {static_cast<const char*>(v.mv_data), v.mv_size};
}

// A read transaction that is used again and again. One thread at a time.
class Snapshot {
 public:
  explicit Snapshot(MDB_env* environment)
      : error_(mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction_)) {}
  ~Snapshot() {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // Goes on to the present, as each read of the other engines does.
  int Renew() {
    if (error_ != MDB_SUCCESS) return error_;
    mdb_txn_reset(transaction_);
    error_ = mdb_txn_renew(transaction_);
    return error_;
  }
  int error() const { return error_; }
  MDB_txn* get() const { return transaction_; }

 private:
  MDB_txn* transaction_ = nullptr;
  int error_;
};

class LmdbReader final : public Reader {
 public:
  LmdbReader(MDB_env* environment, MDB_dbi table) : snapshot_(environment), table_(table) {}

  absl::Status Read(std::string_view key) override {
    if (const int error = snapshot_.Renew(); error != MDB_SUCCESS) return ToStatus(error);
    MDB_val wanted = ToVal(key);
    MDB_val value = {};
    const int error = mdb_get(snapshot_.get(), table_, &wanted, &value);
    if (error != MDB_SUCCESS) return ToStatus(error);
    value_ = ToView(value);
    return absl::OkStatus();
  }

 private:
  Snapshot snapshot_;
  const MDB_dbi table_;
};

class LmdbCursor final : public Cursor {
 public:
  LmdbCursor(MDB_env* environment, MDB_dbi table)
      : snapshot_(environment), error_(snapshot_.error()) {
    if (error_ == MDB_SUCCESS) error_ = mdb_cursor_open(snapshot_.get(), table, &cursor_);
  }
  ~LmdbCursor() override {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
  }
  LmdbCursor(const LmdbCursor&) = delete;
  LmdbCursor& operator=(const LmdbCursor&) = delete;

  bool Next() override {
    if (error_ != MDB_SUCCESS) return false;
    MDB_val key = {};
    MDB_val value = {};
    error_ = mdb_cursor_get(cursor_, &key, &value, MDB_NEXT);  // the first at the first call
    if (error_ != MDB_SUCCESS) return false;
    key_ = ToView(key);
    value_ = ToView(value);
    return true;
  }
  absl::Status status() const override {
    return error_ == MDB_NOTFOUND ? absl::OkStatus() : ToStatus(error_);
  }

 private:
  Snapshot snapshot_;
  int error_;
  MDB_cursor* cursor_ = nullptr;
};

class Lmdb final : public Engine {
 public:
  static absl::StatusOr<std::unique_ptr<Engine>> Open(const OpenOptions& options) {
    auto engine = absl::WrapUnique(new Lmdb());
    if (absl::Status s = ToStatus(engine->OpenEnvironment(options)); !s.ok()) return s;
    return engine;
  }
  ~Lmdb() override {
    if (environment_ != nullptr) mdb_env_close(environment_);
  }
  Lmdb(const Lmdb&) = delete;
  Lmdb& operator=(const Lmdb&) = delete;

  absl::Status Write(std::string_view key, std::string_view value) override {
    MDB_txn* transaction = nullptr;
    if (const int error = mdb_txn_begin(environment_, nullptr, 0, &transaction);
        error != MDB_SUCCESS) {
      return ToStatus(error);
    }
    MDB_val k = ToVal(key);
    MDB_val v = ToVal(value);
    if (const int error = mdb_put(transaction, table_, &k, &v, 0); error != MDB_SUCCESS) {
      mdb_txn_abort(transaction);
      return ToStatus(error);
    }
    return ToStatus(mdb_txn_commit(transaction));
  }
  std::unique_ptr<Reader> NewReader(Checking /*checking*/) override {
    return std::make_unique<LmdbReader>(environment_, table_);
  }
  std::unique_ptr<Cursor> NewCursor(Checking /*checking*/) override {
    return std::make_unique<LmdbCursor>(environment_, table_);
  }
  absl::StatusOr<absl::Time> WaitUntilQuiet() override { return WaitUntilOtherThreadsRest(); }
  absl::Status Close() override {
    // The end of the benchmark's step is durable, as with the others.
    if (absl::Status s = ToStatus(mdb_env_sync(environment_, /*force=*/1)); !s.ok()) return s;
    mdb_env_close(std::exchange(environment_, nullptr));
    return absl::OkStatus();
  }
  uint64_t MappedBytesWritten() override { return 0; }  // it writes by pwrite()

 private:
  Lmdb() = default;

  int OpenEnvironment(const OpenOptions& options) {
    // Random inserts leave pages, of up to three rows, half empty. Only address space.
    const uint64_t map_size = ((options.rows + 1000) * 3 + (64 << 10)) * 4096;
    // Without a sync for each transaction: a write survives a crash of the process. A reader is no
    // thread's own.
    constexpr unsigned kFlags = MDB_NOSYNC | MDB_NOTLS;
    int error = mdb_env_create(&environment_);
    if (error == MDB_SUCCESS) error = mdb_env_set_mapsize(environment_, map_size);
    if (error == MDB_SUCCESS) {
      error = mdb_env_open(environment_, options.directory.c_str(), kFlags, 0644);
    }
    if (error != MDB_SUCCESS) return error;
    MDB_txn* transaction = nullptr;
    error = mdb_txn_begin(environment_, nullptr, 0, &transaction);
    if (error != MDB_SUCCESS) return error;
    error = mdb_dbi_open(transaction, nullptr, 0, &table_);
    if (error != MDB_SUCCESS) {
      mdb_txn_abort(transaction);
      return error;
    }
    return mdb_txn_commit(transaction);
  }

  MDB_env* environment_ = nullptr;
  MDB_dbi table_ = 0;
};

}  // namespace

EngineKind LmdbEngine() {
  return {.name = "lmdb",
          .version = Concat(MDB_VERSION_MAJOR, ".", MDB_VERSION_MINOR, ".", MDB_VERSION_PATCH),
          .open = Lmdb::Open,
          .has_checksums = false};
}

}  // namespace bench
