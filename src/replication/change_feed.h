// The changes of one table of the database that is followed: those that were read and not applied
// yet, and where to go on.
#ifndef BIGTABLE_REPLICATION_CHANGE_FEED_H_
#define BIGTABLE_REPLICATION_CHANGE_FEED_H_

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"

#include "bigtable/change_stream.h"
#include "bigtable/table.h"

#include "backend/change_round.h"
#include "backend/table_backend.h"
#include "base/call_limits.h"
#include "base/sequence.h"
#include "base/status.h"
#include "rows/change_position.h"

namespace bigtable {

// One thread.
class ChangeFeed {
 public:
  // `source` is the table that is followed, and `applied` what the own one has of it.
  ChangeFeed(std::string name, std::shared_ptr<TableBackend> source, ChangePosition applied)
      : name_(std::move(name)),
        source_(std::move(source)),
        applied_(std::move(applied)),
        read_(applied_) {}

  const std::string& name() const { return name_; }
  // What is applied, once the changes that were taken are.
  const ChangePosition& applied() const { return applied_; }

  // A new look at the table begins.
  void BeginPass() {
    has_caught_up_ = false;
    complete_ = 0;
  }
  // Every change up to this number was read.
  SequenceNumber complete() const { return complete_; }
  // Everything was read that there was in this pass.
  bool has_caught_up() const { return has_caught_up_; }

  // Reads on. Errors of TableBackend::ReadChanges.
  absl::Status Read(const CallLimits& limits) {
    BT_ASSIGN_OR_RETURN(ChangeRound round,
                        source_->ReadChanges({.position = read_,
                                              .without_collections = true,  // it has the rules
                                              .limits = limits}));
    // The parts of an image are those of its tablets.
    if (pending_.empty()) applied_ = round.begin;
    is_of_image_ = round.is_of_image;
    has_caught_up_ = round.has_caught_up;
    read_ = std::move(round.position);
    if (!has_caught_up_) {
      complete_ = round.changes.back().sequence;
    } else {
      // An image has no more in this pass, whatever number comes next.
      complete_ = is_of_image_ ? kMaxSequence : read_.Smallest();
      if (pending_.empty() && round.changes.empty()) applied_ = read_;
    }
    for (TableChange& change : round.changes) pending_.push_back(std::move(change));
    return absl::OkStatus();
  }

  const std::deque<TableChange>& pending() const { return pending_; }
  // Takes the first of the pending changes: it is about to be applied.
  TableChange Take() {
    TableChange change = std::move(pending_.front());
    pending_.pop_front();
    if (is_of_image_) {
      AdvanceBy(change, &applied_);
    } else {
      applied_.AdvanceTo(change.sequence);
    }
    return change;
  }

 private:
  const std::string name_;
  const std::shared_ptr<TableBackend> source_;
  ChangePosition applied_;
  ChangePosition read_;
  std::deque<TableChange> pending_;
  SequenceNumber complete_ = 0;
  bool has_caught_up_ = false;
  bool is_of_image_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_REPLICATION_CHANGE_FEED_H_
