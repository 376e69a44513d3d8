// Verbs for copies of a database: checkpoint, backup, backups, restore.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/backup_engine.h"
#include "bigtable/database.h"
#include "bigtable/file_system.h"

#include "tools/gc_expression.h"
#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

absl::Status Checkpoint(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToRead());
  return database->Checkpoint(arguments.Text("COPY"));
}

// A store that is there: only a backup creates one.
absl::StatusOr<std::unique_ptr<BackupEngine>> OpenStore(const std::string& store) {
  if (!FileSystem::Posix()->FileExists(store + "/backups")) {
    return absl::NotFoundError(Cat("there are no backups in ", store));
  }
  return BackupEngine::Open(store);
}

Json InfoAsJson(const BackupInfo& info) {
  return {{"id", info.id},
          {"time", absl::ToUnixMicros(info.time)},
          {"description", info.description},
          {"tables", info.tables},
          {"files", info.files},
          {"bytes", info.bytes},
          {"new_files", info.new_files},
          {"new_bytes", info.new_bytes},
          {"expires", info.expire_time == absl::InfiniteFuture()
                          ? Json()
                          : Json(absl::ToUnixMicros(info.expire_time))}};
}

// Says once a second how far a call is.
std::function<void(uint64_t files, uint64_t copied_bytes)> CopyProgress(Session& session) {
  return [&session, next = absl::Now() + absl::Seconds(1)](uint64_t files,
                                                           uint64_t copied_bytes) mutable {
    if (session.quiet() || absl::Now() < next) return;
    session.err() << WithCommas(files) << " files, " << WithCommas(copied_bytes)
                  << " bytes copied so far\n"
                  << std::flush;
    next = absl::Now() + absl::Seconds(1);
  };
}

// "7d", as maxage of a rule: from now on.
absl::StatusOr<absl::Time> ReadExpiry(const Arguments& arguments) {
  const std::string text = arguments.Text("keep-for");
  if (text.empty()) return absl::InfiniteFuture();
  TOOLS_ASSIGN_OR_RETURN(const absl::Duration age, ParseAge(text, "--keep-for"));
  return absl::Now() + age;
}

absl::Status Backup(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToRead());
  TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<BackupEngine> engine,
                         BackupEngine::Open(arguments.Text("STORE")));
  CreateBackupOptions options{.description = arguments.Text("description"),
                              .tables = arguments.words(),
                              .on_progress = CopyProgress(session)};
  TOOLS_ASSIGN_OR_RETURN(options.expire_time, ReadExpiry(arguments));
  TOOLS_ASSIGN_OR_RETURN(const BackupInfo made, engine->Create(database, options));
  if (session.json()) {
    session.out() << JsonLine(InfoAsJson(made));
  } else {
    session.out() << "backup " << made.id << ": " << WithCommas(made.files) << " files, "
                  << WithCommas(made.bytes) << " bytes, " << WithCommas(made.new_bytes)
                  << " of them new\n";
  }
  return absl::OkStatus();
}

absl::Status Backups(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<BackupEngine> engine,
                         OpenStore(arguments.Text("STORE")));
  const int actions =
      static_cast<int>(arguments.Has("verify")) + static_cast<int>(arguments.Has("delete")) +
      static_cast<int>(arguments.Has("keep")) + static_cast<int>(arguments.Has("expired"));
  if (actions > 1) return UsageError("only one of --verify, --delete, --keep and --expired");
  if (arguments.Has("verify")) {
    TOOLS_ASSIGN_OR_RETURN(const int64_t id, arguments.Number("verify", 1, 1));
    return engine->Verify(static_cast<uint64_t>(id));
  }
  if (arguments.Has("delete")) {
    TOOLS_ASSIGN_OR_RETURN(const int64_t id, arguments.Number("delete", 1, 1));
    return engine->Delete(static_cast<uint64_t>(id));
  }
  if (arguments.Has("keep")) {
    TOOLS_ASSIGN_OR_RETURN(const int64_t keep, arguments.Number("keep", 0, 0));
    return engine->DeleteOld(static_cast<size_t>(keep));
  }
  if (arguments.Has("expired")) return engine->DeleteExpired(absl::Now()).status();
  TOOLS_ASSIGN_OR_RETURN(const std::vector<BackupInfo> backups, engine->List());
  std::vector<std::vector<std::string>> lines;
  for (const BackupInfo& info : backups) {
    if (session.json()) {
      session.out() << JsonLine(InfoAsJson(info));
      continue;
    }
    lines.push_back(
        {Cat(info.id), absl::FormatTime("%Y-%m-%d %H:%M:%S", info.time, absl::UTCTimeZone()),
         Cat(WithCommas(info.bytes), " bytes"), Cat(WithCommas(info.new_bytes), " new"),
         info.expire_time == absl::InfiniteFuture()
             ? ""
             : Cat("until ",
                   absl::FormatTime("%Y-%m-%d %H:%M:%S", info.expire_time, absl::UTCTimeZone())),
         info.description});
  }
  session.out() << Aligned(lines);
  return absl::OkStatus();
}

absl::Status Restore(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(const int64_t id, arguments.Number("ID", 1, 1));
  RestoreOptions options{.on_progress = CopyProgress(session)};
  for (const std::string& word : arguments.words()) {
    const size_t equals = word.find('=');
    const std::string table = word.substr(0, equals);
    const std::string name = equals == std::string::npos ? table : word.substr(equals + 1);
    if (table.empty() || name.empty()) {
      return UsageError(Cat(word, " is neither TABLE nor TABLE=NAME"));
    }
    if (!options.tables.emplace(table, name).second) {
      return UsageError(Cat("table ", table, " is named twice"));
    }
  }
  TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<BackupEngine> engine,
                         OpenStore(arguments.Text("STORE")));
  return engine->Restore(static_cast<uint64_t>(id), arguments.Text("COPY"), options);
}

absl::Status RestoreTable(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(const int64_t id, arguments.Number("ID", 1, 1));
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<BackupEngine> engine,
                         OpenStore(arguments.Text("STORE")));
  const std::string table = arguments.Text("TABLE");
  const std::string name = arguments.Has("NAME") ? arguments.Text("NAME") : table;
  return engine->RestoreTable(static_cast<uint64_t>(id), table, database, name,
                              {.on_progress = CopyProgress(session)});
}

}  // namespace

std::vector<Verb> BackupVerbs() {
  const std::string on_machine = "backups are directories of this machine";
  return {
      {.name = "checkpoint",
       .summary = "Copy the whole database to a new directory, by links to its files",
       .words = {{"COPY", "a directory that is new or empty"}},
       .notes = "Where the file system has no hard links between the two directories, the files "
                "are copied. The copy is a database of its own. A program that has the database "
                "open makes copies of it itself (Database::Checkpoint).",
       .not_on_server = "the Bigtable API has no checkpoints",
       .examples = {"bigtable checkpoint copy"},
       .run = Checkpoint},
      {.name = "backup",
       .summary = "Back up the database to a directory of backups",
       .words = {{"STORE", "the directory, which is created"}},
       .more = Verb::Word{"TABLE", "only these tables", false},
       .options = {{"description", "TEXT", "To be shown by `bigtable backups`"},
                   {"keep-for", "AGE", "When it expires, such as 7d or 1d12h from now on"}},
       .notes = "Copies the files that no backup there has yet. Killed, it can be repeated.",
       .not_on_server = on_machine,
       .examples = {"bigtable backup store", "bigtable backup store --description nightly",
                    "bigtable backup store webtable --keep-for 30d"},
       .run = Backup},
      {.name = "backups",
       .summary = "List, verify or delete backups",
       .words = {{"STORE", "a directory of backups"}},
       .options = {{"verify", "ID", "Compare the files of this backup with their checksums"},
                   {"delete", "ID", "Delete this backup"},
                   {"keep", "N", "Delete all but the newest N"},
                   {"expired", "", "Delete those that have expired"}},
       .needs_database = false,
       .not_on_server = on_machine,
       .examples = {"bigtable backups store", "bigtable backups store --verify 1",
                    "bigtable backups store --keep 7", "bigtable backups store --expired"},
       .run = Backups},
      {.name = "restore",
       .summary = "Make a database from a backup",
       .words = {{"STORE", "a directory of backups"},
                 {"ID", "the number of a backup, from `bigtable backups`"},
                 {"COPY", "the directory of the database: new or empty"}},
       .more = Verb::Word{"TABLE", "only these tables: TABLE, or TABLE=NAME to rename it", false},
       .needs_database = false,
       .not_on_server = on_machine,
       .examples = {"bigtable restore store 1 restored",
                    "bigtable restore store 1 one webtable=old"},
       .run = Restore},
      {.name = "restoretable",
       .summary = "Add a table of a backup to the database",
       .words = {{"STORE", "a directory of backups"},
                 {"ID", "the number of a backup, from `bigtable backups`"},
                 {"TABLE", "its name in the backup"},
                 {"NAME", "its name in the database, which is free; otherwise the same", false}},
       .not_on_server = on_machine,
       .examples = {"bigtable restoretable store 1 webtable old"},
       .run = RestoreTable},
  };
}

}  // namespace bigtable::tools
