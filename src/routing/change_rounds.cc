// Table::ReadChanges: a round over the tablets of some rows.
//
// Why nothing is missed. First a number is taken that is at least that of every change so far.
// Then, of each tablet: the server finishes the writes that have taken numbers up to it; no garbage
// collection is pending (tablet/pending_collection.h); a version is pinned; and after that the
// tablet is found to be served there, not stopped, and its families not about to change. A tablet
// that is stopped before its rows are dropped, split, merged or moved is stopped before the number
// of a drop is taken, and families are known to change before the number of that change is taken.
// So these numbers are larger than the round's, and the pinned version has all changes up to it.
//
// In an image (ChangeRound::is_of_image) nothing is known of a collection that was being committed
// when the image was taken. The next one may have it, with a number that is smaller than those of
// changes that were returned. So a position says of collections on their own what was returned of
// them: those of a tablet are committed in the order of their numbers.
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "backend/option_limits.h"
#include "base/call_gate.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "changes/change_cursor.h"
#include "changes/change_state.h"
#include "cluster/server_host.h"
#include "cluster/server_set.h"
#include "master/master.h"
#include "read/row_ranges.h"
#include "routing/table_impl.h"
#include "schema/mutation_format.h"
#include "schema/schema_checks.h"
#include "tablet/tablet.h"

namespace bigtable {
namespace {

// The rows of one tablet that a round reads.
struct TabletPart {
  std::shared_ptr<Tablet> tablet;
  Pin<TabletVersion> version;
  RowRange rows = RowRange::All();
  ChangeState state;
  SequenceNumber after = 0;
  SequenceNumber collections_after = 0;
};

// The operations with the timestamps that the cells have got.
std::string WithTimestamps(const LoggedChange& logged) {
  std::string operations;
  OperationReader reader(logged.operations);
  for (MutationOperation operation; reader.Next(&operation);) {
    if (operation.takes_server_time()) {
      operation.has_timestamp = true;
      operation.timestamp = logged.micros;
    }
    AppendOperation(&operations, operation);
  }
  return operations;
}

TableChange ChangeOf(const LoggedChange& logged) {
  const std::string operations = WithTimestamps(logged);
  return {
      .kind = TableChange::Kind::kMutation,
      .sequence = logged.sequence,
      .time = absl::FromUnixMicros(logged.micros),
      .batch = logged.batch,
      .mutation =
          EncodedMutation{.row = logged.row, .operations = operations, .takes_server_time = false}
              .ToMutation()};
}

class Round {
 public:
  Round(const TableImpl* table, const ChangeRequest* request) : table_(table), request_(request) {}

  absl::StatusOr<ChangeRound> Run() {
    round_.complete_through = table_->database->parts.clock->Now();
    through_ = table_->database->parts.sequences->last();
    const bool begins = request_->position.parts.empty();
    if (!begins && request_->position.table_id != table_->route->table_id()) {
      return absl::InvalidArgumentError(
          Cat("the position is not of table ", table_->name(), ", but of another one"));
    }
    if (begins) {
      BT_RETURN_IF_ERROR(Find(request_->rows));
    } else {
      for (const ChangePosition::Part& part : request_->position.parts) {
        BT_RETURN_IF_ERROR(Find(part.rows));
      }
    }
    BT_RETURN_IF_ERROR(SetStarts(begins));
    if (request_->only_last) {
      BT_RETURN_IF_ERROR(FindLast());
      return std::move(round_);
    }
    round_.begin = round_.position;
    if (request_->ends_with_tablets && !IsOneTablet()) {
      round_.has_ended = true;
      for (const TabletPart& part : parts_) {
        if (round_.tablets.empty() || round_.tablets.back() != part.tablet->rows()) {
          round_.tablets.push_back(part.tablet->rows());
        }
      }
      return std::move(round_);
    }
    BT_RETURN_IF_ERROR(Merge());
    return std::move(round_);
  }

 private:
  absl::Status Find(const RowRange& rows) {
    const DatabaseImpl& database = *table_->database;
    const CallLimits& limits = request_->limits;
    const auto is_there = [&]() -> absl::Status {
      BT_ASSIGN_OR_RETURN(const bool found,
                          database.schemas->Has(table_->name(), table_->route->table_id(), limits));
      return found ? absl::OkStatus() : table_->DeletedError();
    };
    const size_t before = parts_.size();
    const auto add = [&](const HostedTablet& hosted, const RowRange& left) -> absl::Status {
      // What was found of a tablet that was superseded since.
      while (parts_.size() > before && parts_.back().rows.begin() >= left.begin()) {
        parts_.pop_back();
      }
      return AddTablet(hosted, left);
    };
    return database.cluster->servers()->ForEachTablet(table_->route->table_id(), rows, limits,
                                                      is_there, add);
  }

  // Does nothing if the tablet is superseded.
  absl::Status AddTablet(const HostedTablet& hosted, const RowRange& rows) {
    // A change of families takes a turn among the writes of each server. If it is not known whether
    // a schema, or a garbage collection, was written, it lasts until Database::Resume.
    constexpr absl::Duration kMostForOthers = absl::Seconds(5);
    const CallLimits& limits = request_->limits;
    const SteadyTime began = SteadyTime::Now();
    const DataPath* const path = hosted.host->data_path();
    const Tablet& tablet = *hosted.tablet;
    while (true) {
      BT_RETURN_IF_ERROR(limits.Check());
      if (table_->database->gate.closed()) return table_->database->ClosedError();
      if (tablet.flags().removed()) return table_->DeletedError();
      if (tablet.flags().superseded()) return absl::OkStatus();
      BT_RETURN_IF_ERROR(path->AwaitVisible(through_, limits));
      const bool is_collecting = !request_->without_collections && !request_->only_last &&
                                 tablet.pending_collection().any();
      Pin<TabletVersion> version = tablet.Version();
      ReadSpec spec;
      const bool is_current = path->BeginRead(tablet, *version, {.sequence = through_}, &spec) &&
                              !tablet.flags().stopped() && !version->layout().is_changing &&
                              !is_collecting;
      if (!is_current) {
        const bool lasts_long = SteadyTime::Now() - began > kMostForOthers;
        if (version->layout().is_changing && lasts_long) {
          return absl::UnavailableError(
              Cat("the families of table ", table_->name(), " are being changed"));
        }
        if (is_collecting && lasts_long) {
          return absl::UnavailableError(
              Cat("a compaction of table ", table_->name(), " is being committed"));
        }
        absl::SleepFor(absl::Milliseconds(1));
        continue;
      }
      BT_RETURN_IF_ERROR(path->CheckRead(version->layout(), nullptr, table_->caller, limits));
      TabletPart part{.tablet = hosted.tablet, .version = std::move(version), .rows = rows};
      if (const Ref<const GroupFiles>& files = part.version->change_files()) {
        absl::StatusOr<ChangeState> state = ChangeState::Decode(files->policy_state());
        BT_RETURN_IF_ERROR(state.status());
        part.state = *std::move(state);
      }
      parts_.push_back(std::move(part));
      return absl::OkStatus();
    }
  }

  // Sets where each part begins, and the position of the round's beginning.
  absl::Status SetStarts(bool begins) {
    round_.is_of_image = table_->database->parts.read_only;
    if (round_.is_of_image) SetCompleteThrough();
    round_.position = request_->position;
    if (begins) {
      const bool is_from_now = !request_->since.has_value();
      round_.position = {.table_id = table_->route->table_id(),
                         .families_after = is_from_now ? LastOfFamilies() : FirstOfFamilies(),
                         .parts = {}};
    }
    if (MissesFamilies(begins)) return DroppedError();
    if (round_.is_of_image) round_.position.parts.clear();
    if (begins) round_.first_schema = FirstSchema();
    round_.is_whole = round_.first_schema != nullptr;
    for (TabletPart& part : parts_) {
      const SequenceNumber opened = part.version->layout().changes_since;
      if (opened == 0) {
        return absl::FailedPreconditionError(
            Cat("table ", table_->name(),
                " has no change stream; Database::SetChangeStream opens one"));
      }
      const SequenceNumber oldest = std::max(opened, part.state.whole_after);
      round_.is_whole &= oldest == table_->route->table_id();
      if (!begins) {
        part.after = request_->position.AfterOf(part.rows.begin());
        part.collections_after = request_->position.CollectionsAfterOf(part.rows.begin());
        if (part.after < oldest || MissesCollections(part)) return DroppedError();
        if (round_.is_of_image) AddPositionOf(part);
        continue;
      }
      part.after = oldest;
      part.collections_after = std::max(opened, part.state.collections_whole_after);
      if (!request_->since.has_value()) {
        part.after = round_.is_of_image ? std::max(oldest, LastOf(part).sequence) : through_;
        part.collections_after = round_.is_of_image ? LastCollectionOf(part) : through_;
      }
      AddPositionOf(part);
      const SequenceNumber dropped_through =
          request_->without_collections
              ? part.state.whole_after
              : std::max(part.state.whole_after, part.state.collections_whole_after);
      const bool asks_for_dropped = request_->since.has_value() &&
                                    *request_->since != absl::InfinitePast() &&
                                    dropped_through > opened && Since() <= part.state.whole_since;
      if (asks_for_dropped) return DroppedError();
    }
    return absl::OkStatus();
  }
  void AddPositionOf(const TabletPart& part) {
    round_.position.parts.push_back({part.rows, part.after, part.collections_after});
  }
  // Whether changes of families that are asked for were dropped.
  bool MissesFamilies(bool begins) const {
    if (parts_.empty()) return false;
    const TableLayout& layout = parts_.front().version->layout();
    const SequenceNumber whole_after = layout.SchemaChangesWholeAfter();
    if (whole_after == layout.changes_since) return false;
    if (!begins) return round_.position.families_after < whole_after;
    return request_->since.has_value() && *request_->since != absl::InfinitePast() &&
           Since() <= layout.schema_changes.front().micros;
  }
  bool MissesCollections(const TabletPart& part) const {
    return !request_->without_collections &&
           part.collections_after < part.state.collections_whole_after;
  }
  // When the stream was opened.
  std::shared_ptr<const TableSchema> FirstSchema() const {
    if (parts_.empty()) return nullptr;
    const TableLayout& present = parts_.front().version->layout();
    if (present.schema_changes.empty()) {
      return std::make_shared<const TableSchema>(present.ToSchema());
    }
    const TableLayout::SchemaChange& first = present.schema_changes.front();
    if (first.sequence != present.changes_since) return nullptr;
    const absl::StatusOr<TableLayout> layout = TableLayout::Decode(first.layout);
    return layout.ok() ? std::make_shared<const TableSchema>(layout->ToSchema()) : nullptr;
  }

  // --- The last change ---

  struct Last {
    SequenceNumber sequence = 0;
    int64_t micros = std::numeric_limits<int64_t>::min();
  };
  // The last change of the rows of a tablet, other than of families.
  Last LastOf(const TabletPart& part) const {
    Last last{.sequence = part.state.whole_after};
    const auto look = [&](SequenceNumber sequence, int64_t micros) {
      last.sequence = std::max(last.sequence, sequence);
      last.micros = std::max(last.micros, micros);
    };
    for (const ChangeState::Drop& drop : part.state.drops) look(drop.sequence, drop.micros);
    for (const Ref<SSTable>& file : FilesOf(part)) {
      look(file->info().max_sequence, file->info().max_timestamp);
    }
    for (const ChangeList* list : ListsOf(part)) {
      for (const LoggedChange& change : InOrder(*list, last.sequence, through_)) {
        look(change.sequence, change.micros);
      }
    }
    return last;
  }
  static SequenceNumber LastCollectionOf(const TabletPart& part) {
    const std::vector<ChangeState::Collection>& collections = part.state.collections;
    return std::max({part.version->layout().changes_since, part.state.collections_whole_after,
                     collections.empty() ? 0 : collections.back().sequence});
  }
  SequenceNumber FirstOfFamilies() const {
    return parts_.empty() ? 0 : parts_.front().version->layout().SchemaChangesWholeAfter();
  }
  SequenceNumber LastOfFamilies() const {
    if (parts_.empty()) return 0;
    const TableLayout& layout = parts_.front().version->layout();
    return layout.schema_changes.empty() ? layout.changes_since
                                         : layout.schema_changes.back().sequence;
  }
  // The largest number of a change of any tablet: each of them has all that are smaller. But not of
  // collections, as in an image. A copy that is written to has collections of its own, with larger
  // numbers, which do not count.
  absl::Status FindLast() {
    SequenceNumber last = LastOfFamilies();
    for (const TabletPart& part : parts_) {
      last = std::max({last, part.version->layout().changes_since, LastOf(part).sequence});
    }
    round_.position.parts.clear();
    for (const TabletPart& part : parts_) {
      round_.position.parts.push_back({part.rows, last, std::min(last, LastCollectionOf(part))});
    }
    round_.position = round_.position.Within(request_->rows);
    round_.position.families_after = last;
    return absl::OkStatus();
  }
  // Of an image: each tablet may get changes after the last one that it has.
  void SetCompleteThrough() {
    round_.complete_through = parts_.empty() ? absl::InfinitePast() : absl::InfiniteFuture();
    for (const TabletPart& part : parts_) {
      const Last last = LastOf(part);
      const absl::Time known =
          last.sequence == 0 ? absl::InfinitePast() : absl::FromUnixMicros(last.micros);
      round_.complete_through = std::min(round_.complete_through, known);
    }
  }

  absl::Status DroppedError() const {
    return absl::OutOfRangeError(
        Cat("table ", table_->name(),
            ": changes after the position are not kept any more (ChangeStreamRule)"));
  }
  int64_t Since() const {
    if (!request_->since.has_value() || *request_->since == absl::InfinitePast()) return 0;
    return absl::ToUnixMicros(*request_->since);
  }

  // Whether the rows of the stream are those of one tablet.
  bool IsOneTablet() const {
    if (parts_.empty()) return true;
    const RowRange rows = RowsBetween(parts_.front().rows.begin(), parts_.back().rows.end());
    return std::all_of(parts_.begin(), parts_.end(),
                       [&](const TabletPart& part) { return part.tablet->rows() == rows; });
  }

  // --- What is not in the files and lists ---

  bool IsAskedFor(SequenceNumber sequence, int64_t micros, SequenceNumber after) const {
    return sequence > after && sequence <= through_ && micros >= Since();
  }

  // By number. There are several with one number if tablets that were one have parts of a change,
  // and a tablet between them has none.
  using OtherChangesByNumber = std::multimap<SequenceNumber, TableChange>;

  // The change of this number that these rows belong to: the one that ends where they begin, or a
  // new one.
  static TableChange* PartOf(OtherChangesByNumber* changes, SequenceNumber sequence,
                             const RowRange& rows) {
    const auto behind = changes->upper_bound(sequence);
    if (behind != changes->begin()) {
      TableChange& before = std::prev(behind)->second;
      if (before.sequence == sequence && before.rows.end() == rows.begin()) {
        before.rows = RowsBetween(before.rows.begin(), rows.end());
        return &before;
      }
    }
    TableChange& change = changes->emplace_hint(behind, sequence, TableChange())->second;
    change.sequence = sequence;
    change.rows = rows;
    return &change;
  }

  // Drops, changes of families and garbage collections.
  OtherChangesByNumber OtherChanges() const {
    OtherChangesByNumber changes;
    if (!request_->without_collections) AddCollections(&changes);
    for (const TabletPart& part : parts_) {
      for (const ChangeState::Drop& drop : part.state.drops) {
        if (!IsAskedFor(drop.sequence, drop.micros, part.after)) continue;
        const RowRange rows = Intersection(drop.rows, part.rows);
        if (rows.empty()) continue;
        // Tablets that were one when it was dropped each have a part of it, in key order.
        TableChange& change = *PartOf(&changes, drop.sequence, rows);
        change.kind = TableChange::Kind::kDropRows;
        change.time = absl::FromUnixMicros(drop.micros);
      }
    }
    if (parts_.empty()) return changes;
    const TableLayout& present = parts_.front().version->layout();
    // At the opening of the stream nothing has changed yet.
    const SequenceNumber after = std::max(round_.position.families_after, present.changes_since);
    SequenceNumber next_before = present.changes_since;
    for (const TableLayout::SchemaChange& noted : present.schema_changes) {
      const SequenceNumber before = std::exchange(next_before, noted.sequence);
      if (!IsAskedFor(noted.sequence, noted.micros, after)) continue;
      absl::StatusOr<TableLayout> layout = TableLayout::Decode(noted.layout);
      if (!layout.ok()) continue;  // it was decoded with the layout that has it
      TableChange& change = changes.emplace(noted.sequence, TableChange())->second;
      change.kind = TableChange::Kind::kFamilies;
      change.sequence = noted.sequence;
      change.time = absl::FromUnixMicros(noted.micros);
      change.schema = std::make_shared<const TableSchema>(layout->ToSchema());
      for (const FamilyLayout& family : layout->families) {
        if (family.created > before) change.new_families.push_back(family.name);
      }
    }
    return changes;
  }

  void AddCollections(OtherChangesByNumber* changes) const {
    for (const TabletPart& part : parts_) {
      for (const ChangeState::Collection& collection : part.state.collections) {
        if (!IsAskedFor(collection.sequence, collection.micros, part.collections_after)) continue;
        const RowRange rows = Intersection(collection.rows, part.rows);
        if (rows.empty()) continue;
        // Of tablets that were one, each has what no later collection has superseded.
        TableChange& change = *PartOf(changes, collection.sequence, rows);
        const bool is_new = change.families.empty();
        change.kind = TableChange::Kind::kGarbageCollection;
        change.time = absl::FromUnixMicros(collection.micros);
        change.collected_at = std::max(is_new ? absl::InfinitePast() : change.collected_at,
                                       absl::FromUnixMicros(collection.collected_at));
        std::vector<std::string> families;
        std::set_union(change.families.begin(), change.families.end(), collection.families.begin(),
                       collection.families.end(), std::back_inserter(families));
        change.families = std::move(families);
      }
    }
  }

  // --- Merging ---

  absl::Status Merge() {
    OtherChangesByNumber others = OtherChanges();
    std::vector<std::unique_ptr<ChangeCursor>> cursors;
    // The cursor with the smallest number is on top.
    using Head = std::pair<SequenceNumber, ChangeCursor*>;
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    const auto advance = [&](ChangeCursor* cursor) {
      if (cursor->Next()) heads.push({cursor->change().sequence, cursor});
      return cursor->status();
    };
    for (const TabletPart& part : parts_) {
      if (part.after >= through_) continue;
      cursors.push_back(CursorOf(part));
      BT_RETURN_IF_ERROR(advance(cursors.back().get()));
    }
    uint64_t bytes = 0;
    SequenceNumber last = 0;
    while (!heads.empty() || !others.empty()) {
      BT_RETURN_IF_ERROR(request_->limits.Check());
      // Changes of one number are in one round, so a position is behind all of them.
      const bool has_more_of_last = !others.empty() && others.begin()->first == last;
      if (bytes >= request_->most_bytes && !has_more_of_last) {
        round_.has_caught_up = false;
        if (!round_.is_of_image) round_.position.AdvanceTo(last);
        return absl::OkStatus();
      }
      if (heads.empty() || (!others.empty() && others.begin()->first < heads.top().first)) {
        round_.changes.push_back(std::move(others.begin()->second));
        others.erase(others.begin());
      } else {
        ChangeCursor* const cursor = heads.top().second;
        heads.pop();
        round_.changes.push_back(ChangeOf(cursor->change()));
        BT_RETURN_IF_ERROR(advance(cursor));
      }
      last = round_.changes.back().sequence;
      if (round_.is_of_image) AdvanceBy(round_.changes.back(), &round_.position);
      bytes += round_.changes.back().mutation.byte_size() + sizeof(TableChange);
    }
    if (!round_.is_of_image) round_.position.AdvanceTo(through_);
    return absl::OkStatus();
  }

  static std::vector<const ChangeList*> ListsOf(const TabletPart& part) {
    std::vector<const ChangeList*> lists;
    const GroupVersion& group = part.version->groups().front();
    const auto add = [&](const Memtable& memtable) {
      if (memtable.changes() != nullptr) lists.push_back(memtable.changes());
    };
    add(*group.active);
    for (const Ref<Memtable>& memtable : group.immutable) add(*memtable);
    return lists;
  }
  static std::vector<Ref<SSTable>> FilesOf(const TabletPart& part) {
    std::vector<Ref<SSTable>> files;
    if (const Ref<const GroupFiles>& changes = part.version->change_files()) {
      for (const GroupFiles::File& file : changes->files()) files.push_back(file.table);
    }
    return files;
  }
  std::unique_ptr<ChangeCursor> CursorOf(const TabletPart& part) const {
    return std::make_unique<ChangeCursor>(
        ListsOf(part), FilesOf(part),
        ChangeCursor::Options{
            .rows = part.rows, .after = part.after, .through = through_, .since = Since()});
  }

  const TableImpl* const table_;
  const ChangeRequest* const request_;
  SequenceNumber through_ = 0;
  std::vector<TabletPart> parts_;  // in key order
  ChangeRound round_;
};

}  // namespace

absl::Status TableImpl::SetChangeReader(std::string_view reader,
                                        std::optional<std::string_view> position,
                                        const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  const CallGate::LongPass pass(&database->gate);
  if (!pass) return database->ClosedError();
  BT_RETURN_IF_ERROR(database->CheckWritable(limits));
  BT_RETURN_IF_ERROR(CheckChangeReaderName(reader));
  std::optional<SequenceNumber> through;
  if (position.has_value()) {
    BT_ASSIGN_OR_RETURN(const ChangePosition decoded, ChangePosition::Decode(*position));
    if (decoded.table_id != route->table_id()) {
      return absl::InvalidArgumentError(
          Cat("the position is not of table ", name(), ", but of another one"));
    }
    through = decoded.Smallest();
  }
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, database->masters->Get(limits));
  if (caller.has_value()) {
    BT_ASSIGN_OR_RETURN(const TableLayout layout,
                        master->tablets()->LayoutOf(route->table_id(), name()));
    const auto hosts = database->cluster->servers()->Users();
    BT_RETURN_IF_ERROR(hosts.front()->data_path()->CheckRead(layout, nullptr, caller, limits));
  }
  return master->tables()->SetChangeReader(route->table_id(), reader, through, limits);
}

absl::StatusOr<ChangeRound> TableImpl::ReadChanges(const ChangeRequest& request) {
  const CallGate::LongPass pass(&database->gate);
  if (!pass) return database->ClosedError();
  if (database->locations.is_remote()) {
    return absl::UnimplementedError("changes are not read by messages");
  }
  return Round(this, &request).Run();
}

}  // namespace bigtable
