// The verb log: the commit logs that a database has, by segment, and their entries.
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "bigtable/commit_log.h"
#include "bigtable/file_system.h"

#include "tools/entries.h"
#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

std::string_view StateName(CommitLogSegment::State state) {
  switch (state) {
    case CommitLogSegment::State::kReusable:
      return "reusable";
    case CommitLogSegment::State::kNeeded:
      return "needed";
    case CommitLogSegment::State::kSpare:
      return "spare";
  }
  return "unknown";
}

void PrintSegmentAsJson(const Session& session, const CommitLogInfo& log,
                        const CommitLogSegment& segment) {
  Json object;
  object["server"] = log.server;
  object["file"] = segment.path;
  object["state"] = StateName(segment.state);
  object["file_size"] = segment.file_size;
  object["records"] = segment.records;
  object["record_bytes"] = segment.record_bytes;
  object["first_sequence"] = segment.first_sequence;
  object["last_sequence"] = segment.last_sequence;
  object["full"] = segment.is_full;
  object["released_sequence"] = log.released_sequence;
  session.out() << JsonLine(object);
}

void PrintSegments(const Session& session, const std::vector<CommitLogInfo>& logs) {
  std::vector<std::vector<std::string>> lines = {
      {"Server", "Segment", "State", "Size", "Records", "Bytes", "Sequence"},
      {"------", "-------", "-----", "----", "-------", "-----", "--------"}};
  for (const CommitLogInfo& log : logs) {
    for (const CommitLogSegment& segment : log.segments) {
      if (session.json()) {
        PrintSegmentAsJson(session, log, segment);
        continue;
      }
      lines.push_back({log.server, segment.path.substr(segment.path.rfind('/') + 1),
                       std::string(StateName(segment.state)), WithCommas(segment.file_size),
                       WithCommas(segment.records), WithCommas(segment.record_bytes),
                       segment.records == 0
                           ? "-"
                           : Cat(segment.first_sequence, " to ", segment.last_sequence)});
    }
  }
  if (!session.json()) session.out() << Aligned(lines);
}

// Which entries are printed. Empty: all.
struct Wanted {
  std::string table;
  std::string row;
};

absl::Status PrintEntries(const Session& session, const std::vector<CommitLogInfo>& logs,
                          const Wanted& wanted) {
  const auto print = [&](const CommitLogEntry& logged) {
    const bool is_wanted = (wanted.table.empty() || logged.table == wanted.table) &&
                           (wanted.row.empty() || logged.entry.row == wanted.row);
    if (!is_wanted) return absl::OkStatus();
    // A table that was deleted has no name any more.
    const std::string number = Cat("#", logged.table_id);
    PrintEntry(session, logged.table.empty() ? number : logged.table, logged.entry);
    if (session.out().good()) return absl::OkStatus();
    return StreamError("the output could not be written");
  };
  for (const CommitLogInfo& log : logs) {
    TOOLS_RETURN_IF_ERROR(ReadCommitLog(session.directory(), log.server, print));
  }
  return absl::OkStatus();
}

// NotFound, with a name that is near, if the database has no such table.
absl::Status CheckTable(const Session& session, const std::string& table) {
  if (table.empty() || table == "METADATA") return absl::OkStatus();
  TOOLS_ASSIGN_OR_RETURN(
      const std::vector<std::string> names,
      FileSystem::Posix()->ListDirectory(session.directory() + "/lockservice/schema"));
  for (const std::string& name : names) {
    if (name == table) return absl::OkStatus();
  }
  return absl::NotFoundError(Cat("no table ", Quoted(table), DidYouMean(table, names)));
}

// A log that another process is writing may look damaged.
absl::Status WithWriter(const Session& session, const absl::Status& status) {
  if (!absl::IsDataLoss(status) && !absl::IsNotFound(status)) return status;
  const absl::Status lock =
      FileSystem::Posix()
          ->LockFile(session.directory() + "/LOCK", FileSystem::LockMode::kShared)
          .status();
  if (!absl::IsFailedPrecondition(lock)) return status;
  return absl::UnavailableError(
      Cat(MessageOf(status), "; the database is open, so try again (", MessageOf(lock), ")"));
}

absl::Status PrintLogs(Session& session, const Arguments& arguments) {
  TOOLS_RETURN_IF_ERROR(session.CheckDirectory());
  Wanted wanted = {.table = arguments.Text("TABLE"), .row = {}};
  TOOLS_ASSIGN_OR_RETURN(wanted.row, arguments.Bytes("row"));
  const absl::StatusOr<std::vector<CommitLogInfo>> logs = ListCommitLogs(session.directory());
  if (!logs.ok()) return WithWriter(session, logs.status());
  if (!arguments.Has("entries") && wanted.table.empty() && wanted.row.empty()) {
    PrintSegments(session, *logs);
    return absl::OkStatus();
  }
  TOOLS_RETURN_IF_ERROR(CheckTable(session, wanted.table));
  return WithWriter(session, PrintEntries(session, *logs, wanted));
}

}  // namespace

std::vector<Verb> LogVerbs() {
  return {
      {.name = "log",
       .summary = "Print the segments of the commit logs, or their entries",
       .words = {{"TABLE", "print the entries of this table alone", /*required=*/false}},
       .options = {{"entries", "", "Print the entries instead"},
                   {"row", "ROW", "Print the entries of this row alone"}},
       .notes = "Changes nothing; the database may be open. A database that was closed has no "
                "logs: what is there after a crash is what the next opening replays.",
       .not_on_server = "the Bigtable API does not show commit logs",
       .may_be_open_elsewhere = true,
       .examples = {"bigtable log", "bigtable log webtable --row com.cnn.www --json"},
       .run = PrintLogs},
  };
}

}  // namespace bigtable::tools
