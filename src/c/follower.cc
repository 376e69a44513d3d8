// Followers.
#include "bigtable/follower.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "c/arguments.h"
#include "c/handles.h"

using bigtable::OptionsOf;
using bigtable::ToError;
using bigtable::View;

bigtable_follower_options* bigtable_follower_options_new() { return new bigtable_follower_options; }
void bigtable_follower_options_free(bigtable_follower_options* options) { delete options; }
void bigtable_follower_options_set_database(bigtable_follower_options* options,
                                            const bigtable_options* database) {
  options->options.database = database == nullptr ? bigtable::DatabaseOptions() : database->options;
}
bigtable_error* bigtable_follower_options_add_table(bigtable_follower_options* options,
                                                    const char* table, size_t table_size) {
  BT_C_CHECK_NOT_NULL({"options", options}, {"table", table, table_size});
  options->options.tables.emplace_back(View(table, table_size));
  return nullptr;
}
void bigtable_follower_options_set_interval(bigtable_follower_options* options, int64_t micros) {
  options->options.interval = absl::Microseconds(micros);
}
bigtable_error* bigtable_follower_options_set_reader(bigtable_follower_options* options,
                                                     const char* reader, size_t reader_size) {
  BT_C_CHECK_NOT_NULL({"options", options}, {"reader", reader, reader_size});
  options->options.reader = View(reader, reader_size);
  return nullptr;
}

bigtable_error* bigtable_follower_open(const char* path, size_t path_size,
                                       bigtable_database* source,
                                       const bigtable_follower_options* options,
                                       bigtable_follower** follower) {
  BT_C_CHECK_NOT_NULL({"follower", follower});
  *follower = nullptr;
  BT_C_CHECK_NOT_NULL({"path", path, path_size}, {"source", source});
  absl::StatusOr<std::unique_ptr<bigtable::Follower>> opened =
      bigtable::Follower::Open(View(path, path_size), source->database.get(),
                               options == nullptr ? bigtable::FollowerOptions() : options->options);
  if (!opened.ok()) return ToError(opened.status());
  *follower = new bigtable_follower(*std::move(opened));
  return nullptr;
}
bigtable_error* bigtable_follower_close(bigtable_follower* follower) {
  BT_C_CHECK_NOT_NULL({"follower", follower});
  return ToError(follower->follower->Close());
}
void bigtable_follower_free(bigtable_follower* follower) { delete follower; }

bigtable_database* bigtable_follower_database(bigtable_follower* follower) {
  return &follower->database;
}
bigtable_error* bigtable_follower_catch_up(bigtable_follower* follower,
                                           const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"follower", follower});
  return ToError(follower->follower->CatchUp(OptionsOf(options)));
}

uint64_t bigtable_follower_changes_applied(const bigtable_follower* follower) {
  return follower->follower->Statistics().changes_applied;
}
uint64_t bigtable_follower_bytes_applied(const bigtable_follower* follower) {
  return follower->follower->Statistics().bytes_applied;
}
int64_t bigtable_follower_complete_through(const bigtable_follower* follower) {
  return absl::ToUnixMicros(follower->follower->Statistics().complete_through);
}
int64_t bigtable_follower_lag(const bigtable_follower* follower) {
  return absl::ToInt64Microseconds(follower->follower->Statistics().lag);
}
bigtable_error* bigtable_follower_status(const bigtable_follower* follower) {
  BT_C_CHECK_NOT_NULL({"follower", follower});
  return ToError(follower->follower->Statistics().status);
}

bigtable_error* bigtable_follower_promote(bigtable_follower* follower, const char* fence_directory,
                                          size_t fence_directory_size,
                                          const bigtable_call_options* options,
                                          bigtable_database** writer) {
  BT_C_CHECK_NOT_NULL({"writer", writer});
  *writer = nullptr;
  BT_C_CHECK_NOT_NULL({"follower", follower},
                      {"fence_directory", fence_directory, fence_directory_size});
  const bigtable::CallOptions call = OptionsOf(options);
  absl::StatusOr<std::unique_ptr<bigtable::Database>> promoted = follower->follower->Promote(
      {.fence_directory = std::string(View(fence_directory, fence_directory_size)),
       .deadline = call.deadline,
       .cancellation = call.cancellation});
  if (!promoted.ok()) return ToError(promoted.status());
  *writer = new bigtable_database{*std::move(promoted)};
  return nullptr;
}
bigtable_error* bigtable_fence_database(const char* directory, size_t directory_size) {
  BT_C_CHECK_NOT_NULL({"directory", directory, directory_size});
  return ToError(bigtable::FenceDatabase(View(directory, directory_size)));
}
