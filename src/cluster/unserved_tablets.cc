#include "cluster/unserved_tablets.h"

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "base/strings.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

void UnservedTablets::FailedLoads::Add(const absl::Status& status) {
  ABSL_ASSERT(!status.ok() && "a failure has an error");
  if (tablet.failures++ == 0) {
    tablet.since = absl::Now();
    begin = NowNanos();
  }
  tablet.status = status;
}

void UnservedTablets::RecordFailure(const TabletId& id, std::string_view table,
                                    std::string_view begin_row, const absl::Status& status) {
  MutexLock lock(&mutex_);
  FailedLoads& failed = tablets_[id];
  failed.tablet.table = table;
  failed.tablet.rows = id.end_row.has_value() ? RowRange::RightOpen(begin_row, *id.end_row)
                                              : RowRange::StartingAt(begin_row);
  failed.Add(status);
}

void UnservedTablets::Forget(const TabletId& id) {
  MutexLock lock(&mutex_);
  tablets_.erase(id);
}

void UnservedTablets::ForgetTable(uint64_t table_id) {
  MutexLock lock(&mutex_);
  std::erase_if(tablets_, [&](const auto& entry) { return entry.first.table_id == table_id; });
}

void UnservedTablets::ForgetAllBut(const std::set<TabletId>& ids) {
  MutexLock lock(&mutex_);
  std::erase_if(tablets_, [&](const auto& entry) { return !ids.contains(entry.first); });
}

void UnservedTablets::RecordAssignment(const absl::Status& status) {
  MutexLock lock(&mutex_);
  if (status.ok()) {
    tablets_.clear();
    assignment_ = {};
  } else {
    assignment_.Add(status);
  }
}

absl::Status UnservedTablets::Why(uint64_t table_id, std::string_view row, bool* is_over) const {
  *is_over = false;
  const std::string what = Cat("the tablet with row ", Quoted(row), " is not served at the moment");
  MutexLock lock(&mutex_);
  // The first tablet that does not end before the row.
  const auto found = tablets_.upper_bound({table_id, std::string(row)});
  const bool is_known = found != tablets_.end() && found->first.table_id == table_id &&
                        found->second.tablet.rows.begin() <= row;
  const FailedLoads& failed = is_known ? found->second : assignment_;
  if (failed.tablet.status.ok()) return absl::UnavailableError(what);
  *is_over = absl::Nanoseconds(NowNanos() - failed.begin) >= kWaitLimit;
  return absl::UnavailableError(Cat(what, "; loading it has failed ", failed.tablet.failures,
                                    " times: ", ToStd(failed.tablet.status.message())));
}

absl::Status UnservedTablets::Explain(const absl::Status& ended, uint64_t table_id,
                                      std::string_view row) const {
  if (!absl::IsDeadlineExceeded(ended)) return ended;
  bool is_over;
  const absl::Status why = Why(table_id, row, &is_over);
  return absl::DeadlineExceededError(Cat(ToStd(ended.message()), ": ", ToStd(why.message())));
}

std::vector<UnservedTablet> UnservedTablets::List() const {
  std::vector<UnservedTablet> list;
  MutexLock lock(&mutex_);
  for (const auto& [id, failed] : tablets_) list.push_back(failed.tablet);
  if (list.empty() && !assignment_.tablet.status.ok()) list.push_back(assignment_.tablet);
  return list;
}

}  // namespace bigtable
