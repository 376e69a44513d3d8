#include "metadata/remote_metadata.h"

#include <algorithm>
#include <optional>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/filter.h"

#include "base/status.h"
#include "base/strings.h"
#include "rpc/cell_block.h"
#include "rpc/filter_format.h"

namespace bigtable {
namespace {

// `send` until there is an answer.
template <typename Send>
auto UntilAnswered(Send send) {
  constexpr absl::Duration kLongest = absl::Milliseconds(10);
  for (absl::Duration wait = absl::Microseconds(20);; wait = std::min(2 * wait, kLongest)) {
    auto response = send();
    const absl::Status& status = response.status();
    if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return response;
    absl::SleepFor(wait);
  }
}

class HeldSnapshot {
 public:
  explicit HeldSnapshot(SnapshotList* list) : list_(list), sequence_(list->Take()) {}
  ~HeldSnapshot() { list_->Release(sequence_); }
  HeldSnapshot(const HeldSnapshot&) = delete;
  HeldSnapshot& operator=(const HeldSnapshot&) = delete;

  SequenceNumber sequence() const { return sequence_; }

 private:
  SnapshotList* const list_;
  const SequenceNumber sequence_;
};

}  // namespace

absl::Status RemoteMetadata::ApplyMutation(const ApplyRequest& request) {
  return Mutate({.table_id = request.table_id,
                 .durability = request.durability,
                 .mutations = {{request.row, request.operations}}});
}

absl::Status RemoteMetadata::ApplyBatch(const ApplyBatchRequest& request) {
  if (request.rows.empty()) return absl::OkStatus();
  return Mutate({.table_id = request.table_id,
                 .durability = request.durability,
                 .is_batch = true,
                 .mutations = {request.rows.begin(), request.rows.end()}});
}

absl::Status RemoteMetadata::Mutate(MutateRequest request) {
  RequestSlots::Lease slot(&slots_);
  request.server = server_;
  request.id = slot.Next();
  BT_ASSIGN_OR_RETURN(const MutateResponse response,
                      UntilAnswered([&] { return service_->Mutate(request); }));
  if (response.verdict != MutateResponse::Verdict::kDone) {
    return absl::UnavailableError(Cat("METADATA is not on server ", server_));
  }
  if (response.statuses.size() != request.mutations.size()) {
    return absl::InternalError(Cat("server ", server_, " has answered for ",
                                   response.statuses.size(), " mutations of ",
                                   request.mutations.size()));
  }
  for (const absl::Status& status : response.statuses) BT_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

absl::Status RemoteMetadata::Read(const ReadRequest& request,
                                  absl::FunctionRef<absl::Status(const ReadCell&)> sink) {
  const HeldSnapshot moment(snapshots_);
  BT_ASSIGN_OR_RETURN(const std::string filter, EncodeFilter(Filter::Latest(1)));
  std::optional<RowRange> left = request.range;
  while (left.has_value()) {
    const ScanRequest scan{.server = server_,
                           .table_id = request.table_id,
                           .range = *left,
                           .filter = filter,
                           .sequence = moment.sequence()};
    BT_ASSIGN_OR_RETURN(const ScanResponse response,
                        UntilAnswered([&] { return service_->Scan(scan); }));
    if (response.moved) {
      return absl::UnavailableError(Cat("METADATA is not on server ", server_));
    }
    CellBlockReader cells(response.cells);
    while (cells.Next()) BT_RETURN_IF_ERROR(sink(cells.cell()));
    if (!cells.ok()) return absl::InternalError(Cat("cells of server ", server_, " are none"));
    BT_RETURN_IF_ERROR(response.status);
    left = response.rest;
  }
  return absl::OkStatus();
}

}  // namespace bigtable
