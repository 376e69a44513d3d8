#include "replication/source_history.h"

#include <algorithm>

#include "base/sequence.h"
#include "base/strings.h"

namespace bigtable {
namespace {

SequenceNumber LargestOf(const ChangePosition& position) {
  SequenceNumber largest = position.families_after;
  for (const ChangePosition::Part& part : position.parts) largest = std::max(largest, part.after);
  return largest;
}

}  // namespace

absl::Status CheckGoesOn(uint64_t followed, const std::map<std::string, ChangePosition>& applied,
                         const DatabaseHistory& source) {
  const SequenceNumber shared = source.SharedWith(followed);
  if (shared == kMaxSequence) return absl::OkStatus();
  if (followed == 0) {
    return absl::FailedPreconditionError(
        Cat("it has followed an unknown database, and perhaps not database ",
            NameOfIdentity(source.latest())));
  }
  if (shared == 0) {
    return absl::FailedPreconditionError(Cat("it has followed database ", NameOfIdentity(followed),
                                             ", and database ", NameOfIdentity(source.latest()),
                                             " is another one, or of an unknown state of it"));
  }
  SequenceNumber largest = 0;
  for (const auto& [_, position] : applied) largest = std::max(largest, LargestOf(position));
  if (largest <= shared) return absl::OkStatus();
  return absl::FailedPreconditionError(
      Cat("it has followed database ", NameOfIdentity(followed), " up to number ", largest,
          ", and database ", NameOfIdentity(source.latest()), " has it only up to number ", shared,
          ", as of an earlier copy"));
}

absl::Status CheckIsCopy(const DatabaseHistory& own, const DatabaseHistory& source) {
  if (own.ancestors.empty()) {
    return absl::FailedPreconditionError(Cat("database ", NameOfIdentity(own.identity),
                                             " is no copy of database ",
                                             NameOfIdentity(source.latest())));
  }
  const DatabaseHistory::Ancestor& original = own.ancestors.back();
  const SequenceNumber shared = source.SharedWith(original.identity);
  if (shared == kMaxSequence) return absl::OkStatus();
  if (shared != 0 && original.last != 0 && original.last <= shared) return absl::OkStatus();
  return absl::FailedPreconditionError(
      Cat("its database is a copy of database ", NameOfIdentity(original.identity),
          ", and not of database ", NameOfIdentity(source.latest())));
}

absl::Status CheckIsAsCopied(const DatabaseHistory& own, const ChangePosition& last) {
  const SequenceNumber copied = own.ancestors.back().last;
  if (copied == 0 || LargestOf(last) <= copied) return absl::OkStatus();
  return absl::FailedPreconditionError(Cat("it was changed since it was copied from database ",
                                           NameOfIdentity(own.ancestors.back().identity),
                                           " at number ", copied));
}

}  // namespace bigtable
