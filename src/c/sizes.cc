// Samples of row keys, sizes of ranges, and ranges that are dropped.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/row_key_sample.h"
#include "bigtable/row_range.h"

#include "base/strings.h"
#include "c/arguments.h"
#include "c/handles.h"

using bigtable::FromC;
using bigtable::OptionsOf;
using bigtable::RowKeySample;
using bigtable::ToError;

bigtable_error* bigtable_table_sample_row_keys(bigtable_table* table,
                                               const bigtable_call_options* options,
                                               bigtable_row_key_samples** samples) {
  BT_C_CHECK_NOT_NULL({"samples", samples});
  *samples = nullptr;
  BT_C_CHECK_NOT_NULL({"table", table});
  absl::StatusOr<std::vector<RowKeySample>> sampled =
      FromC(table)->SampleRowKeys(OptionsOf(options));
  if (!sampled.ok()) return ToError(sampled.status());
  *samples = new bigtable_row_key_samples{*std::move(sampled)};
  return nullptr;
}

size_t bigtable_row_key_samples_count(const bigtable_row_key_samples* samples) {
  return samples->samples.size();
}
const char* bigtable_row_key_samples_row(const bigtable_row_key_samples* samples, size_t index,
                                         size_t* size) {
  return index < samples->samples.size() ? bigtable::Return(samples->samples[index].row, size)
                                         : bigtable::ReturnNone(size);
}
uint64_t bigtable_row_key_samples_offset(const bigtable_row_key_samples* samples, size_t index) {
  return index < samples->samples.size() ? samples->samples[index].offset_bytes : 0;
}
void bigtable_row_key_samples_free(bigtable_row_key_samples* samples) { delete samples; }

bigtable_error* bigtable_table_get_approximate_sizes(bigtable_table* table,
                                                     const bigtable_row_set* set,
                                                     const bigtable_call_options* options,
                                                     uint64_t* sizes, size_t count) {
  BT_C_CHECK_NOT_NULL({"sizes", sizes, count});
  std::fill_n(sizes, count, 0);
  BT_C_CHECK_NOT_NULL({"table", table});
  const bigtable::RowSet rows = bigtable::RowsOf(set);
  if (rows.ranges().size() != count) {
    return ToError(absl::InvalidArgumentError(
        bigtable::Cat("the argument count must be the number of ranges of the set, which is ",
                      rows.ranges().size(), ", and is ", count)));
  }
  const absl::StatusOr<std::vector<uint64_t>> estimated =
      FromC(table)->ApproximateSizes(rows.ranges(), OptionsOf(options));
  if (!estimated.ok()) return ToError(estimated.status());
  std::copy(estimated->begin(), estimated->end(), sizes);
  return nullptr;
}

bigtable_error* bigtable_table_drop_rows(bigtable_table* table, const bigtable_row_set* set,
                                         const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"table", table}, {"set", set});
  const bigtable::CallOptions call = OptionsOf(options);
  for (const bigtable::RowRange& range : set->rows.Normalized()) {
    if (absl::Status dropped = FromC(table)->DropRowRange(range, call); !dropped.ok()) {
      return ToError(dropped);
    }
  }
  return nullptr;
}
