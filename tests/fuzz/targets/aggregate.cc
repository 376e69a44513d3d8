// The states of aggregates, which clients may write (MergeToCell): three, and how they are merged.
//
//   type     1 byte   of the aggregate
//   states, each:
//     form   1 byte   0: any bytes; 1: of an input; 2, 3: a HyperLogLog, dense or sparse, that is
//                     larger than an input; 4: a sum of doubles that is well-formed
//     piece (fuzz/input.h)
#include "bigtable/aggregate.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bigtable/schema.h"

#include "fuzz/input.h"
#include "fuzz/target.h"
#include "retention/aggregates.h"
#include "retention/double_sum.h"
#include "retention/hyper_log_log.h"

namespace bigtable {
namespace {

// The ranks of the registers are the bytes of the piece, over and over.
std::string DenseState(std::string_view piece) {
  std::string state(1 + HyperLogLog::kRegisters, '\2');
  for (size_t i = 1; i < state.size(); ++i) {
    state[i] = piece.empty() ? '\0' : piece[i % piece.size()];
  }
  return state;
}

// A number of registers at a distance from one another, most of which are in order.
std::string SparseState(std::string_view piece) {
  FuzzInput input(piece);
  std::string state(1, '\1');
  uint64_t at = input.Number(2);
  const uint64_t distance = input.Number(1);
  const uint64_t rank = input.Number(1);
  for (uint64_t entries = input.Number(2); entries > 0; --entries, at += distance) {
    const uint64_t entry = at << 6 | rank;
    for (const int shift : {16, 8, 0}) state.push_back(static_cast<char>(entry >> shift));
  }
  return state;
}

// Flags, the lowest place, and a magnitude that neither begins nor ends with a zero byte.
std::string SumState(std::string_view piece) {
  FuzzInput input(piece);
  const auto flags = static_cast<char>(input.Byte() & 0x87);
  const uint64_t low = input.Number(2) % DoubleSum::kMostWrittenBytes;
  std::string magnitude(input.Rest().substr(0, DoubleSum::kMostWrittenBytes - low));
  if (magnitude.empty()) return std::string(1, flags);
  magnitude.front() |= 1;
  magnitude.back() |= 1;
  return std::string{flags, static_cast<char>(low >> 8), static_cast<char>(low)} + magnitude;
}

std::string TakeState(const AggregateOperator& op, FuzzInput* input) {
  const uint8_t form = input->Below(5);
  const std::string piece(input->Piece());
  switch (form) {
    case 1:
      return op.CheckInput(piece).ok() ? op.StateOf(piece) : piece;
    case 2:
      return DenseState(piece);
    case 3:
      return SparseState(piece);
    case 4:
      return SumState(piece);
    default:
      return piece;
  }
}

std::string Merged(const AggregateOperator& op, const std::string& older, std::string state) {
  Require(op.Merge(older, &state).ok(), "valid states can be merged");
  // A sum of doubles may be larger than the states that can be written.
  std::string again = state;
  Require(op.CheckState(state).ok() || op.Merge(older, &again).ok(), "to a valid state");
  return state;
}

void FuzzAggregate(std::string_view bytes) {
  FuzzInput input(bytes);
  constexpr auto kTypes = static_cast<uint8_t>(kLastValueType);
  const auto type = static_cast<ValueType>(1 + input.Below(kTypes));
  const AggregateOperator& op = *Aggregate::Of(type, "")->operator_or_null();
  const std::string a = TakeState(op, &input);
  const std::string b = TakeState(op, &input);
  const std::string c = TakeState(op, &input);
  for (const std::string& state : {a, b, c}) {
    if (op.CheckState(state).ok()) continue;
    // What is on disk may be corrupt.
    std::string merged = b;
    static_cast<void>(op.Merge(a, &merged));
    merged = state;
    static_cast<void>(op.Merge(state, &merged));
    static_cast<void>(HyperLogLogEstimate(merged));
    static_cast<void>(DoubleSumValue(merged));
    return;
  }
  const std::string all = Merged(op, Merged(op, a, b), c);
  Require(all == Merged(op, a, Merged(op, b, c)), "in any groups");
  Require(Merged(op, a, b) == Merged(op, b, a), "in any order");
  if (type == ValueType::kInt64Sum) return;
  if (type == ValueType::kDoubleSum) {
    Require(DoubleSumValue(all).ok(), "a sum of valid states has a value");
    return;
  }
  Require(Merged(op, all, b) == all, "what was counted is not counted again");
  if (type != ValueType::kHyperLogLog) return;
  Require(HyperLogLogEstimate(all).ok(), "a valid state has an estimate");
}

const FuzzTargetRegistration aggregate_target("aggregate", FuzzAggregate);

}  // namespace
}  // namespace bigtable
