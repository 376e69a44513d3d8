#include "bigtable/write_batch.h"

#include "absl/base/macros.h"

#include "bigtable/table.h"

#include "backend/table_backend.h"
#include "base/status.h"
#include "base/strings.h"
#include "schema/mutation_format.h"

namespace bigtable {

absl::Status WriteBatch::CanApply(const RowMutation& mutation) const {
  BT_RETURN_IF_ERROR(mutation.status());
  if (mutations_.size() == kMaxMutations) {
    return absl::InvalidArgumentError(
        Cat("a batch must have at most ", kMaxMutations, " mutations"));
  }
  if (byte_size() + mutation.byte_size() + kOverhead > kMaxSize) {
    return absl::InvalidArgumentError(Cat("a batch must be at most ", kMaxSize, " bytes"));
  }
  return absl::OkStatus();
}

WriteBatch& WriteBatch::Apply(Table* table, const RowMutation& mutation) {
  if (status_.ok()) status_ = CanApply(mutation);
  if (status_.ok()) Add(table, mutation, 0);
  return *this;
}

void WriteBatch::Add(Table* table, const RowMutation& mutation, uint64_t observers) {
  const EncodedMutation encoded = EncodedMutation::Of(mutation);
  const size_t begin = bytes_.size();
  bytes_ += encoded.row;
  bytes_ += encoded.operations;
  mutations_.push_back(
      {table, begin, encoded.row.size(), bytes_.size(), encoded.takes_server_time, observers});
  has_connected_ |= TableBackend::Of(*table)->kind() == TableBackend::Kind::kConnected;
}

void WriteBatch::Truncate(size_t i) {
  ABSL_ASSERT(i <= mutations_.size() && "only what was added can be taken back");
  if (i == mutations_.size()) return;
  bytes_.resize(mutations_[i].begin);
  mutations_.resize(i);
}

void WriteBatch::Clear() {
  bytes_.clear();
  mutations_.clear();
  has_connected_ = false;
  status_ = absl::OkStatus();
}

}  // namespace bigtable
