#include "bigtable/change_stream.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "backend/change_round.h"
#include "backend/option_limits.h"
#include "backend/table_backend.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "read/row_ranges.h"
#include "rows/change_position.h"
#include "schema/observed_operations.h"

namespace bigtable {

static_assert(HasCallOptions<ReadChangesOptions>);

std::vector<ObservedOperation> TableChange::Operations() const {
  return ObservedOperationsOf(mutation);
}

// What a stream is made of.
class ChangeReader {
 public:
  ChangeReader(std::shared_ptr<TableBackend> table, ReadChangesOptions options)
      : table_(std::move(table)), options_(std::move(options)), deadline_(options_.deadline) {
    request_.limits = LimitsOf(options_);
    request_.rows = options_.rows;
    request_.since = options_.since;
    request_.ends_with_tablets = options_.ends_with_tablets;
    status_ = SetPosition();
    // A stream from the present begins when it is made.
    if (status_.ok() && request_.position.parts.empty() && !options_.since.has_value()) {
      Read(absl::InfiniteDuration());
    }
  }

  bool Next(absl::Duration wait) {
    // The writers of a table with few tablets are seen soon, and a look costs some microseconds.
    constexpr absl::Duration kPause = absl::Milliseconds(5);
    std::optional<SteadyTime> until;
    while (true) {
      if (next_ < round_.changes.size()) {
        ++next_;
        return true;
      }
      if (!status_.ok() || has_ended()) return false;
      if (!Read(wait)) return false;
      if (next_ < round_.changes.size() || !round_.has_caught_up || !status_.ok()) continue;
      if (!until.has_value()) until = SteadyTime::Now() + wait;
      const absl::Duration left = *until - SteadyTime::Now();
      if (left <= absl::ZeroDuration()) return false;
      absl::SleepFor(std::min(left, kPause));
    }
  }
  const TableChange& change() const {
    ABSL_ASSERT(next_ > 0 && next_ <= round_.changes.size() && "Next() has returned true");
    return round_.changes[next_ - 1];
  }

  std::string Position() {
    // The first position is found by a read.
    if (status_.ok() && !has_round_ && request_.position.parts.empty()) {
      Read(absl::InfiniteDuration());
    }
    const ChangePosition position = PositionNow();
    return position.parts.empty() ? "" : position.Encode();
  }
  absl::Time CompleteThrough() const {
    const bool has_returned_all = has_round_ && next_ == round_.changes.size();
    return has_returned_all && round_.has_caught_up ? round_.complete_through : complete_through_;
  }
  bool has_ended() const {
    return has_round_ && round_.has_ended && next_ == round_.changes.size();
  }
  const std::vector<ChangePartition>& successors() const { return successors_; }
  const absl::Status& status() const { return status_; }

 private:
  absl::Status SetPosition() {
    if (options_.rows.empty()) {
      return absl::InvalidArgumentError("ReadChangesOptions::rows is empty");
    }
    std::vector<ChangePosition> positions;
    for (const std::string& text : options_.positions) {
      BT_ASSIGN_OR_RETURN(ChangePosition position, ChangePosition::Decode(text));
      positions.push_back(std::move(position));
    }
    if (positions.empty()) return absl::OkStatus();
    BT_ASSIGN_OR_RETURN(const ChangePosition joined, ChangePosition::Joined(positions));
    request_.position = joined.Within(options_.rows);
    // Every row has to be in a part.
    std::optional<std::string> next = options_.rows.begin();
    for (const ChangePosition::Part& part : request_.position.parts) {
      if (next.has_value() && part.rows.begin() == *next) next = part.rows.end();
    }
    if (next != options_.rows.end()) {
      return absl::InvalidArgumentError(
          Cat("the positions do not have row ", Quoted(next.value_or("")),
              " and those after it, which ReadChangesOptions::rows has"));
    }
    return absl::OkStatus();
  }

  // False: a tablet was not served for as long as the caller waits, and then some seconds.
  bool Read(absl::Duration wait) {
    constexpr absl::Duration kMostBeyond = absl::Seconds(10);
    complete_through_ = CompleteThrough();
    if (has_round_) request_.position = round_.position;
    request_.limits.deadline = std::min(deadline_, Deadline::In(wait + kMostBeyond));
    absl::StatusOr<ChangeRound> round = table_->ReadChanges(request_);
    if (!round.ok()) {
      // Unavailable: a change of families or a compaction is being committed, for seconds.
      const bool may_pass =
          absl::IsDeadlineExceeded(round.status()) || absl::IsUnavailable(round.status());
      if (may_pass && !deadline_.has_passed()) return false;
      status_ = round.status();
      return true;
    }
    round_ = *std::move(round);
    has_round_ = true;
    next_ = 0;
    if (!round_.has_ended) return true;
    for (const RowRange& rows : round_.tablets) {
      successors_.push_back({rows, round_.position.Within(rows).Encode()});
    }
    return true;
  }

  ChangePosition PositionNow() const {
    if (!has_round_) return request_.position;
    if (next_ == round_.changes.size()) return round_.position;
    ChangePosition position = round_.begin;
    if (round_.is_of_image) {
      for (size_t i = 0; i < next_; ++i) AdvanceBy(round_.changes[i], &position);
      return position;
    }
    if (next_ == 0) return position;
    const SequenceNumber last = change().sequence;
    if (round_.changes[next_].sequence != last) {
      position.AdvanceTo(last);
      return position;
    }
    // The next change has the same number, and other rows.
    position.AdvanceTo(last - 1);
    for (size_t i = next_; i > 0 && round_.changes[i - 1].sequence == last; --i) {
      AdvanceBy(round_.changes[i - 1], &position);
    }
    return position;
  }

  const std::shared_ptr<TableBackend> table_;
  const ReadChangesOptions options_;
  const Deadline deadline_;  // of the stream
  ChangeRequest request_;    // of the present round
  ChangeRound round_;
  bool has_round_ = false;
  size_t next_ = 0;                                     // in the round's changes
  absl::Time complete_through_ = absl::InfinitePast();  // before the present round
  std::vector<ChangePartition> successors_;
  absl::Status status_;
};

ChangeStream::ChangeStream(std::unique_ptr<ChangeReader> reader) : reader_(std::move(reader)) {}
ChangeStream::ChangeStream(ChangeStream&&) noexcept = default;
ChangeStream& ChangeStream::operator=(ChangeStream&&) noexcept = default;
ChangeStream::~ChangeStream() = default;

bool ChangeStream::Next(absl::Duration wait) { return reader_->Next(wait); }
const TableChange& ChangeStream::change() const { return reader_->change(); }
std::string ChangeStream::Position() { return reader_->Position(); }
absl::Time ChangeStream::CompleteThrough() const { return reader_->CompleteThrough(); }
const std::vector<ChangePartition>& ChangeStream::successors() const {
  return reader_->successors();
}
bool ChangeStream::ended() const { return reader_->has_ended(); }
const absl::Status& ChangeStream::status() const { return reader_->status(); }

ChangeStream Table::ReadChanges() { return ReadChanges(ReadChangesOptions()); }
ChangeStream Table::ReadChanges(const ReadChangesOptions& options) {
  return ChangeStream(std::make_unique<ChangeReader>(backend_, options));
}

absl::StatusOr<std::string> Table::PositionOfCopy(const CallOptions& options) {
  ChangeRequest request{.since = absl::InfinitePast(), .only_last = true};
  request.limits = LimitsOf(options);
  BT_ASSIGN_OR_RETURN(const ChangeRound round, backend_->ReadChanges(request));
  return round.position.Encode();
}

absl::Status Table::SetChangeReader(std::string_view reader, std::string_view position,
                                    const CallOptions& options) {
  return backend_->SetChangeReader(reader, position, options);
}

absl::Status Table::RemoveChangeReader(std::string_view reader, const CallOptions& options) {
  return backend_->SetChangeReader(reader, std::nullopt, options);
}

}  // namespace bigtable
