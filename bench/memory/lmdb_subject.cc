// LMDB, which reads its one file through a mapping: for reads only. It has no cache of its own, so
// the memory budget has no meaning for it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "common/strings.h"
#include "common/workload.h"
#include "lmdb.h"
#include "subject.h"

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

struct CloseEnvironment {
  void operator()(MDB_env* environment) const { mdb_env_close(environment); }
};
using Environment = std::unique_ptr<MDB_env, CloseEnvironment>;

// `map_size` 0: the size of the file.
absl::StatusOr<Environment> OpenEnvironment(const std::string& directory, unsigned flags,
                                            uint64_t map_size) {
  MDB_env* created = nullptr;
  if (absl::Status s = ToStatus(mdb_env_create(&created)); !s.ok()) return s;
  Environment environment(created);
  if (absl::Status s = ToStatus(mdb_env_set_mapsize(created, map_size)); !s.ok()) return s;
  if (absl::Status s = ToStatus(mdb_env_open(created, directory.c_str(), flags, 0644)); !s.ok()) {
    return s;
  }
  return environment;
}

class LmdbCursor final : public RowCursor {
 public:
  LmdbCursor(MDB_txn* transaction, MDB_dbi table, std::string_view from)
      : from_(from), error_(mdb_cursor_open(transaction, table, &cursor_)) {}
  ~LmdbCursor() override {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
  }
  LmdbCursor(const LmdbCursor&) = delete;
  LmdbCursor& operator=(const LmdbCursor&) = delete;

  bool Next() override {
    if (error_ != MDB_SUCCESS) return false;
    MDB_val key = ToVal(from_);
    MDB_val value = {};
    error_ = mdb_cursor_get(cursor_, &key, &value, begun_ ? MDB_NEXT : MDB_SET_RANGE);
    begun_ = true;
    if (error_ != MDB_SUCCESS) return false;
    key_ = ToView(key);
    value_ = ToView(value);
    return true;
  }
  absl::Status status() const override {
    return error_ == MDB_NOTFOUND ? absl::OkStatus() : ToStatus(error_);
  }

 private:
  const std::string from_;
  MDB_cursor* cursor_ = nullptr;
  int error_;
  bool begun_ = false;
};

class Lmdb final : public Subject {
 public:
  static absl::StatusOr<std::unique_ptr<Subject>> Open(const SubjectOptions& options) {
    // LMDB's manual advises to turn the kernel's readahead off for random reads of data that are
    // larger than the memory. With a readahead of 8 MiB, a scan of a hundred rows reads 6.5 MB for
    // them if it is on. A scan of all rows needs it.
    const unsigned flags = MDB_RDONLY | (options.in_order ? 0 : MDB_NORDAHEAD);
    absl::StatusOr<Environment> environment = OpenEnvironment(options.directory, flags, 0);
    if (!environment.ok()) return environment.status();
    auto subject = std::make_unique<Lmdb>(*std::move(environment));
    if (absl::Status s = subject->Begin(); !s.ok()) return s;
    return subject;
  }

  explicit Lmdb(Environment environment) : environment_(std::move(environment)) {}
  ~Lmdb() override {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
  }
  Lmdb(const Lmdb&) = delete;
  Lmdb& operator=(const Lmdb&) = delete;

  absl::StatusOr<std::string_view> Get(std::string_view key) override {
    if (absl::Status s = Renew(); !s.ok()) return s;
    return Find(key);
  }
  // LMDB has no call for several rows; they are of one snapshot.
  absl::Status GetBatch(absl::Span<const std::string_view> keys,
                        std::vector<std::string_view>* values) override {
    if (absl::Status s = Renew(); !s.ok()) return s;
    values->clear();
    for (const std::string_view key : keys) {
      const absl::StatusOr<std::string_view> value = Find(key);
      if (!value.ok()) return value.status();
      values->push_back(*value);
    }
    return absl::OkStatus();
  }
  std::unique_ptr<RowCursor> Scan(std::string_view from, uint64_t /*limit*/) override {
    // An error shows when the cursor is opened.
    Renew().IgnoreError();
    return std::make_unique<LmdbCursor>(transaction_, table_, from);
  }
  absl::Status Write(std::string_view /*key*/, std::string_view /*value*/) override {
    return absl::UnimplementedError("LMDB is opened for reads only");
  }
  absl::Status Close() override { return absl::OkStatus(); }

 private:
  absl::Status Begin() {
    const int error = mdb_txn_begin(environment_.get(), nullptr, MDB_RDONLY, &transaction_);
    if (error != MDB_SUCCESS) return ToStatus(error);
    return ToStatus(mdb_dbi_open(transaction_, nullptr, 0, &table_));
  }
  // A new snapshot for each call, as the other engines have. The transaction is used again, which
  // costs less than a new one.
  absl::Status Renew() {
    mdb_txn_reset(transaction_);
    return ToStatus(mdb_txn_renew(transaction_));
  }
  absl::StatusOr<std::string_view> Find(std::string_view key) {
    MDB_val wanted = ToVal(key);
    MDB_val value = {};
    const int error = mdb_get(transaction_, table_, &wanted, &value);
    if (error != MDB_SUCCESS) return ToStatus(error);
    return ToView(value);
  }

  const Environment environment_;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi table_ = 0;
};

// Puts the rows from `begin` to `end` with one transaction. They are in order and behind all
// others, so each page is filled before the next is begun.
absl::Status Append(MDB_env* environment, const Values& values, uint64_t begin, uint64_t end) {
  MDB_txn* transaction = nullptr;
  MDB_dbi table = 0;
  int error = mdb_txn_begin(environment, nullptr, 0, &transaction);
  if (error != MDB_SUCCESS) return ToStatus(error);
  error = mdb_dbi_open(transaction, nullptr, 0, &table);
  for (uint64_t row = begin; error == MDB_SUCCESS && row < end; ++row) {
    const Key bytes(row);
    MDB_val key = ToVal(bytes.view());
    MDB_val value = ToVal(values.Of(row));
    error = mdb_put(transaction, table, &key, &value, MDB_APPEND);
  }
  if (error != MDB_SUCCESS) {
    mdb_txn_abort(transaction);
    return ToStatus(error);
  }
  return ToStatus(mdb_txn_commit(transaction));
}

absl::Status Make(const std::string& directory, uint64_t rows) {
  constexpr uint64_t kRowsOfTransaction = 10'000;
  std::error_code error;
  std::filesystem::create_directory(directory, error);
  if (error) return absl::InternalError(Concat(directory, ": ", error.message()));
  // Three rows fill a page of 4 KiB; there is room for twice as many pages.
  const uint64_t map_size = (rows * 8192 / 3 / 4096 + 4096) * 4096;
  // Without a sync for each transaction. One at the end makes the table durable.
  absl::StatusOr<Environment> environment = OpenEnvironment(directory, MDB_NOSYNC, map_size);
  if (!environment.ok()) return environment.status();
  const Values values;
  for (uint64_t row = 0; row < rows; row += kRowsOfTransaction) {
    absl::Status s =
        Append(environment->get(), values, row, std::min(rows, row + kRowsOfTransaction));
    if (!s.ok()) return s;
  }
  return ToStatus(mdb_env_sync(environment->get(), /*force=*/1));
}

}  // namespace

SubjectKind LmdbSubject() {
  return {.engine = "lmdb", .ways = {"lmdb"}, .writes = false, .make = Make, .open = Lmdb::Open};
}

}  // namespace bench
