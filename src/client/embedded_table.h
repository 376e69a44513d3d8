// The table of an embedded database as Table needs it: joins the calls on tablets (routing/) with
// observers and atomic operations (transaction/).
#ifndef BIGTABLE_CLIENT_EMBEDDED_TABLE_H_
#define BIGTABLE_CLIENT_EMBEDDED_TABLE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/row.h"
#include "bigtable/row_mutation.h"

#include "monitoring/call_timer.h"
#include "routing/table_impl.h"
#include "routing/table_route.h"
#include "transaction/transaction_domain.h"

namespace bigtable {

// Thread-safe.
class EmbeddedTable final : public TableImpl {
 public:
  EmbeddedTable(std::shared_ptr<TransactionDomain> domain, std::shared_ptr<TableRoute> r,
                std::shared_ptr<TableMonitor> m, std::string name, std::optional<std::string> c)
      : TableImpl(domain->database, std::move(r), std::move(m), std::move(name), std::move(c)),
        domain_(std::move(domain)) {}

  absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) override;
  std::vector<absl::Status> ApplyBatch(absl::Span<const RowMutation> mutations,
                                       const WriteOptions& options) override;
  absl::StatusOr<bool> CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                         const RowMutation& if_matched, const RowMutation& if_not,
                                         const WriteOptions& options) override;
  absl::StatusOr<Row> ReadModifyWriteRow(const ReadModifyWrite& rules,
                                         const WriteOptions& options) override;
  absl::Status MutateRowAtomically(
      std::string_view row, const Filter& filter,
      absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> function,
      const WriteOptions& options) override;

 private:
  absl::Status ApplyMeasured(const RowMutation& mutation, const WriteOptions& options);
  void ApplyBatchMeasured(absl::Span<const RowMutation> mutations, const WriteOptions& options,
                          absl::Span<absl::Status> statuses);

  const std::shared_ptr<TransactionDomain> domain_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_EMBEDDED_TABLE_H_
