#include "bigtable/write_batch.h"

#include <utility>

#include "absl/status/status.h"

#include "base/status.h"
#include "c/arguments.h"
#include "c/handles.h"
#include "c/mutation.h"

using bigtable::OptionsOf;
using bigtable::ToError;

namespace bigtable {
namespace {

// Adds the mutation, unless an argument, or one of the mutation's operations, is a null pointer.
absl::Status AddMutation(bigtable_table* table, const bigtable_mutation* mutation,
                         WriteBatch* batch) {
  BT_RETURN_IF_ERROR(CheckNotNull({{"table", table}}));
  BT_RETURN_IF_ERROR(CheckMutation(mutation));
  batch->Apply(FromC(table), mutation->mutation);
  return absl::OkStatus();
}

const absl::Status& StatusOf(const bigtable_write_batch* batch) {
  return batch->refused.ok() ? batch->batch.status() : batch->refused;
}

}  // namespace
}  // namespace bigtable

bigtable_write_batch* bigtable_write_batch_new() { return new bigtable_write_batch; }
void bigtable_write_batch_free(bigtable_write_batch* batch) { delete batch; }

void bigtable_write_batch_apply(bigtable_write_batch* batch, bigtable_table* table,
                                const bigtable_mutation* mutation) {
  if (!bigtable::StatusOf(batch).ok()) return;
  batch->refused = bigtable::AddMutation(table, mutation, &batch->batch);
}

void bigtable_write_batch_clear(bigtable_write_batch* batch) {
  batch->batch.Clear();
  batch->refused = absl::OkStatus();
}

size_t bigtable_write_batch_mutation_count(const bigtable_write_batch* batch) {
  return batch->batch.mutation_count();
}
uint64_t bigtable_write_batch_byte_size(const bigtable_write_batch* batch) {
  return batch->batch.byte_size();
}

bigtable_error* bigtable_write_batch_check(const bigtable_write_batch* batch) {
  BT_C_CHECK_NOT_NULL({"batch", batch});
  return ToError(bigtable::StatusOf(batch));
}

bigtable_error* bigtable_database_apply(bigtable_database* database,
                                        const bigtable_write_batch* batch,
                                        const bigtable_write_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"batch", batch});
  if (!batch->refused.ok()) return ToError(batch->refused);
  return ToError(database->database->Apply(batch->batch, OptionsOf(options)));
}
