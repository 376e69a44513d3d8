#include "remote/data/batch_writer.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "absl/time/time.h"

#include "base/status.h"
#include "base/strings.h"
#include "convert/limits.h"
#include "convert/mutation.h"
#include "convert/status.h"
#include "remote/calls/attempt.h"
#include "remote/calls/poll_interval.h"
#include "remote/calls/retries.h"

namespace bigtable::remote {
namespace {

using google::bigtable::v2::MutateRowsResponse;

}  // namespace

// --- OutstandingBytes ---

absl::Status OutstandingBytes::Take(uint64_t bytes, const CallLimits& limits,
                                    const Connection& connection) {
  while (!TryTake(bytes)) {
    BT_RETURN_IF_ERROR(limits.Check());
    BT_RETURN_IF_ERROR(connection.CheckOpen());
  }
  return absl::OkStatus();
}

bool OutstandingBytes::TryTake(uint64_t bytes) {
  MutexLock lock(&mutex_);
  if (taken_ != 0 && taken_ + bytes > most_) (void)changed_.WaitFor(&mutex_, kPollInterval);
  if (taken_ != 0 && taken_ + bytes > most_) return false;
  taken_ += bytes;
  return true;
}

void OutstandingBytes::GiveBack(uint64_t bytes) {
  MutexLock lock(&mutex_);
  taken_ -= bytes;
  changed_.SignalAll();
}

// --- BatchWriter ---

BatchWriter::BatchWriter(Connection* connection, OutstandingBytes* outstanding,
                         const std::string* table, const CallLimits* limits)
    : connection_(connection), outstanding_(outstanding), table_(table), limits_(limits) {}

void BatchWriter::Apply(absl::Span<const RowMutation> mutations,
                        absl::Span<absl::Status> statuses) {
  const Timestamp now = connection_->Now();
  // The n-th mutation of each row is in the n-th round.
  std::map<std::string_view, size_t> seen;
  std::vector<std::vector<size_t>> rounds;
  for (size_t i = 0; i < mutations.size(); ++i) {
    if (!statuses[i].ok()) continue;
    const size_t round = seen[mutations[i].row()]++;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].push_back(i);
  }
  for (const std::vector<size_t>& round : rounds) {
    std::vector<Pending> pending;
    for (const size_t i : round) {
      Pending next{.index = i, .entry = {}, .bytes = 0, .is_idempotent = false};
      next.entry.set_row_key(std::string(mutations[i].row()));
      statuses[i] = convert::AppendMutations(mutations[i], now, next.entry.mutable_mutations());
      if (!statuses[i].ok()) continue;
      next.bytes = next.entry.ByteSizeLong();
      next.is_idempotent = convert::IsIdempotent(next.entry.mutations());
      pending.push_back(std::move(next));
    }
    ApplyRound(std::move(pending), statuses);
  }
}

void BatchWriter::ApplyRound(std::vector<Pending> pending, absl::Span<absl::Status> statuses) {
  // The first is last, so that a message is taken from the end.
  std::reverse(pending.begin(), pending.end());
  while (!pending.empty()) SendMessage(&pending, statuses);
}

void BatchWriter::SendMessage(std::vector<Pending>* pending, absl::Span<absl::Status> statuses) {
  std::vector<Pending> message;
  size_t bytes = 0;
  int operations = 0;
  while (!pending->empty()) {
    const Pending& next = pending->back();
    const bool fits = bytes + next.bytes <= kMostMessageBytes &&
                      operations + next.entry.mutations_size() <= convert::kMaxMutations;
    if (!message.empty() && !fits) break;
    bytes += next.bytes;
    operations += next.entry.mutations_size();
    message.push_back(std::move(pending->back()));
    pending->pop_back();
  }
  const absl::Status taken = outstanding_->Take(bytes, *limits_, *connection_);
  if (!taken.ok()) {
    for (const Pending& entry : message) statuses[entry.index] = taken;
    return;
  }
  Retries retries(connection_, limits_);
  while (true) {
    const absl::Status sent = Send(message, statuses);
    std::erase_if(message, [&](const Pending& entry) {
      return !entry.is_idempotent || !IsPassing(statuses[entry.index]);
    });
    if (message.empty()) break;
    const absl::Status& error = sent.ok() ? statuses[message.front().index] : sent;
    if (const absl::Status paused = retries.Pause(error); !paused.ok()) {
      // Each keeps its own error, unless the limits ended the call.
      if (!IsPassing(paused)) {
        for (const Pending& entry : message) statuses[entry.index] = paused;
      }
      break;
    }
  }
  outstanding_->GiveBack(bytes);
}

absl::Status BatchWriter::Send(const std::vector<Pending>& message,
                               absl::Span<absl::Status> statuses) {
  const auto set_all = [&](const absl::Status& status) {
    for (const Pending& entry : message) statuses[entry.index] = status;
    return status;
  };
  Request request;
  request.set_table_name(*table_);
  request.set_app_profile_id(connection_->options().app_profile);
  for (const Pending& entry : message) *request.add_entries() = entry.entry;
  Attempt attempt(connection_, limits_);
  if (const absl::Status prepared = attempt.Prepare("table_name", *table_); !prepared.ok()) {
    return set_all(prepared);
  }
  const auto reader =
      connection_->data()->PrepareAsyncMutateRows(attempt.context(), request, attempt.queue());
  reader->StartCall(&attempt);
  (void)attempt.Wait();
  // What the server does not report has failed as the call did.
  std::vector<bool> is_known(message.size(), false);
  MutateRowsResponse response;
  reader->Read(&response, &attempt);
  while (attempt.Wait()) {
    for (const MutateRowsResponse::Entry& entry : response.entries()) {
      if (entry.index() < 0 || static_cast<size_t>(entry.index()) >= message.size()) continue;
      const auto i = static_cast<size_t>(entry.index());
      statuses[message[i].index] = convert::ToStatus(entry.status());
      is_known[i] = true;
    }
    response.Clear();
    reader->Read(&response, &attempt);
  }
  grpc::Status ended;
  reader->Finish(&ended, &attempt);
  (void)attempt.Wait();
  absl::Status result = attempt.ResultOf(ended);
  const absl::Status unknown =
      result.ok() ? absl::InternalError("the server has not said whether it applied the mutation")
                  : result;
  for (size_t i = 0; i < message.size(); ++i) {
    if (!is_known[i]) statuses[message[i].index] = unknown;
  }
  return result;
}

}  // namespace bigtable::remote
