#include "trial.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"
#include "bigtable/encrypted_file_system.h"

#include "common/measure.h"
#include "common/temporary_directory.h"
#include "common/workload.h"

namespace bench {
namespace {

constexpr std::string_view kColumn = "f:q";
constexpr uint64_t kSyncedWrites = 500;
constexpr uint64_t kSmallBudget = uint64_t{32} << 20;

class EncryptionTrial {
 public:
  EncryptionTrial(const Trial& trial, std::string directory)
      : trial_(trial), directory_(std::move(directory)) {}

  absl::StatusOr<TrialResult> Run() {
    TrialResult result;
    const absl::StatusOr<bigtable::MasterKey> key = bigtable::MasterKey::Generate("bench");
    if (!key.ok()) return key.status();
    keys_.emplace(*key);
    files_.emplace(bigtable::FileSystem::Posix(), &*keys_);
    // For the blocks of all rows, several times, and for memtables and the log.
    const uint64_t large = (uint64_t{512} << 20) + 4 * trial_.rows * kValueSize;
    absl::Status s = Open(large);
    if (s.ok()) s = Write(&result);
    if (s.ok()) s = Open(large);
    if (s.ok()) s = Read(&result.cached_read);
    if (s.ok()) s = Open(kSmallBudget);
    if (s.ok()) s = Read(&result.uncached_read);
    if (s.ok()) s = Scan(&result.scanned_row);
    if (!s.ok()) return s;
    return result;
  }

 private:
  absl::Status Open(uint64_t budget) {
    database_.reset();
    bigtable::DatabaseOptions options;
    options.memory_budget = budget;
    options.read_mode = trial_.read_mode;
    if (trial_.is_encrypted) options.file_system = &*files_;
    auto opened = bigtable::Database::Open(directory_ + "/db", options);
    if (!opened.ok()) return opened.status();
    database_ = *std::move(opened);
    bigtable::TableSchema schema;
    schema.families["f"] = {.gc = bigtable::GcRule::MaxVersions(1)};
    const auto table = database_->OpenOrCreateTable("t", schema);
    if (!table.ok()) return table.status();
    table_ = *table;
    return absl::OkStatus();
  }

  absl::Status Write(TrialResult* result) {
    absl::StatusOr<absl::Duration> cpu = CpuTime();
    if (!cpu.ok()) return cpu.status();
    const absl::Time start = absl::Now();
    for (const uint32_t row : Permutation(trial_.rows, 1)) {
      absl::Status s = Set(row, bigtable::Durability::kBuffered);
      if (!s.ok()) return s;
    }
    result->write = Micros(absl::Now() - start, trial_.rows);
    absl::Status s = database_->Flush("t");
    if (s.ok()) s = database_->WaitUntilQuiet();
    if (!s.ok()) return s;
    const absl::StatusOr<absl::Duration> cpu_after = CpuTime();
    if (!cpu_after.ok()) return cpu_after.status();
    result->write_cpu = Micros(*cpu_after - *cpu, trial_.rows);
    s = SyncFileSystem(directory_);
    if (!s.ok()) return s;
    const absl::Time synced = absl::Now();
    for (uint64_t row = 0; row < kSyncedWrites; ++row) {
      s = Set(row, bigtable::Durability::kSync);
      if (!s.ok()) return s;
    }
    result->synced_write = Micros(absl::Now() - synced, kSyncedWrites);
    return database_->Compact("t");
  }

  absl::Status Set(uint64_t row, bigtable::Durability durability) {
    bigtable::RowMutation mutation(Key(row).view());
    mutation.Set(kColumn, values_.Of(row));
    return table_->Apply(mutation, {.durability = durability});
  }

  // Each row once in another order, which fills the cache and is not timed, and then again.
  absl::Status Read(double* micros) {
    for (const uint64_t seed : {2, 3}) {
      const absl::Time start = absl::Now();
      for (const uint32_t row : Permutation(trial_.rows, seed)) {
        const absl::StatusOr<bigtable::Row> found = table_->ReadRow(Key(row).view());
        if (!found.ok()) return found.status();
        if (found->empty()) return absl::NotFoundError("a row is missing");
        Touch(found->cells().front().value);
      }
      *micros = Micros(absl::Now() - start, trial_.rows);
    }
    return absl::OkStatus();
  }

  absl::Status Scan(double* micros) {
    const absl::Time start = absl::Now();
    bigtable::RowReader rows = table_->ReadRows(bigtable::RowRange::All());
    uint64_t count = 0;
    for (; rows.Next(); ++count) Touch(rows.row().cells().front().value);
    if (!rows.status().ok()) return rows.status();
    if (count != trial_.rows) return absl::NotFoundError("a row is missing");
    *micros = Micros(absl::Now() - start, count);
    return absl::OkStatus();
  }

  static double Micros(absl::Duration time, uint64_t operations) {
    return absl::ToDoubleMicroseconds(time) / static_cast<double>(operations);
  }

  const Trial& trial_;
  const std::string directory_;
  const Values values_;
  std::optional<bigtable::KeyRing> keys_;
  std::optional<bigtable::EncryptedFileSystem> files_;
  std::unique_ptr<bigtable::Database> database_;
  bigtable::Table* table_ = nullptr;
};

}  // namespace

absl::StatusOr<TrialResult> RunTrial(const Trial& trial) {
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(trial.directory, "encryption-");
  if (!directory.ok()) return directory.status();
  return EncryptionTrial(trial, directory->path()).Run();
}

}  // namespace bench
