#include "master/ingestion.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "base/entry_key.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/thread_roles.h"
#include "cluster/tablet_claim.h"
#include "commit/server_turns.h"
#include "metadata/metadata_format.h"
#include "metadata/metadata_table.h"
#include "tablet/group_files.h"
#include "tablet/tablet_state.h"

namespace bigtable {
namespace {

std::string_view RowPart(std::string_view key) { return key.substr(0, RowPrefixSize(key)); }

// The files of one layer and group, by their first row.
class DisjointFiles {
 public:
  bool Overlaps(std::string_view first, std::string_view last) const {
    const auto after = rows_.upper_bound(last);
    return after != rows_.begin() && std::prev(after)->second >= first;
  }
  void Add(std::string_view first, std::string_view last) { rows_.emplace(first, last); }

 private:
  std::map<std::string_view, std::string_view> rows_;  // the last row of each by its first
};

void Shift(int64_t shift, SSTableInfo* info) {
  info->ingested->sequence_shift = shift;
  const auto shifted = [&](SequenceNumber sequence) {
    return (sequence + static_cast<uint64_t>(shift)) & kMaxSequence;
  };
  info->min_sequence = shifted(info->min_sequence);
  info->max_sequence = shifted(info->max_sequence);
  for (std::string* const key : {&info->smallest_key, &info->largest_key}) {
    SetSequence(key->data(), key->size(), shifted(VersionOf(*key).sequence));
  }
}

const std::vector<TabletFile>& FilesOf(const TabletState& state, uint32_t group_id) {
  static const std::vector<TabletFile> none;
  const auto group = state.groups.find(group_id);
  return group == state.groups.end() ? none : group->second.files;
}

// The files in layers from old to new: in each, no two files of a group share a row. The numbers
// are indexes.
std::vector<std::vector<size_t>> LayersOf(absl::Span<const IngestedFile> files) {
  std::vector<std::vector<size_t>> layers;
  std::vector<std::map<uint32_t, DisjointFiles>> rows;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string_view first = RowPart(files[i].info.smallest_key);
    const std::string_view last = RowPart(files[i].info.largest_key);
    // Above the newest that it shares a row with.
    size_t layer = rows.size();
    while (layer > 0 && !rows[layer - 1][files[i].group_id].Overlaps(first, last)) --layer;
    if (layer == rows.size()) {
      rows.emplace_back();
      layers.emplace_back();
    }
    rows[layer][files[i].group_id].Add(first, last);
    layers[layer].push_back(i);
  }
  return layers;
}

}  // namespace

absl::Status CheckTakesFiles(const TableLayout& layout) {
  if (!layout.has_changes()) return absl::OkStatus();
  return absl::FailedPreconditionError(Cat(
      "table ", layout.name, " has a change stream, which files that are ingested would bypass"));
}

// One call.
class Ingestion::Run {
 public:
  Run(const Parts& parts, MasterContext* context, const std::vector<HostedTablet>& tablets,
      const IngestRequest& request)
      : parts_(parts), context_(context), tablets_(tablets), request_(request) {}

  absl::Status Do(bool* may_be_named) {
    // Before the claims: tablets that are claimed cannot be flushed.
    const LimitedMutexLock lock(parts_.mutex, &request_.limits, "the ingestion of other files");
    BT_RETURN_IF_ERROR(lock.status());
    // Nobody opens a stream while this thread has the lock.
    for (const HostedTablet& hosted : tablets_) {
      BT_RETURN_IF_ERROR(CheckTakesFiles(*hosted.tablet->Layout()));
    }
    BT_RETURN_IF_ERROR(FlushFirst());
    std::vector<std::shared_ptr<Tablet>> claimed;
    claimed.reserve(tablets_.size());
    for (const HostedTablet& hosted : tablets_) {
      claimed.push_back(hosted.tablet);
      Host& host = hosts_[hosted.host.get()];
      host.hosted = hosted.host;
      host.tablets.push_back(hosted.tablet);
    }
    BT_RETURN_IF_ERROR(context_->AwaitChanges(request_.limits));
    const TabletClaim claim(context_->background, std::move(claimed), request_.limits);
    BT_RETURN_IF_ERROR(claim.status());
    BT_RETURN_IF_ERROR(PlaceInTime());
    BT_RETURN_IF_ERROR(OpenFiles());
    return StopFrom(hosts_.begin(), may_be_named);
  }

 private:
  struct Host {
    std::shared_ptr<ServerHost> hosted;
    std::vector<std::shared_ptr<Tablet>> tablets;  // with rows of the files
  };
  using Hosts = std::map<ServerHost*, Host, std::less<>>;  // in the order of WithStopped
  struct PlacedFile {
    size_t layer = 0;
    uint64_t order = 0;
    SSTableInfo info;
  };
  struct Replacement {
    ServerHost* host = nullptr;
    std::shared_ptr<Tablet> stopped;
    std::shared_ptr<Tablet> by;
  };

  // --- Step 1 ---

  absl::Status FlushFirst() {
    std::map<ServerHost*, size_t> tablets;
    for (const HostedTablet& hosted : tablets_) ++tablets[hosted.host.get()];
    for (const HostedTablet& hosted : tablets_) {
      size_t& of_host = tablets[hosted.host.get()];
      if (of_host == 1) {
        BT_RETURN_IF_ERROR(context_->background->FlushTablet(hosted.host->server(), hosted.tablet,
                                                             request_.limits));
      } else if (of_host > 1) {  // together
        BT_RETURN_IF_ERROR(
            context_->background->FlushServer(hosted.host->server(), request_.limits));
      }
      of_host = 0;
    }
    return absl::OkStatus();
  }

  // --- Step 2 ---

  absl::Status PlaceInTime() {
    const std::vector<std::vector<size_t>> layers = LayersOf(request_.files);
    files_.resize(request_.files.size());
    uint64_t numbers = 0;
    std::vector<uint64_t> widths;
    for (const std::vector<size_t>& layer : layers) {
      uint64_t width = 1;
      for (const size_t i : layer) {
        const SSTableInfo& info = request_.files[i].info;
        width = std::max(width, info.max_sequence - info.min_sequence + 1);
      }
      widths.push_back(width);
      numbers += std::min(width, kMostNumbers + 1);
    }
    if (numbers > kMostNumbers) {
      return absl::InvalidArgumentError(
          Cat("the files span ", numbers, " sequence numbers; ", kMostNumbers, " are allowed"));
    }
    BT_ASSIGN_OR_RETURN(SequenceNumber next,
                        request_.oldest_wins ? FirstBelow(numbers) : FirstAhead(numbers));
    layers_ = layers.size();
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      for (const size_t i : layers[layer]) {
        // As of a flush. Those that lose get another one in each tablet.
        files_[i] = {
            .layer = layer, .order = next + widths[layer] - 1, .info = request_.files[i].info};
        const int64_t shift =
            static_cast<int64_t>(next) - static_cast<int64_t>(files_[i].info.min_sequence);
        Shift(shift, &files_[i].info);
      }
      next += widths[layer];
    }
    last_ = next - 1;
    return absl::OkStatus();
  }
  absl::StatusOr<SequenceNumber> FirstAhead(uint64_t numbers) const {
    const SequenceNumber last = parts_.sequences->last();
    if (last + kAhead + numbers >= kMaxSequence) {
      return absl::ResourceExhaustedError("there are no more sequence numbers for ingested files");
    }
    return last + kAhead;
  }
  absl::StatusOr<SequenceNumber> FirstBelow(uint64_t numbers) const {
    SequenceNumber above = parts_.sequences->last() + 1;
    SequenceNumber below = 0;  // entries up to it are of earlier families
    std::set<uint32_t> groups;
    for (const IngestedFile& file : request_.files) {
      groups.insert(file.group_id);
      for (const SSTableInfo::FamilyBytes& of_family : file.info.families) {
        const FamilyLayout* const family = request_.layout->FindFamily(of_family.name);
        if (family != nullptr) below = std::max(below, family->created);
      }
    }
    for (const HostedTablet& hosted : tablets_) {
      const Pin<TabletVersion> version = hosted.tablet->Version();
      above = std::min(above, version->FirstUnflushed());
      for (size_t i = 0; i < version->groups().size(); ++i) {
        if (!groups.contains(version->layout().groups[i].id)) continue;
        for (const GroupFiles::File& file : version->groups()[i].files->files()) {
          above = std::min(above, file.table->info().min_sequence);
        }
      }
    }
    if (above <= below + numbers) return NoRoomError();
    return above - numbers;
  }

  absl::Status OpenFiles() {
    const TabletEnvironment& environment = *tablets_.front().tablet->environment();
    for (size_t i = 0; i < files_.size(); ++i) {
      const size_t group = request_.layout->GroupIndex(request_.files[i].group_id);
      BT_ASSIGN_OR_RETURN(std::vector<Ref<SSTable>> opened,
                          OpenSSTables(environment, request_.layout->groups[group],
                                       {{files_[i].order, files_[i].info}}));
      opened_.push_back(std::move(opened.front()));
    }
    return absl::OkStatus();
  }

  // --- Steps 3 to 5 ---

  absl::Status StopFrom(Hosts::iterator host, bool* may_be_named) {
    if (host == hosts_.end()) return Commit(may_be_named);
    return host->second.hosted->WithStopped(
        context_->epoch(), host->second.tablets, request_.limits,
        [&] { return StopFrom(std::next(host), may_be_named); });
  }

  absl::Status Commit(bool* may_be_named) {
    std::vector<TabletStep> steps;
    std::vector<Replacement> replacements;
    for (const auto& [_, host] : hosts_) {
      for (const std::shared_ptr<Tablet>& tablet : host.tablets) {
        if (*tablet->Layout() != *request_.layout) {
          return absl::AbortedError(
              Cat("the schema of table ", request_.layout->name, " has changed"));
        }
        TabletState state = tablet->State();
        BT_RETURN_IF_ERROR(CheckOlderThan(state));
        BT_ASSIGN_OR_RETURN(std::vector<TabletStep> of_tablet, StepsOf(tablet->id(), state));
        for (TabletStep& step : of_tablet) {
          ApplyChange(step.change, &state);
          steps.push_back(std::move(step));
        }
        BT_ASSIGN_OR_RETURN(
            std::shared_ptr<Tablet> by,
            Tablet::Open(host.hosted->server()->environment(), tablet->Layout(), state));
        by->flags().SetStopped(true);
        replacements.push_back({host.hosted.get(), tablet, std::move(by)});
      }
    }
    BT_RETURN_IF_ERROR(request_.limits.Check());
    BT_RETURN_IF_ERROR(context_->Step());
    MetadataTable* const metadata = hosts_.begin()->second.hosted->metadata();
    absl::Status committed = metadata->Commit(steps);
    if (absl::IsFailedPrecondition(committed)) {  // their rows are in several tablets of METADATA
      BT_RETURN_IF_ERROR(CommitAsBatch(metadata->EncodeSteps(steps), &committed));
    }
    if (!committed.ok()) {
      *may_be_named = metadata->IsInDoubt(committed);
      if (*may_be_named) parts_.sequences->AdvanceTo(last_);
      return committed;
    }
    *may_be_named = true;
    for (const PlacedFile& file : files_) {
      const auto names_it = [&](const Replacement& replacement) {
        return MayHaveRowsOf(file.info, replacement.by->rows());
      };
      const auto names = std::count_if(replacements.begin(), replacements.end(), names_it);
      for (auto i = names; i > 1; --i) parts_.shared_files->Share(file.info.file_number);
    }
    Publish(replacements);
    return absl::OkStatus();
  }

  // After an error that is returned, nothing is committed; otherwise `*committed` is the outcome.
  absl::Status CommitAsBatch(const std::vector<MetadataTable::RowChange>& changes,
                             absl::Status* committed) const {
    while (true) {
      std::vector<HostedTablet> tablets;
      std::vector<std::shared_ptr<const TableLayout>> layouts;
      std::vector<BatchMutation> mutations;
      mutations.reserve(changes.size());
      for (const MetadataTable::RowChange& change : changes) {
        HostedTablet hosted = context_->servers->FindTablet(kMetadataTableId, change.row);
        if (!hosted) break;
        layouts.push_back(hosted.tablet->Layout());
        mutations.push_back({&hosted.host->server()->writer(),
                             hosted.tablet.get(),
                             layouts.back().get(),
                             {change.row, change.operations}});
        tablets.push_back(std::move(hosted));
      }
      if (mutations.size() == changes.size()) {
        std::optional<size_t> superseded;
        *committed = parts_.batches->Apply(
            {.mutations = mutations, .durability = Durability::kSync}, &superseded);
        if (!superseded.has_value()) return absl::OkStatus();
      }
      // A tablet of METADATA is split, or its server is replaced.
      BT_RETURN_IF_ERROR(request_.limits.Check());
      BT_RETURN_IF_ERROR(context_->Step());
      if (context_->IsStopping()) {
        return absl::FailedPreconditionError("the database is being closed");
      }
      context_->background->WaitForProgress(absl::Milliseconds(1));
    }
  }

  // The changes of a tablet with this state, one for each group.
  absl::StatusOr<std::vector<TabletStep>> StepsOf(const TabletId& tablet,
                                                  const TabletState& state) const {
    std::map<uint32_t, TabletChange> changes;
    std::map<uint32_t, uint64_t> lowest;  // the orders of files that lose are below it
    for (size_t i = 0; i < files_.size(); ++i) {
      if (!MayHaveRowsOf(files_[i].info, state.rows)) continue;
      const uint32_t group_id = request_.files[i].group_id;
      const auto [change, is_new] = changes.try_emplace(group_id);
      uint64_t order = files_[i].order;
      if (is_new) change->second.group_id = group_id;
      if (request_.oldest_wins) {
        if (is_new) {
          BT_ASSIGN_OR_RETURN(lowest[group_id],
                              MakeRoomBelow(FilesOf(state, group_id), &change->second));
        }
        order = lowest[group_id] - layers_ + files_[i].layer;
      }
      change->second.added.push_back({order, files_[i].info});
    }
    std::vector<TabletStep> steps;
    steps.reserve(changes.size());
    for (auto& [_, change] : changes) steps.push_back({tablet, std::move(change)});
    return steps;
  }
  // Below the returned order there are as many unused ones as there are layers. A compaction gives
  // its output the oldest order of its inputs, so runs may have to get other orders: as high as
  // those of the next flush allow.
  absl::StatusOr<uint64_t> MakeRoomBelow(const std::vector<TabletFile>& files,
                                         TabletChange* change) const {
    if (files.empty()) return last_ + 1;
    std::map<uint64_t, uint64_t> orders;  // the new one by the old one
    SequenceNumber largest = 0;
    for (const TabletFile& file : files) {
      orders[file.order] = file.order;
      largest = std::max(largest, file.info.max_sequence);
    }
    if (orders.begin()->first > layers_) return orders.begin()->first;
    uint64_t next = std::max(orders.rbegin()->first, largest);
    if (next < orders.size() + layers_) return NoRoomError();
    for (auto order = orders.rbegin(); order != orders.rend(); ++order) order->second = next--;
    for (const TabletFile& file : files) {
      change->added.push_back({orders[file.order], file.info, file.share});
    }
    return orders.begin()->second;
  }
  // A write that had a number when the files got theirs may have come to the tablet after that.
  absl::Status CheckOlderThan(const TabletState& state) const {
    if (!request_.oldest_wins) return absl::OkStatus();
    for (const IngestedFile& ingested : request_.files) {
      for (const TabletFile& file : FilesOf(state, ingested.group_id)) {
        if (file.info.min_sequence > last_) continue;
        return absl::NotFoundError("the table has got data that is older than the files");
      }
    }
    return absl::OkStatus();
  }
  absl::Status NoRoomError() const {
    return absl::FailedPreconditionError(
        Cat("table ", request_.layout->name, " has too few unused sequence numbers below its ",
            "oldest data for files that lose against it; it has ", kLeftForOldest,
            " of them when it is created, and again after a major compaction, unless a family was ",
            "added later"));
  }

  // It has no limits, so it has run when this returns: a turn comes in the end, as a server whose
  // log stalls for ever ends.
  void Publish(const std::vector<Replacement>& replacements) {
    std::vector<GroupWriter*> writers;
    writers.reserve(hosts_.size());
    for (const auto& [_, host] : hosts_) writers.push_back(&host.hosted->server()->writer());
    const absl::Status published =
        RunInTurnsOf(writers, CallLimits(), [&] { PublishInTurns(replacements); });
    ABSL_ASSERT(published.ok() && "there are no limits that could end it");
    published.IgnoreError();
  }
  void PublishInTurns(const std::vector<Replacement>& replacements) {
    for (const auto& [_, host] : hosts_) host.hosted->server()->writer().queue()->AssertInTurn();
    server_writer.Assume("this thread has a turn at each of the servers");
    for (const Replacement& replacement : replacements) {
      replacement.host->ReplaceStopped(replacement.stopped, replacement.by);
    }
    if (!request_.oldest_wins && parts_.sequences->last() >= last_) {
      context_->info_log->Warning("snapshots that were taken while files were ingested see them: ",
                                  "METADATA was slow, or another server was lost meanwhile");
    }
    parts_.sequences->AdvanceTo(last_);
    // A number of its own, which no read sequence from before is.
    const SequenceNumber visible = parts_.sequences->Take(1);
    std::vector<JointPublication::Part> parts;
    for (const auto& [_, host] : hosts_) {
      // That of a server that has ended is final. Another one loads its tablets from METADATA.
      TabletServer* const server = host.hosted->server();
      if (server->state().ended()) continue;
      parts.push_back({server->writer().parts().visible, visible});
      server->OutdateReadsBefore(visible);
    }
    parts_.batches->publication()->Publish(parts);
    for (const Replacement& replacement : replacements) replacement.by->flags().SetStopped(false);
  }

  const Parts& parts_;
  MasterContext* const context_;
  const std::vector<HostedTablet>& tablets_;
  const IngestRequest& request_;
  std::vector<PlacedFile> files_;  // one for each of the request
  size_t layers_ = 0;
  std::vector<Ref<SSTable>> opened_;  // so that they are opened before any writer waits
  SequenceNumber last_ = 0;           // the last number of the files
  Hosts hosts_;
};

absl::Status Ingestion::AddTo(const std::vector<HostedTablet>& tablets,
                              const IngestRequest& request, bool* may_be_named) {
  *may_be_named = false;
  return Run(parts_, context_, tablets, request).Do(may_be_named);
}

}  // namespace bigtable
