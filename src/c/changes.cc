// Streams of the changes of a table.
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/change_stream.h"

#include "c/arguments.h"
#include "c/handles.h"

using bigtable::FromC;
using bigtable::OptionsOf;
using bigtable::Return;
using bigtable::ReturnNone;
using bigtable::TableChange;
using bigtable::ToError;
using bigtable::View;

namespace bigtable {
namespace {

// The end of rows; NULL: they have none.
const char* ReturnEnd(const RowRange& rows, size_t* size) {
  return rows.end().has_value() ? Return(*rows.end(), size) : ReturnNone(size);
}

// NULL: there are not so many.
const ChangePartition* SuccessorAt(const bigtable_changes* changes, size_t index) {
  const std::vector<ChangePartition>& successors = changes->stream.successors();
  return index < successors.size() ? &successors[index] : nullptr;
}
const ObservedOperation* OperationOf(const bigtable_change* change, size_t index) {
  return index < change->operations.size() ? &change->operations[index] : nullptr;
}

}  // namespace
}  // namespace bigtable

bigtable_change_options* bigtable_change_options_new() { return new bigtable_change_options; }
void bigtable_change_options_free(bigtable_change_options* options) { delete options; }
bigtable_error* bigtable_change_options_set_rows(bigtable_change_options* options,
                                                 const char* begin, size_t begin_size,
                                                 const char* end, size_t end_size) {
  BT_C_CHECK_NOT_NULL({"options", options}, {"begin", begin, begin_size});
  const std::string_view first = View(begin, begin_size);
  options->options.rows = end == nullptr
                              ? bigtable::RowRange::StartingAt(first)
                              : bigtable::RowRange::RightOpen(first, View(end, end_size));
  return nullptr;
}
bigtable_error* bigtable_change_options_add_position(bigtable_change_options* options,
                                                     const char* position, size_t position_size) {
  BT_C_CHECK_NOT_NULL({"options", options}, {"position", position, position_size});
  options->options.positions.emplace_back(View(position, position_size));
  return nullptr;
}
void bigtable_change_options_set_since(bigtable_change_options* options, int64_t micros) {
  options->options.since = micros == std::numeric_limits<int64_t>::min()
                               ? absl::InfinitePast()
                               : absl::FromUnixMicros(micros);
}
void bigtable_change_options_set_ends_with_tablets(bigtable_change_options* options, bool value) {
  options->options.ends_with_tablets = value;
}
void bigtable_change_options_set_timeout(bigtable_change_options* options, int64_t micros) {
  options->timeout_micros = micros;
}
void bigtable_change_options_set_cancellation(bigtable_change_options* options,
                                              const bigtable_cancellation* cancellation) {
  options->options.cancellation = cancellation == nullptr ? nullptr : &cancellation->cancellation;
}

bigtable_error* bigtable_table_read_changes(bigtable_table* table,
                                            const bigtable_change_options* options,
                                            bigtable_changes** changes) {
  BT_C_CHECK_NOT_NULL({"changes", changes});
  *changes = nullptr;
  BT_C_CHECK_NOT_NULL({"table", table});
  bigtable::ChangeStream stream = FromC(table)->ReadChanges(OptionsOf(options));
  if (!stream.status().ok()) return ToError(stream.status());
  *changes = new bigtable_changes{.stream = std::move(stream)};
  return nullptr;
}
void bigtable_changes_free(bigtable_changes* changes) { delete changes; }

bigtable_error* bigtable_changes_next(bigtable_changes* changes, int64_t wait_micros,
                                      const bigtable_change** change) {
  BT_C_CHECK_NOT_NULL({"change", change});
  *change = nullptr;
  BT_C_CHECK_NOT_NULL({"changes", changes});
  changes->present = {};
  if (!changes->stream.Next(absl::Microseconds(wait_micros))) {
    return ToError(changes->stream.status());
  }
  const TableChange& present = changes->stream.change();
  changes->present.change = &present;
  if (present.kind == TableChange::Kind::kMutation) {
    changes->present.operations = present.Operations();
  }
  *change = &changes->present;
  return nullptr;
}
bigtable_error* bigtable_changes_get_position(bigtable_changes* changes,
                                              bigtable_string** position) {
  BT_C_CHECK_NOT_NULL({"position", position});
  *position = nullptr;
  BT_C_CHECK_NOT_NULL({"changes", changes});
  *position = new bigtable_string{changes->stream.Position()};
  return nullptr;
}
int64_t bigtable_changes_complete_through(const bigtable_changes* changes) {
  return absl::ToUnixMicros(changes->stream.CompleteThrough());
}

bool bigtable_changes_has_ended(const bigtable_changes* changes) { return changes->stream.ended(); }
size_t bigtable_changes_successor_count(const bigtable_changes* changes) {
  return changes->stream.successors().size();
}
const char* bigtable_changes_successor_begin(const bigtable_changes* changes, size_t index,
                                             size_t* size) {
  const bigtable::ChangePartition* const successor = bigtable::SuccessorAt(changes, index);
  return successor == nullptr ? ReturnNone(size) : Return(successor->rows.begin(), size);
}
const char* bigtable_changes_successor_end(const bigtable_changes* changes, size_t index,
                                           size_t* size) {
  const bigtable::ChangePartition* const successor = bigtable::SuccessorAt(changes, index);
  return successor == nullptr ? ReturnNone(size) : bigtable::ReturnEnd(successor->rows, size);
}
const char* bigtable_changes_successor_position(const bigtable_changes* changes, size_t index,
                                                size_t* size) {
  const bigtable::ChangePartition* const successor = bigtable::SuccessorAt(changes, index);
  return successor == nullptr ? ReturnNone(size) : Return(successor->position, size);
}

int bigtable_change_kind(const bigtable_change* change) {
  return static_cast<int>(change->change->kind);
}
uint64_t bigtable_change_sequence(const bigtable_change* change) {
  return change->change->sequence;
}
int64_t bigtable_change_time(const bigtable_change* change) {
  return absl::ToUnixMicros(change->change->time);
}
uint64_t bigtable_change_batch(const bigtable_change* change) { return change->change->batch; }
const char* bigtable_change_row(const bigtable_change* change, size_t* size) {
  if (change->change->kind != TableChange::Kind::kMutation) return ReturnNone(size);
  return Return(change->change->mutation.row(), size);
}
bigtable_mutation* bigtable_change_get_mutation(const bigtable_change* change) {
  if (change->change->kind != TableChange::Kind::kMutation) return nullptr;
  return new bigtable_mutation{change->change->mutation, absl::OkStatus()};
}

size_t bigtable_change_count(const bigtable_change* change) { return change->operations.size(); }
int bigtable_change_operation_kind(const bigtable_change* change, size_t index) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationOf(change, index);
  return operation == nullptr ? -1 : static_cast<int>(operation->kind);
}
const char* bigtable_change_operation_family(const bigtable_change* change, size_t index,
                                             size_t* size) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationOf(change, index);
  return operation == nullptr ? ReturnNone(size) : Return(operation->family, size);
}
const char* bigtable_change_operation_qualifier(const bigtable_change* change, size_t index,
                                                size_t* size) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationOf(change, index);
  return operation == nullptr ? ReturnNone(size) : Return(operation->qualifier, size);
}
const char* bigtable_change_operation_value(const bigtable_change* change, size_t index,
                                            size_t* size) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationOf(change, index);
  return operation == nullptr ? ReturnNone(size) : Return(operation->value, size);
}
int64_t bigtable_change_operation_timestamp(const bigtable_change* change, size_t index) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationOf(change, index);
  if (operation == nullptr || !operation->timestamp.has_value()) return -1;
  return operation->timestamp->micros();
}
int64_t bigtable_change_operation_end(const bigtable_change* change, size_t index) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationOf(change, index);
  if (operation == nullptr || operation->kind != bigtable::OperationKind::kDeleteTimeRange) {
    return -1;
  }
  return operation->end.micros();
}

const char* bigtable_change_drop_begin(const bigtable_change* change, size_t* size) {
  if (change->change->kind != TableChange::Kind::kDropRows) return ReturnNone(size);
  return Return(change->change->rows.begin(), size);
}
const char* bigtable_change_drop_end(const bigtable_change* change, size_t* size) {
  if (change->change->kind != TableChange::Kind::kDropRows) return ReturnNone(size);
  return bigtable::ReturnEnd(change->change->rows, size);
}

bigtable_schema* bigtable_change_get_schema(const bigtable_change* change) {
  if (change->change->schema == nullptr) return nullptr;
  return new bigtable_schema{*change->change->schema, {}};
}
size_t bigtable_change_new_family_count(const bigtable_change* change) {
  return change->change->new_families.size();
}
const char* bigtable_change_new_family(const bigtable_change* change, size_t index, size_t* size) {
  if (index >= change->change->new_families.size()) return ReturnNone(size);
  return Return(change->change->new_families[index], size);
}

const char* bigtable_change_collection_begin(const bigtable_change* change, size_t* size) {
  if (change->change->kind != TableChange::Kind::kGarbageCollection) return ReturnNone(size);
  return Return(change->change->rows.begin(), size);
}
const char* bigtable_change_collection_end(const bigtable_change* change, size_t* size) {
  if (change->change->kind != TableChange::Kind::kGarbageCollection) return ReturnNone(size);
  return bigtable::ReturnEnd(change->change->rows, size);
}
size_t bigtable_change_collected_family_count(const bigtable_change* change) {
  return change->change->families.size();
}
const char* bigtable_change_collected_family(const bigtable_change* change, size_t index,
                                             size_t* size) {
  if (index >= change->change->families.size()) return ReturnNone(size);
  return Return(change->change->families[index], size);
}
int64_t bigtable_change_collected_at(const bigtable_change* change) {
  if (change->change->kind != TableChange::Kind::kGarbageCollection) return 0;
  return absl::ToUnixMicros(change->change->collected_at);
}
