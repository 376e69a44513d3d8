// Operators of aggregates whose functions are the program's.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

#include "bigtable/aggregate.h"

#include "c/arguments.h"
#include "c/handles.h"
#include "c/program_context.h"

namespace bigtable {
namespace {

struct AggregateFunctions {
  bigtable_check_function check_input;
  bigtable_check_function check_state;
  bigtable_state_function state_of;
  bigtable_merge_function merge;
};

class ProgramAggregate final : public AggregateOperator {
 public:
  ProgramAggregate(const AggregateFunctions& functions, ProgramContext context)
      : functions_(functions), context_(std::move(context)) {}

  absl::Status CheckInput(std::string_view input) const override {
    return Check(functions_.check_input, input);
  }
  absl::Status CheckState(std::string_view state) const override {
    return Check(functions_.check_state, state);
  }
  std::string StateOf(std::string_view input) const override {
    if (functions_.state_of == nullptr) return std::string(input);
    bigtable_string state;
    functions_.state_of(context_.get(), Return(input, nullptr), input.size(), &state);
    return std::move(state.text);
  }
  absl::Status Merge(std::string_view older, std::string* state) const override {
    bigtable_string merged{std::move(*state)};
    absl::Status status =
        TakeError(functions_.merge(context_.get(), Return(older, nullptr), older.size(), &merged));
    *state = std::move(merged.text);
    return status;
  }

 private:
  absl::Status Check(bigtable_check_function check, std::string_view text) const {
    if (check == nullptr) return absl::OkStatus();
    return TakeError(check(context_.get(), Return(text, nullptr), text.size()));
  }

  const AggregateFunctions functions_;
  const ProgramContext context_;
};

}  // namespace
}  // namespace bigtable

bigtable_error* bigtable_aggregate_operator_register(const char* name, size_t name_size,
                                                     bigtable_check_function check_input,
                                                     bigtable_check_function check_state,
                                                     bigtable_state_function state_of,
                                                     bigtable_merge_function merge, void* context,
                                                     bigtable_destroy_function destroy) {
  bigtable::ProgramContext owned(context, destroy);
  BT_C_CHECK_NOT_NULL({"name", name, name_size}, {"merge", bigtable::AddressOf(merge)});
  const bigtable::AggregateFunctions functions{check_input, check_state, state_of, merge};
  return bigtable::ToError(bigtable::RegisterAggregateOperator(
      bigtable::View(name, name_size),
      std::make_unique<bigtable::ProgramAggregate>(functions, std::move(owned))));
}

bigtable_error* bigtable_aggregate_operator_list_names(bigtable_string_list** names) {
  BT_C_CHECK_NOT_NULL({"names", names});
  return bigtable::ReturnList(bigtable::AggregateOperatorNames(), names);
}
