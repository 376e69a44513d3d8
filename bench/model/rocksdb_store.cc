// RocksDB's ways, with the settings of the paper's benchmarks (../paper/peer_settings.h): counters,
// a key each, by an optimistic transaction, by a transaction that locks the key, and by the merge
// operator; its WriteBatch; and transactions of both kinds.
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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
#include "rocksdb/write_batch.h"
#include "store.h"

namespace bench {
namespace {

absl::Status ToStatus(const rocksdb::Status& s) {
  if (s.ok()) return absl::OkStatus();
  return absl::InternalError(Concat("RocksDB: ", s.ToString()));
}

rocksdb::Slice ToSlice(std::string_view s) { return {s.data(), s.size()}; }

using NumberBytes = std::array<char, sizeof(int64_t)>;

NumberBytes Encode(int64_t number) {
  NumberBytes bytes;
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
    const NumberBytes sum = Encode(*before + *amount);
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
  absl::StatusOr<int64_t> Number(uint64_t row) override {
    const Key key(row);
    std::string value;
    const rocksdb::Status s = db()->Get({}, ToSlice(key.view()), &value);
    if (s.IsNotFound()) return 0;
    if (!s.ok()) return ToStatus(s);
    return Decode(value);
  }
  absl::StatusOr<std::string> Value(uint64_t row) override {
    const Key key(row);
    std::string value;
    const rocksdb::Status s = db()->Get({}, ToSlice(key.view()), &value);
    if (!s.ok()) return ToStatus(s);
    return value;
  }

 protected:
  virtual rocksdb::DB* db() = 0;

  // Adds to the number of a row, which the transaction then depends on. Busy and TimedOut: to be
  // tried again.
  static rocksdb::Status Add(rocksdb::Transaction* transaction, uint64_t row, int64_t amount) {
    const Key key(row);
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
    const NumberBytes after = Encode(before + amount);
    return transaction->Put(ToSlice(key.view()), ToSlice({after.data(), after.size()}));
  }
};

// Transactions of either kind: an object for each thread, which its next transaction reuses.
template <typename TransactionDatabase, typename TransactionOptions>
class TransactionStore final : public RocksDBStore {
 public:
  explicit TransactionStore(TransactionDatabase* db) : db_(db) {}

  absl::Status Increment(uint64_t row) override {
    return Run([&](rocksdb::Transaction* transaction) { return Add(transaction, row, 1); });
  }
  absl::Status Transfer(uint64_t from, uint64_t to) override {
    return Run([&](rocksdb::Transaction* transaction) {
      const rocksdb::Status s = Add(transaction, from, -1);
      return s.ok() ? Add(transaction, to, 1) : s;
    });
  }

 private:
  template <typename Function>
  absl::Status Run(Function function) {
    // A thread ends before the store, and its transaction with it.
    thread_local std::unique_ptr<rocksdb::Transaction> transaction;
    thread_local const void* of = nullptr;
    if (of != this) transaction.reset();
    of = this;
    for (;;) {
      transaction.reset(db_->BeginTransaction({}, TransactionOptions(), transaction.release()));
      rocksdb::Status s = function(transaction.get());
      if (s.ok()) s = transaction->Commit();
      if (s.ok()) return absl::OkStatus();
      const bool is_conflict = s.IsBusy() || s.IsTimedOut() || s.IsTryAgain();
      if (!is_conflict) return ToStatus(s);
      (void)transaction->Rollback();
    }
  }

  rocksdb::DB* db() override { return db_.get(); }
  const std::unique_ptr<TransactionDatabase> db_;
};
using OptimisticStore =
    TransactionStore<rocksdb::OptimisticTransactionDB, rocksdb::OptimisticTransactionOptions>;
using LockingStore = TransactionStore<rocksdb::TransactionDB, rocksdb::TransactionOptions>;

// Without transactions.
class PlainStore final : public RocksDBStore {
 public:
  explicit PlainStore(rocksdb::DB* db) : db_(db) {}

  absl::Status Increment(uint64_t row) override {
    const Key key(row);
    const NumberBytes one = Encode(1);
    return ToStatus(db_->Merge({}, ToSlice(key.view()), ToSlice({one.data(), one.size()})));
  }
  absl::Status WriteBatch(std::span<const uint64_t> rows, std::string_view value) override {
    thread_local rocksdb::WriteBatch batch;
    batch.Clear();
    for (const uint64_t row : rows) {
      const Key key(row);
      const rocksdb::Status s = batch.Put(ToSlice(key.view()), ToSlice(value));
      if (!s.ok()) return ToStatus(s);
    }
    return ToStatus(db_->Write({}, &batch));
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

absl::StatusOr<std::unique_ptr<Store>> OpenPlain(const std::string& directory) {
  rocksdb::DB* db = nullptr;
  absl::Status s = ToStatus(rocksdb::DB::Open(Settings(), directory, &db));
  if (!s.ok()) return s;
  return std::make_unique<PlainStore>(db);
}

}  // namespace

std::vector<StoreKind> RocksDBStores() {
  const std::string name = "rocksdb";
  return {{Work::kIncrements, name, "optimistic transaction", OpenOptimistic},
          {Work::kIncrements, name, "locking transaction", OpenLocking},
          {Work::kIncrements, name, "merge operator", OpenPlain},
          {Work::kBatches, name, "WriteBatch", OpenPlain},
          {Work::kTransactions, name, "optimistic transaction", OpenOptimistic}};
}

}  // namespace bench
