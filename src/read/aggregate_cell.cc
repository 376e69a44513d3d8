#include "read/aggregate_cell.h"

#include "absl/base/macros.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

// The value of an aggregate, which is stored nowhere else.
class MergedValue final : public RefCounted {
 public:
  explicit MergedValue(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string_view view() const { return bytes_; }

 private:
  const std::string bytes_;
};

}  // namespace

bool AggregateCell::Merge(CallPace* pace, bool keeps) {
  ABSL_ASSERT(IsContribution(KindOf(input_.key())) && key_.HasInColumn(input_.key()) &&
              "the input is at a contribution to the cell");
  const AggregateOperator* const op = Operator();
  if (op == nullptr) return false;
  keeps_ = keeps;
  const Contribution newest = ContributionHere();
  value_ = newest.value;
  owner_ = Ref<const RefCounted>(input_.value_owner());
  const KeptMerge* const kept = UsableMerge(newest);
  const bool has_more = NextContribution(kept);
  if (!failure_.ok()) return false;
  if (kept != nullptr || has_more) return MergeWithOlder(*op, newest, kept, has_more, pace);
  if (newest.kind == EntryKind::kAddToCell) {
    std::string state(value_);
    const absl::Status made = MakeState(*op, newest.kind, &state);
    if (!made.ok()) return Fail(made);
    SetValue(std::move(state));
  }
  return true;
}

bool AggregateCell::Pass(CallPace* pace, bool keeps) {
  if (!IsOfAggregates()) return false;
  keeps_ = keeps;
  while (true) {
    const Contribution here = ContributionHere();
    if (pace != nullptr && !pace->Count(here.value.size())) return false;
    if (!NextContribution(UsableMerge(here))) return failure_.ok();
  }
}

inline bool AggregateCell::IsOfAggregates() {
  const FamilyLayout& family = *column_.family();
  if (family.aggregate != nullptr) return true;
  failure_ = absl::DataLossError(
      Cat("family ", Quoted(family.name), " holds bytes, and has a contribution to an aggregate"));
  return false;
}

inline const AggregateOperator* AggregateCell::Operator() {
  if (!IsOfAggregates()) return nullptr;
  const FamilyLayout& family = *column_.family();
  const AggregateOperator* const op = family.aggregate->operator_or_null();
  if (op == nullptr) failure_ = family.aggregate->MissingError(family.name);
  return op;
}

bool AggregateCell::MergeWithOlder(const AggregateOperator& op, const Contribution& newest,
                                   const KeptMerge* kept, bool has_more, CallPace* pace) {
  ContributionMerge merge(op, keeps_);
  absl::Status status = merge.Take(newest, kept);
  while (status.ok() && has_more) {
    const Contribution here = ContributionHere();
    kept = UsableMerge(here);
    status = merge.Take(here, kept);
    if (pace != nullptr && !pace->Count(here.value.size())) return false;
    has_more = NextContribution(kept);
  }
  std::string state;
  if (status.ok()) status = merge.Finish(&state);
  if (!status.ok()) return Fail(status);
  SetValue(std::move(state));
  return failure_.ok();
}

Contribution AggregateCell::ContributionHere() const {
  const EntryCursor* const source = input_.current();
  return {.source = source,
          .place = source == nullptr ? nullptr : source->merge_place(),
          .version = VersionOf(input_.key()),
          .kind = KindOf(input_.key()),
          .value = input_.value()};
}

const KeptMerge* AggregateCell::UsableMerge(const Contribution& here) {
  if (here.place == nullptr || !keeps_) return nullptr;
  const KeptMerge* const kept = here.place->load(std::memory_order_acquire);
  if (kept == nullptr || !Counts(kept->oldest)) return nullptr;
  const std::string_view next = input_.KeyOfOthers();
  return next.empty() || next > KeyOfOldest(*kept) ? kept : nullptr;
}

std::string AggregateCell::KeyOfOldest(const KeptMerge& kept) const {
  std::string key(key_.column_prefix());
  AppendTrailer(&key, column_.timestamp(), kept.oldest, kept.oldest_kind);
  return key;
}

bool AggregateCell::NextContribution(const KeptMerge* kept) {
  if (kept == nullptr) {
    input_.Next();
  } else {
    std::string behind = KeyOfOldest(*kept);
    behind.push_back('\0');
    input_.SeekForward(behind);
  }
  while (!input_.valid()) {
    if (input_.status().ok() || !leave_failed_()) return false;
  }
  const std::string_view key = input_.key();
  return IsContribution(KindOf(key)) && key_.HasInColumn(key) &&
         TimestampOf(key) == column_.timestamp() && Counts(VersionOf(key));
}

bool AggregateCell::Counts(EntryVersion version) {
  const FamilyLayout& family = *column_.family();
  const int64_t timestamp = column_.timestamp();
  return version >= first_ && version.sequence > family.created &&
         !column_.deletions().Hides(version, timestamp) &&
         !family.past.HasExpired(version.sequence, timestamp);
}

inline void AggregateCell::SetValue(std::string&& state) {
  const auto merged = MakeRef<MergedValue>(std::move(state));
  value_ = merged->view();
  owner_ = merged;
}

bool AggregateCell::Fail(const absl::Status& status) {
  failure_ = Annotate(status, Cat("family ", Quoted(column_.family()->name)));
  return false;
}

}  // namespace bigtable
