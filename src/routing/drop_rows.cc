// Table::DropRowRange: a change of tablets, which the master makes (master/tablet_changes.h).
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"

#include "backend/option_limits.h"
#include "base/call_gate.h"
#include "base/status.h"
#include "master/master.h"
#include "routing/table_impl.h"

namespace bigtable {
namespace {

// The first possible row that is not before the bound of a range, since tablets can only begin with
// such rows. Nothing if all are before it.
std::optional<std::string> FirstRowFrom(std::string_view bound) {
  if (bound.size() <= RowMutation::kMaxRowSize) return std::string(bound);
  return RowRange::Prefix(bound.substr(0, RowMutation::kMaxRowSize)).end();
}

// The same rows between possible rows.
RowRange BetweenRows(const RowRange& rows) {
  const std::optional<std::string> begin = FirstRowFrom(rows.begin());
  if (!begin.has_value()) return RowRange::RightOpen("", "");
  std::optional<std::string> end;
  if (rows.end().has_value()) end = FirstRowFrom(*rows.end());
  return end.has_value() ? RowRange::RightOpen(*begin, *end) : RowRange::StartingAt(*begin);
}

}  // namespace

absl::Status TableImpl::DropRowRange(const RowRange& range, const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  const CallGate::LongPass pass(&database->gate);
  if (!pass) return database->ClosedError();
  BT_RETURN_IF_ERROR(database->CheckWritable(limits));
  const RowRange rows = BetweenRows(range);
  if (rows.empty()) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, database->masters->Get(limits));
  return master->tablets()->DropRows(route->table_id(), rows, caller, limits);
}

}  // namespace bigtable
