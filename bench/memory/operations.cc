#include "operations.h"

#include <algorithm>
#include <cstddef>

#include "common/strings.h"

namespace bench {
namespace {

constexpr double kSkew = 0.99;
constexpr int64_t kBatchSize = 64;
constexpr int64_t kUnderWay = 64;
constexpr uint64_t kCheckInterval = 32;

// The first word, the last one, and one in the middle.
bool IsValue(std::string_view value, std::string_view expected) {
  constexpr size_t kWord = 8;
  for (const size_t at : {size_t{0}, kValueSize / 2, kValueSize - kWord}) {
    if (value.substr(at, kWord) != expected.substr(at, kWord)) return false;
  }
  return true;
}

}  // namespace

const OperationKind& OperationKindNamed(std::string_view name) {
  return *std::find_if(kOperationKinds.begin(), kOperationKinds.end(),
                       [name](const OperationKind& kind) { return kind.name == name; });
}

Operations::Operations(Subject* subject, std::string_view kind, uint64_t rows)
    : subject_(subject), run_(RunOf(kind)), first_rows_(rows), rows_(rows), ranks_(rows, kSkew) {}

Operations::~Operations() {
  const auto is_over = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return under_way_ == 0; };
  const absl::MutexLock lock(&mutex_, absl::Condition(&is_over));
}

Operations::Run Operations::RunOf(std::string_view kind) {
  if (kind == "random_reads") return &Operations::RandomRead;
  if (kind == "zipf_reads" || kind == "ycsb_c") return &Operations::ZipfRead;
  if (kind == "batches") return &Operations::Batch;
  if (kind == "async_reads") return &Operations::AsyncRead;
  if (kind == "scans_10") return &Operations::Scan10;
  if (kind == "short_scans") return &Operations::ShortScan;
  if (kind == "mixed") return &Operations::Mixed;
  if (kind == "half_zipf") return &Operations::HalfZipf;
  if (kind == "ycsb_a") return &Operations::YcsbA;
  if (kind == "ycsb_b") return &Operations::YcsbB;
  if (kind == "ycsb_d") return &Operations::YcsbD;
  if (kind == "ycsb_e") return &Operations::YcsbE;
  if (kind == "ycsb_f") return &Operations::YcsbF;
  return &Operations::LongScan;
}

// The bytes of one row in 32 are compared, because what they are compared with is rarely in the
// CPU's caches.
absl::Status Operations::Check(uint64_t row, std::string_view value) {
  Touch(value);
  const bool is_right = value.size() == kValueSize &&
                        (++checks_ % kCheckInterval != 0 || IsValue(value, values_.Of(row)));
  return is_right ? absl::OkStatus()
                  : absl::DataLossError(Concat("row ", row, " has another value"));
}

absl::Status Operations::CheckRow(uint64_t row, const RowCursor& cursor) {
  if (row % kCheckInterval == 0 && cursor.key() != Key(row).view()) {
    return absl::DataLossError(Concat("row ", row, " of a scan has the key ", cursor.key()));
  }
  return Check(row, cursor.value());
}

absl::StatusOr<int64_t> Operations::Read(uint64_t row) {
  const absl::StatusOr<std::string_view> value = subject_->Get(Key(row).view());
  if (!value.ok()) return value.status();
  if (absl::Status s = Check(row, *value); !s.ok()) return s;
  return 1;
}

absl::StatusOr<int64_t> Operations::Batch() {
  batch_rows_.clear();
  batch_keys_.clear();
  batch_views_.clear();
  for (int64_t i = 0; i < kBatchSize; ++i) {
    batch_rows_.push_back(random_.Below(rows_));
    batch_keys_.emplace_back(batch_rows_.back());
  }
  for (const Key& key : batch_keys_) batch_views_.push_back(key.view());
  if (absl::Status s = subject_->GetBatch(batch_views_, &batch_values_); !s.ok()) return s;
  if (batch_values_.size() != batch_rows_.size()) {
    return absl::InternalError(Concat("a batch had ", batch_values_.size(), " rows"));
  }
  for (size_t i = 0; i < batch_rows_.size(); ++i) {
    if (absl::Status s = Check(batch_rows_[i], batch_values_[i]); !s.ok()) return s;
  }
  return kBatchSize;
}

// Counts when it begins; a measurement ends with 64 at most that are not there yet.
absl::StatusOr<int64_t> Operations::AsyncRead() {
  {
    const auto has_room = [this]()
                              ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return under_way_ < kUnderWay; };
    const absl::MutexLock lock(&mutex_, absl::Condition(&has_room));
    if (!failed_.ok()) return failed_;
    ++under_way_;
  }
  const uint64_t row = random_.Below(rows_);
  subject_->GetAsync(Key(row).view(), [this, row](const absl::StatusOr<std::string_view>& value) {
    absl::Status status = value.status();
    if (value.ok()) {
      Touch(*value);
      const bool is_right = value->size() == kValueSize &&
                            (row % kCheckInterval != 0 || IsValue(*value, values_.Of(row)));
      if (!is_right) status = absl::DataLossError(Concat("row ", row, " has another value"));
    }
    const absl::MutexLock lock(&mutex_);
    --under_way_;
    failed_.Update(status);
  });
  return 1;
}

absl::StatusOr<int64_t> Operations::Scan(uint64_t first, uint64_t limit) {
  const Key key(first);
  const std::unique_ptr<RowCursor> cursor = subject_->Scan(key.view(), limit);
  uint64_t count = 0;
  for (; count < limit && cursor->Next(); ++count) {
    if (absl::Status s = CheckRow(first + count, *cursor); !s.ok()) return s;
  }
  if (absl::Status s = cursor->status(); !s.ok()) return s;
  if (count != limit) {
    return absl::DataLossError(Concat("a scan of ", limit, " rows had ", count));
  }
  return 1;
}

// The next thousand rows.
absl::StatusOr<int64_t> Operations::LongScan() {
  constexpr int64_t kStep = 1000;
  for (int64_t count = 0; count < kStep; ++count) {
    if (cursor_ == nullptr) {
      cursor_ = subject_->Scan(Key(0).view(), kNoLimit);
      next_row_ = 0;
    }
    if (!cursor_->Next()) {
      if (absl::Status s = cursor_->status(); !s.ok()) return s;
      cursor_.reset();
      if (next_row_ != rows_) {
        return absl::DataLossError(Concat("a scan of ", rows_, " rows had ", next_row_));
      }
      --count;
      continue;
    }
    if (absl::Status s = CheckRow(next_row_++, *cursor_); !s.ok()) return s;
  }
  return kStep;
}

// Near the end of the table there are fewer rows.
absl::StatusOr<int64_t> Operations::ZipfScan() {
  const uint64_t first = ZipfRow();
  return Scan(first, std::min(1 + random_.Below(100), rows_ - first));
}

absl::StatusOr<int64_t> Operations::Write(uint64_t row) {
  if (absl::Status s = subject_->Write(Key(row).view(), values_.Of(row)); !s.ok()) return s;
  return 1;
}

absl::StatusOr<int64_t> Operations::ReadAndWrite() {
  const uint64_t row = ZipfRow();
  if (absl::StatusOr<int64_t> read = Read(row); !read.ok()) return read;
  return Write(row);
}

absl::StatusOr<int64_t> Operations::WriteNew() {
  absl::StatusOr<int64_t> written = Write(rows_);
  if (written.ok()) ++rows_;
  return written;
}

}  // namespace bench
