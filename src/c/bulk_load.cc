// Bulk load: SSTableSorter and Table::Ingest.
#include "bigtable/bulk_load.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/timestamp.h"

#include "base/strings.h"
#include "c/arguments.h"
#include "c/handles.h"
#include "c/mutation.h"

using bigtable::FromC;
using bigtable::OptionsOf;
using bigtable::ToError;
using bigtable::View;

struct bigtable_sstable_sorter {
  std::unique_ptr<bigtable::SSTableSorter> sorter;
};

bigtable_error* bigtable_sstable_sorter_open(const char* directory, size_t directory_size,
                                             const bigtable_schema* schema, uint64_t memory,
                                             uint64_t file_size, int threads,
                                             bigtable_sstable_sorter** sorter) {
  BT_C_CHECK_NOT_NULL({"sorter", sorter});
  *sorter = nullptr;
  BT_C_CHECK_NOT_NULL({"directory", directory, directory_size}, {"schema", schema});
  bigtable::SSTableSorterOptions options;
  if (memory != 0) options.memory = memory;
  if (file_size != 0) options.file_size = file_size;
  if (threads != 0) options.threads = threads;
  absl::StatusOr<std::unique_ptr<bigtable::SSTableSorter>> created =
      bigtable::SSTableSorter::Create(View(directory, directory_size), schema->schema, options);
  if (!created.ok()) return ToError(created.status());
  *sorter = new bigtable_sstable_sorter{*std::move(created)};
  return nullptr;
}
void bigtable_sstable_sorter_free(bigtable_sstable_sorter* sorter) { delete sorter; }

bigtable_error* bigtable_sstable_sorter_add(bigtable_sstable_sorter* sorter,
                                            const bigtable_mutation* mutation) {
  BT_C_CHECK_NOT_NULL({"sorter", sorter});
  if (absl::Status status = bigtable::CheckMutation(mutation); !status.ok()) return ToError(status);
  return ToError(sorter->sorter->Add(mutation->mutation));
}

bigtable_error* bigtable_sstable_sorter_add_cell(bigtable_sstable_sorter* sorter, const char* row,
                                                 size_t row_size, const char* column,
                                                 size_t column_size, int64_t timestamp,
                                                 const char* value, size_t value_size) {
  BT_C_CHECK_NOT_NULL({"sorter", sorter}, {"row", row, row_size}, {"column", column, column_size},
                      {"value", value, value_size});
  return ToError(sorter->sorter->Add(View(row, row_size), View(column, column_size),
                                     bigtable::Timestamp(timestamp), View(value, value_size)));
}

bigtable_error* bigtable_sstable_sorter_finish(bigtable_sstable_sorter* sorter,
                                               bigtable_string_list** files) {
  BT_C_CHECK_NOT_NULL({"files", files});
  *files = nullptr;
  BT_C_CHECK_NOT_NULL({"sorter", sorter});
  absl::StatusOr<std::vector<std::string>> finished = sorter->sorter->Finish();
  if (!finished.ok()) return ToError(finished.status());
  *files = new bigtable_string_list{*std::move(finished)};
  return nullptr;
}

bigtable_error* bigtable_table_ingest(bigtable_table* table, const bigtable_string_list* files,
                                      uint32_t flags, const bigtable_call_options* options,
                                      uint64_t* entries) {
  if (entries != nullptr) *entries = 0;
  BT_C_CHECK_NOT_NULL({"table", table}, {"files", files});
  constexpr uint32_t kAll =
      BIGTABLE_INGEST_OLDEST | BIGTABLE_INGEST_MOVE | BIGTABLE_INGEST_UNVERIFIED;
  if ((flags & ~kAll) != 0) {
    return ToError(absl::InvalidArgumentError(
        bigtable::Cat("the argument flags must be a sum of BIGTABLE_INGEST_, and is ", flags)));
  }
  const bigtable::CallOptions call = OptionsOf(options);
  const absl::StatusOr<bigtable::IngestSummary> summary =
      FromC(table)->Ingest(files->strings, {.deadline = call.deadline,
                                            .cancellation = call.cancellation,
                                            .wins = (flags & BIGTABLE_INGEST_OLDEST) != 0
                                                        ? bigtable::IngestOptions::Wins::kOldest
                                                        : bigtable::IngestOptions::Wins::kNewest,
                                            .moves_files = (flags & BIGTABLE_INGEST_MOVE) != 0,
                                            .verifies = (flags & BIGTABLE_INGEST_UNVERIFIED) == 0});
  if (!summary.ok()) return ToError(summary.status());
  if (entries != nullptr) *entries = summary->entries;
  return nullptr;
}
