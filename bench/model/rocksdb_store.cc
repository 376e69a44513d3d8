// Counters of RocksDB with the settings of the paper's benchmarks (../paper/peer_settings.h), a key
// each: by an optimistic transaction, by a transaction that locks the key, and by the merge
// operator.
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "common/strings.h"
#include "common/workload.h"
#include "paper/peer_settings.h"
#include "rocksdb/db.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "store.h"

namespace bench {
namespace {

absl::Status ToStatus(const rocksdb::Status& s) {
  if (s.ok()) return absl::OkStatus();
  return absl::InternalError(Concat("RocksDB: ", s.ToString()));
}

rocksdb::Slice ToSlice(std::string_view s) { return {s.data(), s.size()}; }

using Number = std::array<char, sizeof(int64_t)>;

Number Encode(int64_t number) {
  Number bytes;
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

absl::StatusOr<int64_t> Decode(std::string_view bytes) {
  int64_t number = 0;
  if (bytes.size() != sizeof(number)) {
    return absl::DataLossError(Concat("a counter of ", bytes.size(), " bytes"));
  }
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

// RocksDB's own operators for sums are not among its public headers.
class Sum final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "bench.Sum"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    const absl::StatusOr<int64_t> amount = Decode({value.data(), value.size()});
    const absl::StatusOr<int64_t> before =
        existing != nullptr ? Decode({existing->data(), existing->size()}) : 0;
    if (!amount.ok() || !before.ok()) return false;
    const Number sum = Encode(*before + *amount);
    result->assign(sum.data(), sum.size());
    return true;
  }
};

rocksdb::Options Settings() {
  OpenOptions open;
  open.purpose = Purpose::kReadsAndWrites;
  open.memory_limit = kMemoryLimit;
  rocksdb::Options options = RocksDBSettings(open);
  options.merge_operator = std::make_shared<Sum>();
  return options;
}

class RocksDBStore : public Store {
 public:
  absl::StatusOr<int64_t> Value(uint64_t counter) override {
    const Key key(counter);
    std::string value;
    const rocksdb::Status s = db()->Get({}, ToSlice(key.view()), &value);
    if (s.IsNotFound()) return 0;
    if (!s.ok()) return ToStatus(s);
    return Decode(value);
  }

 protected:
  virtual rocksdb::DB* db() = 0;

  // The reading and the writing half of an increment. Busy and TimedOut: to be tried again.
  static rocksdb::Status AddOne(rocksdb::Transaction* transaction, uint64_t counter) {
    const Key key(counter);
    std::string value;
    const rocksdb::Status read = transaction->GetForUpdate({}, ToSlice(key.view()), &value);
    int64_t before = 0;
    if (read.ok()) {
      const absl::StatusOr<int64_t> decoded = Decode(value);
      if (!decoded.ok()) return rocksdb::Status::Corruption("not a counter");
      before = *decoded;
    } else if (!read.IsNotFound()) {
      return read;
    }
    const Number after = Encode(before + 1);
    const rocksdb::Status put =
        transaction->Put(ToSlice(key.view()), ToSlice({after.data(), after.size()}));
    return put.ok() ? transaction->Commit() : put;
  }
};

// Transactions of either kind: an object for each thread, which its next transaction reuses.
template <typename TransactionDatabase, typename TransactionOptions>
class TransactionStore final : public RocksDBStore {
 public:
  explicit TransactionStore(TransactionDatabase* db) : db_(db) {}

  absl::Status Increment(uint64_t counter) override {
    // A thread ends before the store, and its transaction with it.
    thread_local std::unique_ptr<rocksdb::Transaction> transaction;
    thread_local const void* of = nullptr;
    if (of != this) transaction.reset();
    of = this;
    for (;;) {
      transaction.reset(db_->BeginTransaction({}, TransactionOptions(), transaction.release()));
      const rocksdb::Status s = AddOne(transaction.get(), counter);
      if (s.ok()) return absl::OkStatus();
      const bool is_conflict = s.IsBusy() || s.IsTimedOut() || s.IsTryAgain();
      if (!is_conflict) return ToStatus(s);
      (void)transaction->Rollback();
    }
  }

 private:
  rocksdb::DB* db() override { return db_.get(); }
  const std::unique_ptr<TransactionDatabase> db_;
};
using OptimisticStore =
    TransactionStore<rocksdb::OptimisticTransactionDB, rocksdb::OptimisticTransactionOptions>;
using LockingStore = TransactionStore<rocksdb::TransactionDB, rocksdb::TransactionOptions>;

class MergeStore final : public RocksDBStore {
 public:
  explicit MergeStore(rocksdb::DB* db) : db_(db) {}

  absl::Status Increment(uint64_t counter) override {
    const Key key(counter);
    const Number one = Encode(1);
    return ToStatus(db_->Merge({}, ToSlice(key.view()), ToSlice({one.data(), one.size()})));
  }

 private:
  rocksdb::DB* db() override { return db_.get(); }
  const std::unique_ptr<rocksdb::DB> db_;
};

absl::StatusOr<std::unique_ptr<Store>> OpenOptimistic(const std::string& directory) {
  rocksdb::OptimisticTransactionDB* db = nullptr;
  absl::Status s = ToStatus(rocksdb::OptimisticTransactionDB::Open(Settings(), directory, &db));
  if (!s.ok()) return s;
  return std::make_unique<OptimisticStore>(db);
}

absl::StatusOr<std::unique_ptr<Store>> OpenLocking(const std::string& directory) {
  rocksdb::TransactionDB* db = nullptr;
  absl::Status s = ToStatus(
      rocksdb::TransactionDB::Open(Settings(), rocksdb::TransactionDBOptions(), directory, &db));
  if (!s.ok()) return s;
  return std::make_unique<LockingStore>(db);
}

absl::StatusOr<std::unique_ptr<Store>> OpenMerge(const std::string& directory) {
  rocksdb::DB* db = nullptr;
  absl::Status s = ToStatus(rocksdb::DB::Open(Settings(), directory, &db));
  if (!s.ok()) return s;
  return std::make_unique<MergeStore>(db);
}

}  // namespace

std::vector<StoreKind> RocksDBStores() {
  return {{"rocksdb_optimistic", "optimistic transaction", OpenOptimistic},
          {"rocksdb_locking", "locking transaction", OpenLocking},
          {"rocksdb_merge", "merge operator", OpenMerge}};
}

}  // namespace bench
