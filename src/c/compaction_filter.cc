// Compaction filters whose function is the program's, and the cells that it is called with.
#include "bigtable/compaction_filter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"

#include "c/arguments.h"
#include "c/handles.h"
#include "c/program_context.h"

using bigtable::FromC;
using bigtable::Return;

namespace bigtable {
namespace {

class ProgramFilter final : public CompactionFilter {
 public:
  ProgramFilter(bigtable_compaction_filter_function function, ProgramContext context)
      : function_(function), context_(std::move(context)) {}

  Decision Filter(const CompactedCell& cell, std::string* value) const override {
    bigtable_string assigned;
    switch (function_(context_.get(), ToC(&cell), &assigned)) {
      case BIGTABLE_COMPACTION_FILTER_REMOVE:
        return Decision::kRemove;
      case BIGTABLE_COMPACTION_FILTER_REPLACE:
        *value = std::move(assigned.text);
        return Decision::kReplace;
      default:
        return Decision::kKeep;
    }
  }

 private:
  const bigtable_compaction_filter_function function_;
  const ProgramContext context_;
};

}  // namespace
}  // namespace bigtable

bigtable_error* bigtable_compaction_filter_register(const char* name, size_t name_size,
                                                    bigtable_compaction_filter_function function,
                                                    void* context,
                                                    bigtable_destroy_function destroy) {
  bigtable::ProgramContext owned(context, destroy);
  BT_C_CHECK_NOT_NULL({"name", name, name_size}, {"function", bigtable::AddressOf(function)});
  return bigtable::ToError(bigtable::RegisterCompactionFilter(
      bigtable::View(name, name_size),
      std::make_unique<bigtable::ProgramFilter>(function, std::move(owned))));
}

bigtable_error* bigtable_compaction_filter_list_names(bigtable_string_list** names) {
  BT_C_CHECK_NOT_NULL({"names", names});
  return bigtable::ReturnList(bigtable::CompactionFilterNames(), names);
}

const char* bigtable_compacted_cell_row(const bigtable_compacted_cell* cell, size_t* size) {
  return Return(FromC(cell)->row, size);
}
const char* bigtable_compacted_cell_family(const bigtable_compacted_cell* cell, size_t* size) {
  return Return(FromC(cell)->family, size);
}
const char* bigtable_compacted_cell_qualifier(const bigtable_compacted_cell* cell, size_t* size) {
  return Return(FromC(cell)->qualifier, size);
}
int64_t bigtable_compacted_cell_timestamp(const bigtable_compacted_cell* cell) {
  return FromC(cell)->timestamp.micros();
}
const char* bigtable_compacted_cell_value(const bigtable_compacted_cell* cell, size_t* size) {
  return Return(FromC(cell)->value, size);
}
int64_t bigtable_compacted_cell_now(const bigtable_compacted_cell* cell) {
  return absl::ToUnixMicros(FromC(cell)->now);
}
