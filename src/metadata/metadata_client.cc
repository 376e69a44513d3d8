#include "metadata/metadata_client.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bigtable/filter.h"

#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "metadata/metadata_format.h"
#include "rpc/answer.h"
#include "rpc/cell_block.h"
#include "rpc/filter_format.h"
#include "rpc/move_wait.h"

namespace bigtable {
namespace {

// The retries of one call: without limit, until the servers are to end. Then they are replaced soon
// or not at all, and a message may still be lost a few times.
class Retry {
 public:
  explicit Retry(MetadataServers* servers) : servers_(servers) {}
  // Waits a little. False: give up, perhaps because of the limits.
  bool Wait(const CallLimits& limits = {}) {
    const absl::Duration most = servers_->RetryTimeout();
    if (most < absl::InfiniteDuration()) {
      const SteadyTime now = SteadyTime::Now();
      ending_since_ = std::min(ending_since_, now);
      if (now - ending_since_ > most) return false;
    }
    return wait_.Wait(limits).ok();
  }

 private:
  MetadataServers* const servers_;
  MoveWait wait_;
  SteadyTime ending_since_ = SteadyTime::InfiniteFuture();
};

absl::Status NoServer(std::string_view what) {
  return absl::UnavailableError(Cat(what, " is on no server"));
}

// All reads of METADATA use this filter.
std::string_view NewestOnly() {
  static const std::string encoded = EncodeFilter(Filter::Latest(1)).value();
  return encoded;
}

// Whether the response has `row_limit` rows; 0: no limit, so never.
bool IsEnough(const ScanResponse& response, uint64_t row_limit) {
  if (row_limit == 0) return false;
  CellBlockReader cells(response.cells);
  uint64_t rows = 0;
  while (cells.Next()) rows += cells.is_new_row() ? 1 : 0;
  return rows >= row_limit;
}

}  // namespace

// --- Finding a row ---

absl::StatusOr<MetadataClient::Location> MetadataClient::Locate(std::string_view row, bool waits,
                                                                const CallLimits& limits) {
  if (RootRows().Contains(row)) return LocateRoot();
  {
    MutexLock lock(&mutex_);
    const auto next = tablets_.upper_bound(row);
    if (next != tablets_.begin() && std::prev(next)->second.rows.Contains(row)) {
      return std::prev(next)->second;
    }
  }
  return LocateInRoot(row, waits, limits);
}

absl::StatusOr<MetadataClient::Location> MetadataClient::LocateRoot() {
  {
    MutexLock lock(&mutex_);
    if (root_.has_value()) return *root_;
  }
  root_file_lookups_.fetch_add(1, std::memory_order_relaxed);
  Location found{RootRows(), servers_->RootServer(), nullptr};
  found.service = servers_->FindService(found.server);
  if (found.service == nullptr) return NoServer("METADATA's root tablet");
  MutexLock lock(&mutex_);
  root_ = found;
  return found;
}

absl::StatusOr<MetadataClient::Location> MetadataClient::LocateInRoot(std::string_view row,
                                                                      bool waits,
                                                                      const CallLimits& limits) {
  root_tablet_lookups_.fetch_add(1, std::memory_order_relaxed);
  BT_ASSIGN_OR_RETURN(const std::vector<TabletLocation> found,
                      table_.FindTablets(kMetadataTableId, row, kPrefetched, waits, limits));
  MutexLock lock(&mutex_);
  for (const TabletLocation& tablet : found) {
    DataService* const service = servers_->FindService(tablet.server);
    if (service == nullptr) continue;
    // Tablets that it overlaps have changed.
    std::erase_if(tablets_, [&](const auto& known) {
      const RowRange& rows = known.second.rows;
      return rows.Contains(tablet.rows.begin()) || tablet.rows.Contains(rows.begin());
    });
    tablets_.insert_or_assign(std::string(tablet.rows.begin()),
                              Location{tablet.rows, tablet.server, service});
  }
  const auto first = tablets_.find(found.front().rows.begin());
  // An entry for a tablet that is on no server may be outdated.
  if (first == tablets_.end() || !first->second.rows.Contains(row)) {
    return NoServer("a tablet of METADATA");
  }
  return first->second;
}

void MetadataClient::Forget(const Location& location) {
  MutexLock lock(&mutex_);
  if (root_.has_value() && root_->server == location.server) root_.reset();
  const auto found = tablets_.find(location.rows.begin());
  if (found != tablets_.end() && found->second.server == location.server) tablets_.erase(found);
}

void MetadataClient::ForgetAll() {
  MutexLock lock(&mutex_);
  root_.reset();
  tablets_.clear();
}

MetadataLookups MetadataClient::lookups() const {
  return {.root_file = root_file_lookups_.load(std::memory_order_relaxed),
          .root_tablet = root_tablet_lookups_.load(std::memory_order_relaxed)};
}

// --- Writes ---

absl::Status MetadataClient::Mutate(absl::Span<const EncodedMutation> mutations,
                                    Durability durability) {
  if (mutations.empty()) return absl::OkStatus();
  BT_RETURN_IF_ERROR(servers_->CheckDirectory());
  RequestSlots::Lease slot(&slots_);
  for (Retry retry(servers_);;) {
    std::optional<absl::Status> done = TryMutate(mutations, durability, &slot);
    if (done.has_value()) return *std::move(done);
    if (!retry.Wait()) return NoServer("METADATA");
  }
}

std::optional<absl::Status> MetadataClient::TryMutate(absl::Span<const EncodedMutation> mutations,
                                                      Durability durability,
                                                      RequestSlots::Lease* slot) {
  const absl::StatusOr<Location> location = Locate(mutations.front().row, true);
  if (absl::IsUnavailable(location.status())) return std::nullopt;
  if (!location.ok()) return location.status();
  for (const EncodedMutation& mutation : mutations) {
    if (location->rows.Contains(mutation.row)) continue;
    return absl::FailedPreconditionError(Cat("the rows ", Quoted(mutations.front().row), " and ",
                                             Quoted(mutation.row),
                                             " of METADATA are in different tablets"));
  }
  const MutateRequest request{.server = location->server,
                              .table_id = kMetadataTableId,
                              .id = slot->Next(),
                              .durability = durability,
                              .is_batch = mutations.size() > 1,
                              .mutations = {mutations.begin(), mutations.end()}};
  absl::StatusOr<MutateResponse> response = location->service->Mutate(request);
  for (Retry retry(servers_); IsLost(response.status());) {
    if (servers_->HasEnded(location->server)) break;
    if (!retry.Wait()) return response.status();
    response = location->service->Mutate(request);
  }
  const bool is_answered = response.ok() && response->verdict == MutateResponse::Verdict::kDone;
  if (!is_answered) {
    if (!response.ok() && !IsLost(response.status())) return response.status();
    Forget(*location);
    return std::nullopt;
  }
  BT_RETURN_IF_ERROR(CheckAnswer(request, *response));
  for (const absl::Status& status : response->statuses) {
    // It may be in the server's log, but no response will confirm it: see the top of the header.
    if (absl::IsUnavailable(status) && servers_->HasEnded(location->server)) {
      Forget(*location);
      return std::nullopt;
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

bool MetadataClient::AreTogether(absl::Span<const EncodedMutation> mutations) {
  if (mutations.size() <= 1) return true;
  const absl::StatusOr<Location> location = Locate(mutations.front().row, true);
  // Mutate reports the error.
  if (!location.ok()) return true;
  for (const EncodedMutation& mutation : mutations) {
    if (!location->rows.Contains(mutation.row)) return false;
  }
  return true;
}

// --- Reads ---

absl::StatusOr<ScanResponse> MetadataClient::TryScan(const MetadataRead& read,
                                                     const RowRange& range, uint64_t row_limit,
                                                     std::optional<SequenceNumber> sequence) {
  BT_ASSIGN_OR_RETURN(const Location location, Locate(range.begin(), read.waits, read.limits));
  absl::StatusOr<ScanResponse> response =
      location.service->Scan({.server = location.server,
                              .table_id = kMetadataTableId,
                              .range = range,
                              .filter = NewestOnly(),
                              .sequence = sequence,
                              .row_limit = row_limit,
                              .timeout = read.limits.deadline.left(),
                              .cancellation = read.limits.cancellation});
  if (!response.ok()) {
    if (!IsLost(response.status())) return response.status();
    if (servers_->HasEnded(location.server)) Forget(location);
    return NoServer("METADATA");
  }
  if (!response->superseded) return response;
  Forget(location);
  return NoServer("METADATA");
}

absl::StatusOr<ScanResponse> MetadataClient::Scan(const MetadataRead& read, const RowRange& range,
                                                  uint64_t row_limit,
                                                  std::optional<SequenceNumber> sequence) {
  for (Retry retry(servers_);;) {
    absl::StatusOr<ScanResponse> response = TryScan(read, range, row_limit, sequence);
    if (!response.ok() || !response->status.ok()) BT_RETURN_IF_ERROR(read.limits.Check());
    if (!absl::IsUnavailable(response.status())) return response;
    // Once more without waiting: the location was forgotten in the first try.
    if (!read.waits) return TryScan(read, range, row_limit, sequence);
    if (!retry.Wait(read.limits)) return response;
  }
}

absl::Status MetadataClient::Read(const MetadataRead& read,
                                  absl::FunctionRef<absl::Status(const ReadCell&)> sink) {
  std::optional<SnapshotHold> snapshot;
  uint64_t rows = 0;
  std::optional<RowRange> left = read.range;
  while (left.has_value()) {
    const uint64_t row_limit = read.row_limit == 0 ? 0 : read.row_limit - rows;
    std::optional<SequenceNumber> sequence;
    if (snapshot.has_value()) sequence = snapshot->sequence();
    BT_ASSIGN_OR_RETURN(const ScanResponse response, Scan(read, *left, row_limit, sequence));
    const bool is_all = !response.rest.has_value() || IsEnough(response, row_limit);
    if (!is_all && !snapshot.has_value()) {
      snapshot.emplace(snapshots_);  // reads the first part again, at the snapshot
      continue;
    }
    CellBlockReader cells(response.cells);
    while (cells.Next()) {
      if (cells.is_new_row()) ++rows;
      BT_RETURN_IF_ERROR(sink(cells.cell()));
    }
    if (!cells.ok())
      return absl::InternalError("METADATA: a server's response has malformed cells");
    if (absl::IsUnavailable(response.status)) {
      // An error of a file, which is not retried.
      return absl::InternalError(Cat("METADATA: ", ToStd(response.status.message())));
    }
    BT_RETURN_IF_ERROR(response.status);
    if (is_all) break;
    left = response.rest;
  }
  return absl::OkStatus();
}

}  // namespace bigtable
