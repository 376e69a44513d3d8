#include "retention/aggregates.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/catch_thrown.h"
#include "base/coding.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/strings.h"
#include "retention/double_extremes.h"
#include "retention/double_sum.h"
#include "retention/hyper_log_log.h"
#include "retention/number_form.h"

namespace bigtable {
namespace {

// An operator on integers: `Combine` is a function of two int64_t.
template <typename Combine>
class NumberOperator final : public AggregateOperator {
 public:
  absl::Status CheckInput(std::string_view input) const override { return CheckNumber(input); }
  absl::Status CheckState(std::string_view state) const override { return CheckNumber(state); }
  absl::Status Merge(std::string_view older, std::string* state) const override {
    BT_RETURN_IF_ERROR(CheckNumber(older));
    BT_RETURN_IF_ERROR(CheckNumber(*state));
    const auto a = static_cast<int64_t>(LoadBigEndian64(older.data()));
    const auto b = static_cast<int64_t>(LoadBigEndian64(state->data()));
    StoreBigEndian64(state->data(), static_cast<uint64_t>(Combine()(a, b)));
    return absl::OkStatus();
  }
};

// Unsigned, because overflow wraps around.
struct AddNumbers {
  int64_t operator()(int64_t a, int64_t b) const {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};
struct LesserNumber {
  int64_t operator()(int64_t a, int64_t b) const { return std::min(a, b); }
};
struct GreaterNumber {
  int64_t operator()(int64_t a, int64_t b) const { return std::max(a, b); }
};

}  // namespace

class AggregateRegistry {
 public:
  static AggregateRegistry& OfProcess() {
    static auto* const registry = new AggregateRegistry;  // for threads that outlive statics
    return *registry;
  }

  const Aggregate* OfType(ValueType type) const {
    switch (type) {
      case ValueType::kInt64Sum:
        return &sum_;
      case ValueType::kInt64Min:
        return &min_;
      case ValueType::kInt64Max:
        return &max_;
      case ValueType::kHyperLogLog:
        return &hyper_log_log_;
      case ValueType::kDoubleSum:
        return &double_sum_;
      case ValueType::kDoubleMin:
        return &double_min_;
      case ValueType::kDoubleMax:
        return &double_max_;
      case ValueType::kBytes:
        break;
    }
    return nullptr;
  }
  Aggregate* OfName(std::string_view name) {
    MutexLock lock(&mutex_);
    std::unique_ptr<Aggregate>& found = named_[std::string(name)];
    if (found == nullptr) found = std::make_unique<Aggregate>(Cat("operator ", Quoted(name)));
    return found.get();
  }
  absl::Status Register(std::string_view name, std::unique_ptr<const AggregateOperator> op) {
    Aggregate* const aggregate = OfName(name);
    MutexLock lock(&mutex_);
    if (aggregate->operator_or_null() != nullptr) {
      return absl::AlreadyExistsError(
          Cat("an aggregate operator ", Quoted(name), " is already registered"));
    }
    // Published to threads that use it without the lock.
    aggregate->operator_.store(op.get(), std::memory_order_release);
    owned_.push_back(std::move(op));
    return absl::OkStatus();
  }
  void Forget(std::string_view name) { OfName(name)->operator_ = nullptr; }
  std::vector<std::string> Names() const {
    MutexLock lock(&mutex_);
    std::vector<std::string> names;
    for (const auto& [name, aggregate] : named_) {
      if (aggregate->operator_or_null() != nullptr) names.push_back(name);
    }
    return names;
  }

 private:
  AggregateRegistry() {
    SetOf<NumberOperator<AddNumbers>>(&sum_);
    SetOf<NumberOperator<LesserNumber>>(&min_);
    SetOf<NumberOperator<GreaterNumber>>(&max_);
    SetOf<HyperLogLog>(&hyper_log_log_);
    SetOf<DoubleSum>(&double_sum_);
    SetOf<DoubleMin>(&double_min_);
    SetOf<DoubleMax>(&double_max_);
  }
  template <typename Operator>
  void SetOf(Aggregate* aggregate) {
    static const Operator* const op = new Operator;
    aggregate->operator_ = op;
  }

  Aggregate sum_{"int64 sums (kInt64Sum)"};
  Aggregate min_{"int64 minima (kInt64Min)"};
  Aggregate max_{"int64 maxima (kInt64Max)"};
  Aggregate hyper_log_log_{"counts of distinct values (kHyperLogLog)"};
  Aggregate double_sum_{"sums of doubles (kDoubleSum)"};
  Aggregate double_min_{"minima of doubles (kDoubleMin)"};
  Aggregate double_max_{"maxima of doubles (kDoubleMax)"};
  mutable Mutex mutex_;
  std::map<std::string, std::unique_ptr<Aggregate>, std::less<>> named_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<const AggregateOperator>> owned_ ABSL_GUARDED_BY(mutex_);
};

const Aggregate* Aggregate::Of(ValueType type, std::string_view value_operator) {
  AggregateRegistry& registry = AggregateRegistry::OfProcess();
  return value_operator.empty() ? registry.OfType(type) : registry.OfName(value_operator);
}

absl::Status Aggregate::MissingError(std::string_view family) const {
  return absl::FailedPreconditionError(
      Cat("family ", Quoted(family), " holds aggregates of the ", what_,
          ", which this program has not registered (RegisterAggregateOperator); registered are: ",
          Listed(AggregateOperatorNames())));
}

absl::Status CheckContribution(const AggregateOperator& op, EntryKind kind,
                               std::string_view value) {
  if (kind == EntryKind::kAddToCell) {
    return CatchThrownStatus("AggregateOperator::CheckInput", [&] { return op.CheckInput(value); });
  }
  return CatchThrownStatus("AggregateOperator::CheckState", [&] { return op.CheckState(value); });
}

absl::Status MakeState(const AggregateOperator& op, EntryKind kind, std::string* state) {
  if (kind != EntryKind::kAddToCell) return absl::OkStatus();
  return CatchThrown("AggregateOperator::StateOf", [&] { *state = op.StateOf(*state); });
}

absl::Status MergeOlder(const AggregateOperator& op, EntryKind kind, std::string_view older,
                        std::string* state) {
  if (kind != EntryKind::kAddToCell) return MergeOlderState(op, older, state);
  std::string made(older);
  BT_RETURN_IF_ERROR(MakeState(op, kind, &made));
  return MergeOlderState(op, made, state);
}

absl::Status MergeOlderState(const AggregateOperator& op, std::string_view older,
                             std::string* state) {
  return CatchThrownStatus("AggregateOperator::Merge", [&] { return op.Merge(older, state); });
}

bool IsOperatorName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != ':';
  });
}

void ForgetOperator(std::string_view name) { AggregateRegistry::OfProcess().Forget(name); }

absl::Status RegisterAggregateOperator(std::string_view name,
                                       std::unique_ptr<const AggregateOperator> op) {
  if (!IsOperatorName(name)) {
    return absl::InvalidArgumentError(
        Cat("the name of an aggregate operator must be 1 to 64 printable ASCII characters without "
            "space and colon, and is ",
            Quoted(name)));
  }
  if (op == nullptr) {
    return absl::InvalidArgumentError(
        Cat("aggregate operator ", Quoted(name), " must not be null"));
  }
  return AggregateRegistry::OfProcess().Register(name, std::move(op));
}

std::vector<std::string> AggregateOperatorNames() { return AggregateRegistry::OfProcess().Names(); }

}  // namespace bigtable
