#include <memory>

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "c/arguments.h"
#include "c/handles.h"

using bigtable::Durability;
using bigtable::ToEnum;

bigtable_options* bigtable_options_new() { return new bigtable_options; }
void bigtable_options_free(bigtable_options* options) { delete options; }
void bigtable_options_set_create_if_missing(bigtable_options* options, bool value) {
  options->options.create_if_missing = value;
}
void bigtable_options_set_error_if_exists(bigtable_options* options, bool value) {
  options->options.error_if_exists = value;
}
void bigtable_options_set_allow_foreign_files(bigtable_options* options, bool value) {
  options->options.allow_foreign_files = value;
}
void bigtable_options_set_read_only(bigtable_options* options, bool value) {
  options->options.read_only = value;
}
void bigtable_options_set_durability(bigtable_options* options, int durability) {
  options->options.durability = ToEnum<Durability>(durability);
}
void bigtable_options_set_memory_budget(bigtable_options* options, uint64_t bytes) {
  options->options.memory_budget = bytes;
}
void bigtable_options_set_shared_memory_budget(bigtable_options* options,
                                               bigtable_memory_budget* budget) {
  options->options.shared_memory_budget = budget == nullptr ? nullptr : budget->budget;
}
void bigtable_options_set_memtable_size(bigtable_options* options, uint64_t bytes) {
  options->options.memtable_size = bytes;
}
void bigtable_options_set_log_segment_size(bigtable_options* options, uint64_t bytes) {
  options->options.log_segment_size = bytes;
}
void bigtable_options_set_tablet_servers(bigtable_options* options, int count) {
  options->options.tablet_servers = count;
}
void bigtable_options_set_target_file_size(bigtable_options* options, uint64_t bytes) {
  options->options.target_file_size = bytes;
}
void bigtable_options_set_compaction_threads(bigtable_options* options, int count) {
  options->options.compaction_threads = count;
}
void bigtable_options_set_compaction_rate(bigtable_options* options, uint64_t bytes_per_second) {
  options->options.compaction_rate = bytes_per_second;
}
void bigtable_options_set_scan_cache(bigtable_options* options, bool value) {
  options->options.scan_cache = value;
}
void bigtable_options_set_positional_reads(bigtable_options* options, bool value) {
  using ReadMode = bigtable::FileSystem::ReadMode;
  options->options.read_mode = value ? ReadMode::kPositional : ReadMode::kMapped;
}
void bigtable_options_set_max_open_files(bigtable_options* options, int count) {
  options->options.max_open_files = count;
}
void bigtable_options_set_follow(bigtable_options* options, int64_t interval_micros) {
  options->options.follow = true;
  options->options.follow_interval =
      interval_micros < 0 ? absl::InfiniteDuration() : absl::Microseconds(interval_micros);
}
void bigtable_options_set_balance_interval(bigtable_options* options, int64_t micros) {
  options->options.balance_interval =
      micros == INT64_MAX ? absl::InfiniteDuration() : absl::Microseconds(micros);
}
void bigtable_options_set_metadata_tablet_size(bigtable_options* options, uint64_t bytes) {
  options->options.metadata_tablet_size = bytes;
}

bigtable_memory_budget* bigtable_memory_budget_new(uint64_t bytes) {
  return new bigtable_memory_budget{std::make_shared<bigtable::MemoryBudget>(bytes)};
}
void bigtable_memory_budget_free(bigtable_memory_budget* budget) { delete budget; }
