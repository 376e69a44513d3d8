// Aggregates: families whose cells are merged from contributions (Family::value_type,
// RowMutation::AddToCell). This file has what they need besides: the estimate of a HyperLogLog, the
// value of a sum of doubles, and operators of the program's own, which it registers under names
// before it uses a family of them:
//
//   // Keeps the longest text.
//   class Longest final : public bigtable::AggregateOperator {
//    public:
//     absl::Status Merge(std::string_view older, std::string* state) const override {
//       if (older.size() >= state->size()) state->assign(older);
//       return absl::OkStatus();
//     }
//   };
//
//   absl::Status s = bigtable::RegisterAggregateOperator("longest", std::make_unique<Longest>());
//   schema.families["titles"] = {.value_operator = "longest"};
#ifndef BIGTABLE_AGGREGATE_H_
#define BIGTABLE_AGGREGATE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/export.h"

namespace bigtable {

// Merges the contributions to a cell. Its states are stored, so an operator keeps its meaning as
// long as there are families of it. Thread-safe: reads, writes and compactions call it from any
// thread, also for corrupt states. Its functions only compute. What they throw fails the call with
// Unknown.
class BIGTABLE_EXPORT AggregateOperator {
 public:
  virtual ~AggregateOperator() = default;

  // What AddToCell and MergeToCell take: the error is that of the write.
  virtual absl::Status CheckInput(std::string_view /*input*/) const { return absl::OkStatus(); }
  virtual absl::Status CheckState(std::string_view /*state*/) const { return absl::OkStatus(); }
  // The state of a cell that has one input, which CheckInput has passed.
  virtual std::string StateOf(std::string_view input) const { return std::string(input); }
  // Makes `*state` the state of the contributions of both, those of `older` having been written
  // before. Associative: contributions are merged in the order of their writes, but in any groups.
  // An error fails the read or the compaction. A state is read, written and merged as a whole, so
  // it should not grow with the number of contributions.
  virtual absl::Status Merge(std::string_view older, std::string* state) const = 0;
};

// Registers an operator for all databases of the process, until it ends. InvalidArgument unless the
// name has 1 to 64 printable ASCII characters without space and colon, or if the operator is null;
// AlreadyExists if the name is taken. Thread-safe.
BIGTABLE_EXPORT absl::Status RegisterAggregateOperator(std::string_view name,
                                                       std::unique_ptr<const AggregateOperator> op);

// The names of all registered operators, sorted. Thread-safe.
BIGTABLE_EXPORT std::vector<std::string> AggregateOperatorNames();

// About how many different inputs a cell of a kHyperLogLog family has counted, given its value:
// exact for none, almost exact for a few hundred, then with a standard error of 0.8%.
// InvalidArgument if `state` is not such a value.
BIGTABLE_EXPORT absl::StatusOr<uint64_t> HyperLogLogEstimate(std::string_view state);

// The double that is nearest to the sum in a cell of a kDoubleSum family, given its value; of two
// that are equally near the even one. An infinity if the sum is beyond the largest double, or if an
// infinity was added; NaN if both infinities or a NaN were added. A sum of zero is +0.0.
// InvalidArgument if `state` is not such a value.
BIGTABLE_EXPORT absl::StatusOr<double> DoubleSumValue(std::string_view state);

}  // namespace bigtable

#endif  // BIGTABLE_AGGREGATE_H_
