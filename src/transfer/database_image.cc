#include "transfer/database_image.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"

#include "admission/access_list_store.h"
#include "admission/quota_store.h"
#include "base/status.h"
#include "base/strings.h"
#include "cluster/server_role.h"
#include "commit/group_writer.h"
#include "commit/server_turns.h"
#include "master/schema_store.h"

namespace bigtable {
namespace {

using ServiceFiles = std::map<std::string, LockServiceFile>;

absl::StatusOr<ServiceFiles> ReadFiles(LockSession* session, const CallLimits& limits) {
  std::vector<std::string> names = {std::string(QuotaStore::kFile)};
  for (const std::string_view directory : {SchemaStore::kDirectory, AccessListStore::kDirectory}) {
    BT_ASSIGN_OR_RETURN(const std::vector<std::string> in, session->List(directory, limits));
    for (const std::string& name : in) names.push_back(Cat(directory, "/", name));
  }
  ServiceFiles files;
  for (const std::string& name : names) {
    absl::StatusOr<LockServiceFile> file = session->Read(name, limits);
    if (absl::IsNotFound(file.status())) continue;  // removed since they were listed
    BT_RETURN_IF_ERROR(file.status());
    files[name] = *std::move(file);
  }
  return files;
}

bool AreSame(const ServiceFiles& before, const ServiceFiles& after) {
  return std::equal(before.begin(), before.end(), after.begin(), after.end(),
                    [](const auto& a, const auto& b) {
                      // Files of an old format all have the same generation.
                      return a.first == b.first && a.second.generation == b.second.generation &&
                             a.second.contents == b.second.contents;
                    });
}

// In the memtables, in a turn at the server.
int64_t OldestDeletion(const GroupVersion& group) {
  int64_t oldest = group.active->oldest_deletion();
  for (const Ref<Memtable>& memtable : group.immutable) {
    const int64_t time = memtable->oldest_deletion();
    if (time != 0) oldest = oldest == 0 ? time : std::min(oldest, time);
  }
  return oldest;
}

// The tablets of all tables, by table.
struct Pinned {
  SequenceNumber sequence = 0;
  bool are_serving = true;  // false: a server has lost its lock, and is replaced
  std::map<uint64_t, std::vector<DatabaseImage::TabletImage>> tablets;
};

// Takes a turn at all servers.
absl::StatusOr<Pinned> PinAll(const ImageParts& parts, const CallLimits& limits) {
  const std::vector<std::shared_ptr<ServerHost>> hosts = parts.servers->OfRole(ServerRole::kUser);
  std::vector<GroupWriter*> writers;
  writers.reserve(hosts.size());
  for (const auto& host : hosts) writers.push_back(&host->server()->writer());

  Pinned pinned;
  const auto pin = [&] {
    pinned.sequence = parts.sequences->last();
    for (const auto& host : hosts) {
      const std::vector<std::shared_ptr<Tablet>> tablets = host->server()->tablets().All();
      if (!tablets.empty() && !host->server()->state().serving()) pinned.are_serving = false;
      for (const std::shared_ptr<Tablet>& tablet : tablets) {
        if (tablet->flags().ended()) continue;
        DatabaseImage::TabletImage& image = pinned.tablets[tablet->table_id()].emplace_back();
        image.tablet = tablet;
        image.version = tablet->Version();
        image.last_timestamp = tablet->writer()->last_timestamp();
        for (const GroupVersion& group : image.version->groups()) {
          image.oldest_deletions.push_back(OldestDeletion(group));
        }
      }
    }
  };
  BT_RETURN_IF_ERROR(RunInTurnsOf(std::move(writers), limits, pin));
  return pinned;
}

// The first row that no tablet has, or several; nullopt if each row has one.
std::optional<std::string> MissingRow(std::vector<DatabaseImage::TabletImage>* tablets) {
  std::sort(tablets->begin(), tablets->end(), [](const auto& a, const auto& b) {
    return a.tablet->rows().begin() < b.tablet->rows().begin();
  });
  std::string next;
  for (size_t i = 0; i < tablets->size(); ++i) {
    const RowRange& rows = (*tablets)[i].tablet->rows();
    if (rows.begin() != next) return next;
    if (!rows.end().has_value()) return i + 1 == tablets->size() ? std::nullopt : std::optional("");
    next = *rows.end();
  }
  return next;
}

// Waits a little until the tablet of the row is served. Its table may be gone by then.
absl::Status AwaitTablet(const ImageParts& parts, uint64_t table_id, const std::string& row,
                         const CallLimits& limits) {
  constexpr absl::Duration kWait = absl::Milliseconds(100);
  CallLimits of_wait = limits;
  of_wait.deadline = std::min(limits.deadline, Deadline::In(kWait));
  const absl::Status waited = parts.servers->ForEachTablet(
      table_id, RowRange::Single(row), of_wait, [] { return absl::OkStatus(); },
      [](const HostedTablet&, const RowRange&) { return absl::OkStatus(); });
  BT_RETURN_IF_ERROR(limits.Check());
  return absl::IsDeadlineExceeded(waited) ? absl::OkStatus() : waited;
}

}  // namespace

absl::StatusOr<DatabaseImage> TakeImage(const ImageParts& parts, const CallLimits& limits) {
  constexpr int kMostTries = 1000;
  constexpr absl::Duration kPause = absl::Milliseconds(10);
  for (int tries = 0; tries < kMostTries; ++tries) {
    BT_RETURN_IF_ERROR(limits.Check());
    if (tries > 0) absl::SleepFor(std::min(kPause, limits.MostSleep()));
    DatabaseImage image;
    image.now = parts.clock->Now();
    BT_ASSIGN_OR_RETURN(const ServiceFiles files, ReadFiles(parts.session, limits));
    BT_ASSIGN_OR_RETURN(Pinned pinned, PinAll(parts, limits));
    BT_ASSIGN_OR_RETURN(const ServiceFiles after, ReadFiles(parts.session, limits));
    if (!pinned.are_serving || !AreSame(files, after)) continue;
    image.sequence = pinned.sequence;
    if (parts.history != nullptr) {
      image.files[std::string(DatabaseHistory::kFile)] =
          parts.history->OfCopy(parts.read_only ? 0 : image.sequence).Encode();
    }
    bool are_all_there = true;
    for (const auto& [name, file] : files) {
      image.files[name] = file.contents;
      if (!SchemaStore::TableOf(name).has_value()) continue;
      DatabaseImage::TableImage& table = image.tables.emplace_back();
      BT_ASSIGN_OR_RETURN(table.layout, TableLayout::Decode(file.contents));
      table.tablets = std::move(pinned.tablets[table.layout.table_id]);
      const std::optional<std::string> missing = MissingRow(&table.tablets);
      if (!missing.has_value()) continue;
      are_all_there = false;
      BT_RETURN_IF_ERROR(AwaitTablet(parts, table.layout.table_id, *missing, limits));
    }
    if (are_all_there) return image;
  }
  return absl::UnavailableError("tablets or schemas have changed all the time");
}

}  // namespace bigtable
