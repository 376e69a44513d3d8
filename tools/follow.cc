// Verbs for followers: follow, promote.
#include <csignal>
#include <cstdint>
#include <ctime>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/database.h"
#include "bigtable/file_system.h"
#include "bigtable/follower.h"
#include "bigtable/string_view.h"

#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

constexpr std::string_view kFollowerTable = "bigtable.follower";

// SIGINT and SIGTERM are blocked in this thread and those that it starts, and are waited for.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  // Those that have come meanwhile ask for what has been done: timeout sends one to the process and
  // one to its group.
  ~EndSignals() {
    while (WaitFor(absl::ZeroDuration())) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // Whether one has come.
  bool WaitFor(absl::Duration time) const {
    const timespec most = absl::ToTimespec(time);
    return sigtimedwait(&signals_, nullptr, &most) > 0;
  }

 private:
  sigset_t signals_;
  sigset_t before_;
};

absl::StatusOr<std::unique_ptr<Database>> OpenSource(const std::string& directory) {
  return Database::Open(directory, {.follow = true, .follow_interval = absl::InfiniteDuration()});
}

// --- follow ---

void PrintStatistics(const Session& session, const FollowerStatistics& statistics) {
  const bool has_caught_up = statistics.complete_through != absl::InfinitePast();
  const std::string error = statistics.status.ok() ? "" : MessageOf(statistics.status);
  const int64_t now = absl::ToUnixMicros(absl::Now());
  if (session.json()) {
    Json object;
    object["time"] = now;
    if (has_caught_up) object["lag"] = absl::ToInt64Microseconds(statistics.lag);
    object["changes"] = statistics.changes_applied;
    object["bytes"] = statistics.bytes_applied;
    if (!error.empty()) object["error"] = error;
    session.out() << JsonLine(object);
    return;
  }
  session.out() << FormatTimestamp(Timestamp(now)) << " ";
  if (has_caught_up) {
    session.out() << "lag "
                  << absl::FormatDuration(absl::Trunc(statistics.lag, absl::Milliseconds(1)));
  } else {
    session.out() << "has not caught up yet";
  }
  session.out() << ", " << WithCommas(statistics.changes_applied) << " changes, "
                << WithCommas(statistics.bytes_applied) << " bytes";
  if (!error.empty()) session.out() << "; " << error;
  session.out() << "\n";
}

// Not so: Unavailable, and what file systems say, which may go away by itself.
bool NeedsSomebody(const absl::Status& status) {
  return absl::IsOutOfRange(status) || absl::IsFailedPrecondition(status) ||
         absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
         absl::IsPermissionDenied(status);
}

// Until it has caught up, if it is to do so once, or a signal. The error that it cannot go on with.
absl::Status FollowUntilEnd(const Session& session, const EndSignals& signals, Follower* follower,
                            absl::Duration every, bool once) {
  constexpr absl::Duration kLook = absl::Milliseconds(20);
  // A table that is being deleted, for example, is an error for a moment.
  constexpr absl::Duration kPatience = absl::Seconds(2);
  const absl::Time begin = absl::Now();
  absl::Time next_line = begin + every, good = begin;
  while (true) {
    const bool is_ended = signals.WaitFor(kLook);
    const FollowerStatistics statistics = follower->Statistics();
    const absl::Time now = absl::Now();
    const bool is_done = is_ended || (once && statistics.complete_through >= begin);
    if (!NeedsSomebody(statistics.status)) good = now;
    if (is_done || now >= next_line) {
      PrintStatistics(session, statistics);
      session.out().flush();
      if (!session.out().good()) return StreamError("the output could not be written");
      next_line = now + every;
    }
    if (is_done) return absl::OkStatus();
    if (now - good >= kPatience) return statistics.status;
  }
}

absl::Status Follow(Session& session, const Arguments& arguments) {
  const std::string source_directory = arguments.Text("SOURCE");
  TOOLS_ASSIGN_OR_RETURN(const int64_t every, arguments.Number("every", 1, 10));
  FollowerOptions options;
  options.tables = Split(arguments.Text("tables"), ',');
  // Also where the follower that was promoted is on another machine.
  if (FileSystem::Posix()->FileExists(source_directory + "/FENCED")) {
    return absl::FailedPreconditionError(
        Cat(source_directory, " is fenced: a follower of it has become the writer; follow that"));
  }
  const EndSignals signals;
  TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<Database> source, OpenSource(source_directory));
  TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<Follower> follower,
                         Follower::Open(arguments.Text("DIRECTORY"), source.get(), options));
  const absl::Status followed =
      FollowUntilEnd(session, signals, follower.get(), absl::Seconds(every), arguments.Has("once"));
  const absl::Status closed = follower->Close();
  return followed.ok() ? closed : followed;
}

// --- promote ---

// A database that is none would be taken for a checkpoint.
absl::Status CheckIsFollower(const std::string& directory) {
  TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                         Database::Open(directory, {.read_only = true}));
  TOOLS_ASSIGN_OR_RETURN(const std::vector<std::string> tables, database->ListTables());
  for (const std::string& table : tables) {
    if (table == kFollowerTable) return database->Close();
  }
  return absl::FailedPreconditionError(
      Cat(directory, " is no follower, or was promoted already; `bigtable follow` makes one"));
}

absl::Status Promote(Session&, const Arguments& arguments) {
  const std::string source_directory = arguments.Text("SOURCE");
  const std::string directory = arguments.Text("DIRECTORY");
  TOOLS_RETURN_IF_ERROR(CheckIsFollower(directory));
  FollowerOptions options;
  options.tables = Split(arguments.Text("tables"), ',');
  TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<Database> source, OpenSource(source_directory));
  TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<Follower> follower,
                         Follower::Open(directory, source.get(), options));
  PromoteOptions promotion;
  if (!arguments.Has("no-fence")) promotion.fence_directory = source_directory;
  TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<Database> writer, follower->Promote(promotion));
  return writer->Close();
}

}  // namespace

std::vector<Verb> FollowVerbs() {
  const std::string on_machine = "followers are directories of this machine";
  const std::vector<Verb::Word> words = {{"SOURCE", "the directory of the database to follow"},
                                         {"DIRECTORY", "the follower's own directory"}};
  const Verb::Option tables = {"tables", "T,...",
                               "Only these tables; otherwise all with a change stream"};
  return {
      {.name = "follow",
       .summary = "Keep a copy of a database up to date, beside the program that writes it",
       .words = words,
       .options = {{"every", "SECONDS", "Print the lag after so many seconds, 10 by default"},
                   {"once", "", "End when it has caught up"},
                   tables},
       .notes = "DIRECTORY does not exist, is empty, or is a checkpoint or a restored backup of "
                "SOURCE. SIGINT and SIGTERM end the verb; it continues where it was.",
       .needs_database = false,
       .not_on_server = on_machine,
       .may_be_open_elsewhere = true,
       .examples = {"bigtable follow $BIGTABLE_DIRECTORY standby --once"},
       .run = Follow},
      {.name = "promote",
       .summary = "Make a follower a database to be written, and fence the one that it followed",
       .words = words,
       .options = {{"no-fence", "", "Whoever calls sees to it that nobody writes to SOURCE"},
                   tables},
       .notes = "No program has SOURCE open for writing. From here on none can open it so, until "
                "its file FENCED is removed. If SOURCE cannot be read any more: `bigtable "
                "--directory DIRECTORY deletetable bigtable.follower`.",
       .needs_database = false,
       .not_on_server = on_machine,
       .examples = {"bigtable promote $BIGTABLE_DIRECTORY standby"},
       .run = Promote},
  };
}

}  // namespace bigtable::tools
