// Table::SampleRowKeys and Table::ApproximateSizes: what tablets estimate about their rows
// (read/size_samples.h), put together.
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/row_key_sample.h"
#include "bigtable/row_range.h"

#include "backend/option_limits.h"
#include "base/call_gate.h"
#include "base/status.h"
#include "cluster/server_host.h"
#include "cluster/server_set.h"
#include "read/size_samples.h"
#include "routing/table_impl.h"
#include "tablet/tablet.h"

namespace bigtable {
namespace {

// The table is divided into this many parts, if it has fewer tablets.
constexpr uint64_t kParts = 256;

// What was found out about these rows, which are in one tablet.
template <typename Value>
struct OfRows {
  RowRange rows;
  Value value;
};

// What `function(samples, rows)` returns for the rows of one tablet after the other; together they
// are `rows`. The caller is inside the gate, with a LongPass.
template <typename Value>
absl::StatusOr<std::vector<OfRows<Value>>> Collect(
    const TableImpl& table, const RowRange& rows, const CallLimits& limits,
    absl::FunctionRef<Value(const SizeSamples& samples, const RowRange& rows)> function) {
  const DatabaseImpl& database = *table.database;
  const auto is_there = [&]() -> absl::Status {
    BT_ASSIGN_OR_RETURN(const bool found,
                        database.schemas->Has(table.name(), table.route->table_id(), limits));
    return found ? absl::OkStatus() : table.DeletedError();
  };
  std::vector<OfRows<Value>> collected;
  const auto add = [&](const HostedTablet& hosted, const RowRange& left) -> absl::Status {
    BT_RETURN_IF_ERROR(limits.Check());
    BT_RETURN_IF_ERROR(hosted.host->data_path()->CheckRead(*hosted.tablet->Layout(), nullptr,
                                                           table.caller, limits));
    SizeSamples samples;
    BT_RETURN_IF_ERROR(samples.Begin(*hosted.tablet, limits));
    // In this order: a removed tablet is emptied.
    if (hosted.tablet->flags().removed()) return table.DeletedError();
    // What was collected from a tablet that was superseded then.
    while (!collected.empty() && collected.back().rows.begin() >= left.begin()) {
      collected.pop_back();
    }
    collected.push_back({left, function(samples, left)});
    return absl::OkStatus();
  };
  BT_RETURN_IF_ERROR(database.cluster->servers()->ForEachTablet(table.route->table_id(), rows,
                                                                limits, is_there, add));
  return collected;
}

// The samples of some rows.
struct Division {
  std::vector<RowKeySample> parts;
  uint64_t size = 0;
};

}  // namespace

absl::StatusOr<std::vector<RowKeySample>> TableImpl::SampleRowKeys(const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  const CallGate::LongPass pass(&database->gate);
  if (!pass) return database->ClosedError();
  BT_ASSIGN_OR_RETURN(
      std::vector<OfRows<Division>> tablets,
      Collect<Division>(*this, RowRange::All(), limits,
                        [](const SizeSamples& samples, const RowRange& rows) {
                          const uint64_t size = samples.SizeOf(rows);
                          return Division{samples.Divide(rows, size / kParts + 1), size};
                        }));
  uint64_t total = 0;
  for (const auto& [rows, division] : tablets) total += division.size;
  std::vector<RowKeySample> result;
  uint64_t before = 0;     // bytes of the tablets before
  uint64_t last_part = 0;  // where the last part begins
  for (auto& [rows, division] : tablets) {
    if (!rows.begin().empty()) result.push_back({rows.begin(), last_part = before});
    for (RowKeySample& part : division.parts) {
      part.offset_bytes += before;
      if (part.offset_bytes - last_part < total / kParts) continue;
      last_part = part.offset_bytes;
      result.push_back(std::move(part));
    }
    before += division.size;
  }
  result.push_back({"", total});
  return result;
}

absl::StatusOr<std::vector<uint64_t>> TableImpl::ApproximateSizes(absl::Span<const RowRange> ranges,
                                                                  const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  const CallGate::LongPass pass(&database->gate);
  if (!pass) return database->ClosedError();
  std::vector<uint64_t> result;
  for (const RowRange& range : ranges) {
    BT_ASSIGN_OR_RETURN(const std::vector<OfRows<uint64_t>> tablets,
                        Collect<uint64_t>(*this, range, limits,
                                          [](const SizeSamples& samples, const RowRange& rows) {
                                            return samples.SizeOf(rows);
                                          }));
    uint64_t& size = result.emplace_back(0);
    for (const auto& [rows, bytes] : tablets) size += bytes;
  }
  return result;
}

}  // namespace bigtable
