#include "client/followed_state.h"

#include <cstdint>
#include <set>
#include <utility>

#include "base/status.h"

namespace bigtable {

absl::StatusOr<std::shared_ptr<const FollowedState>> FollowedState::Open(
    std::string_view path, DatabaseOptions options, const LiveImage& image,
    std::shared_ptr<FollowedFiles> files) {
  const DatabaseDirectory directory(path);
  std::shared_ptr<FollowedState> state(new FollowedState);
  state->shared_ = std::move(files);
  FollowedFiles* const shared = state->shared_.get();
  state->file_system_ =
      std::make_unique<ImageFileSystem>(shared->files.get(), &shared->sstables, directory, image);
  options.read_only = true;
  options.follow = false;
  options.tablet_servers = 1;  // they would share the work of nothing
  options.file_system = state->file_system_.get();
  // What happens is told by the follower, not for each state.
  options.event_listener = nullptr;
  options.log_sink = nullptr;
  options.recorder = nullptr;
  BT_ASSIGN_OR_RETURN(state->database_, EmbeddedDatabase::Open(path, options, &shared->open));
  BT_ASSIGN_OR_RETURN(const std::set<uint64_t> numbers, state->database_->FileNumbers());
  for (const uint64_t number : numbers) {
    BT_ASSIGN_OR_RETURN(state->files_.emplace_back(), shared->held.Hold(directory.sstable(number)));
  }
  return state;
}

FollowedState::~FollowedState() {
  if (database_ != nullptr) database_->Close().IgnoreError();
}

absl::StatusOr<std::shared_ptr<TableBackend>> FollowedState::Table(
    std::string_view name, const OpenTableOptions& options) const {
  BT_ASSIGN_OR_RETURN(bigtable::Table* const table, database_->OpenTable(name, options));
  return TableBackend::Of(*table);
}

}  // namespace bigtable
