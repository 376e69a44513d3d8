#include "tablet/group_files.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/base/macros.h"

#include "base/status.h"
#include "tablet/file_estimates.h"

namespace bigtable {

GroupFiles::GroupFiles(const GroupState& state, std::vector<Ref<SSTable>> tables)
    : redo_(state.redo), policy_state_(state.policy_state) {
  ABSL_ASSERT(tables.size() == state.files.size() && "one table for each file");
  files_.reserve(tables.size());
  for (size_t i = 0; i < tables.size(); ++i) {
    files_.push_back({state.files[i].order, std::move(tables[i]), state.files[i].share});
  }
}

GroupState GroupFiles::State() const {
  GroupState state{.redo = redo_, .files = {}, .policy_state = policy_state_};
  for (const File& file : files_) {
    state.files.push_back({file.order, file.table->info(), file.share});
  }
  return state;
}

uint64_t GroupFiles::BytesOf(uint64_t number) const {
  for (const File& file : files_) {
    if (file.table->info().file_number == number) return file.table->info().size;
  }
  return 0;
}

GroupFiles::Orders GroupFiles::OrdersOf(const std::vector<Ref<SSTable>>& tables) const {
  std::vector<const SSTable*> wanted;
  wanted.reserve(tables.size());
  for (const Ref<SSTable>& table : tables) wanted.push_back(table.get());
  std::sort(wanted.begin(), wanted.end());
  Orders orders{.oldest = std::numeric_limits<uint64_t>::max()};
  for (const File& file : files_) {
    if (!std::binary_search(wanted.begin(), wanted.end(), file.table.get())) continue;
    orders.oldest = std::min(orders.oldest, file.order);
    orders.newest = std::max(orders.newest, file.order);
  }
  ABSL_ASSERT(orders.oldest <= orders.newest && "they are files of the group");
  return orders;
}

[[maybe_unused]] static bool IsInOrder(const SortedRun& run) {
  return std::adjacent_find(run.files.begin(), run.files.end(), [](const auto& a, const auto& b) {
           return a->info().largest_key >= b->info().smallest_key;
         }) == run.files.end();
}

std::vector<SortedRun> GroupFiles::MakeRuns() const {
  std::vector<File> sorted = files_;
  std::sort(sorted.begin(), sorted.end(), [](const File& a, const File& b) {
    return a.order != b.order ? a.order > b.order
                              : a.table->info().smallest_key < b.table->info().smallest_key;
  });
  std::vector<SortedRun> runs;
  JoinedRuns joined;
  for (size_t i = 0; i < sorted.size();) {
    SortedRun run;
    const uint64_t order = sorted[i].order;
    for (; i < sorted.size() && sorted[i].order == order; ++i) run.files.push_back(sorted[i].table);
    if (joined.Add(run)) continue;
    runs.push_back(joined.Take());
    joined.Add(run);
  }
  if (!joined.empty()) runs.push_back(joined.Take());
  ABSL_ASSERT(std::accumulate(runs.begin(), runs.end(), size_t{0},
                              [](size_t sum, const SortedRun& run) {
                                return sum + run.files.size();
                              }) == files_.size() &&
              "every file is in one run");
  for (SortedRun& run : runs) {
    ABSL_ASSERT(IsInOrder(run) && "files of a sorted run overlap");
    run.FindSplitRows();
  }
  return runs;
}

Ref<const GroupFiles> GroupFiles::After(const TabletChange& change,
                                        const std::vector<Ref<SSTable>>& added) const {
  auto next = MakeRef<GroupFiles>();
  next->redo_ = change.redo.value_or(redo_);
  next->policy_state_ = change.policy_state.value_or(policy_state_);
  ABSL_ASSERT(next->redo_.sequence >= redo_.sequence && "a redo point moves back");
  for (const File& file : files_) {
    const uint64_t number = file.table->info().file_number;
    if (std::count(change.removed.begin(), change.removed.end(), number) > 0) continue;
    const auto moved =
        std::find_if(change.added.begin(), change.added.end(),
                     [&](const TabletFile& f) { return f.info.file_number == number; });
    const uint64_t order = moved != change.added.end() ? moved->order : file.order;
    next->files_.push_back({order, file.table, file.share});
  }
  for (const Ref<SSTable>& table : added) {
    const auto named = std::find_if(
        change.added.begin(), change.added.end(),
        [&](const TabletFile& f) { return f.info.file_number == table->info().file_number; });
    ABSL_ASSERT(named != change.added.end() && "only files that the change adds were opened");
    if (named != change.added.end()) next->files_.push_back({named->order, table, named->share});
  }
  ABSL_ASSERT(
      std::all_of(change.added.begin(), change.added.end(),
                  [&](const TabletFile& f) { return next->BytesOf(f.info.file_number) != 0; }) &&
      "every file that the change adds was opened, or is moved");
  return next;
}

namespace {

// Which part of a share is within the range, which is half of the tablet. At least 1: it is known.
uint64_t ShareWithin(const SSTable& file, const KeyRange& keys, uint64_t share) {
  const uint64_t bytes = file.is_open() ? BytesBetween(file, keys) : 0;
  // Less than a block is not known.
  if (bytes == 0) return std::max<uint64_t>(share / 2, 1);
  return std::min(bytes, share);
}

}  // namespace

Ref<const GroupFiles> GroupFiles::Within(const KeyRange& keys) const {
  auto part = MakeRef<GroupFiles>();
  part->redo_ = redo_;
  part->policy_state_ = policy_state_;
  for (const File& file : files_) {
    if (!keys.Overlaps(file.table->info())) continue;
    const uint64_t share = file.share == 0 ? 0 : ShareWithin(*file.table, keys, file.share);
    part->files_.push_back({file.order, file.table, share});
  }
  return part;
}

Ref<const GroupFiles> GroupFiles::Emptied() const {
  auto none = MakeRef<GroupFiles>();
  none->redo_ = redo_;
  return none;
}

absl::StatusOr<std::vector<Ref<SSTable>>> OpenSSTables(const TabletEnvironment& environment,
                                                       const GroupLayout& group,
                                                       const std::vector<TabletFile>& files,
                                                       bool is_deferred) {
  std::vector<Ref<SSTable>> open;
  OpenTables* const tables = environment.open_tables;
  for (const TabletFile& file : files) {
    const std::string path = environment.path_of(file.info.file_number);
    absl::StatusOr<Ref<SSTable>> table =
        is_deferred ? tables->Defer(path, file.info, group.options.in_memory)
                    : tables->Open(path, file.info, group.options.in_memory);
    if (absl::IsNotFound(table.status())) {
      // METADATA names it, so it existed.
      return absl::DataLossError(table.status().message());
    }
    BT_RETURN_IF_ERROR(table.status());
    open.push_back(*std::move(table));
  }
  return open;
}

}  // namespace bigtable
