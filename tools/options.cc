// The verb options.
#include "tools/options.h"

#include <map>
#include <ostream>
#include <sstream>
#include <string>

#include "absl/time/time.h"

#include "bigtable/file_system.h"
#include "bigtable/options.h"

#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

// The values of the last opening for writing, from the file OPTIONS; empty without a database.
std::map<std::string, std::string> LastValues(const std::string& directory) {
  std::map<std::string, std::string> values;
  if (directory.empty()) return values;
  const absl::StatusOr<std::string> text = FileSystem::Posix()->ReadFile(directory + "/OPTIONS");
  if (!text.ok()) return values;
  std::istringstream in(*text);
  for (std::string line; std::getline(in, line);) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos) values[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return values;
}

absl::Status PrintOptions(Session& session, const Arguments&) {
  std::map<std::string, std::string> last = LastValues(session.directory());
  for (const OptionDescription& option : DescribeOptions()) {
    const auto value = last.find(option.name);
    if (session.json()) {
      Json object;
      object["option"] = option.name;
      object["default"] = option.default_value;
      if (value != last.end()) object["last"] = value->second;
      object["changeable"] = option.changeable;
      object["meaning"] = option.meaning;
      session.out() << JsonLine(object);
      continue;
    }
    session.out() << option.name << "=" << option.default_value;
    if (option.changeable) session.out() << ", changeable";
    if (value != last.end() && value->second != option.default_value) {
      session.out() << ", last " << value->second;
    }
    session.out() << "\n    " << option.meaning << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<OptionDescription> DescribeOptions() {
  const DatabaseOptions defaults;
  const auto boolean = [](bool value) { return std::string(value ? "true" : "false"); };
  return {
      {"allow_foreign_files", boolean(defaults.allow_foreign_files), false,
       "Create a database even in a directory that has files of something else"},
      {"balance_interval", absl::FormatDuration(defaults.balance_interval), true,
       "How often the master moves a tablet from a busy tablet server to another"},
      {"compaction_rate", Cat(defaults.compaction_rate), true,
       "Bytes a second that compactions read and write together; 0: no limit"},
      {"compaction_threads", Cat(defaults.compaction_threads), true,
       "Threads that merge SSTables, 1 to 64; one more flushes memtables"},
      {"create_if_missing", boolean(defaults.create_if_missing), false,
       "Create the database if there is none"},
      {"durability", "buffered", true,
       "What a write survives if it does not say: none, buffered (the process), sync (the "
       "machine)"},
      {"error_if_exists", boolean(defaults.error_if_exists), false,
       "Refuse to open a database that exists"},
      {"follow", boolean(defaults.follow), false,
       "Open to read beside a program that writes the database, and follow it"},
      {"follow_interval", absl::FormatDuration(defaults.follow_interval), false,
       "How often a database that follows another one goes on by itself"},
      {"log_segment_size", Cat(defaults.log_segment_size), false,
       "Bytes of a segment of the commit log, 64 KiB to 1 GiB"},
      {"max_open_files", Cat(defaults.max_open_files), false,
       "SSTables read by position that may be open, 8 to 2^30; 0: half of the process's limit"},
      {"memory_budget", Cat(defaults.memory_budget), true,
       "Bytes for memtables, log, indexes, filters and caches together, at least 8 MiB"},
      {"memtable_size", Cat(defaults.memtable_size), true,
       "Bytes at which a memtable is flushed; 0: a quarter of the budget, at most 64 MiB"},
      {"metadata_tablet_size", Cat(defaults.metadata_tablet_size), true,
       "Bytes above which a tablet of METADATA is split; 0: never"},
      {"read_mode", "mapped", false,
       "How SSTables are read: mapped, or positional, where the budget bounds all memory"},
      {"read_only", boolean(defaults.read_only), false, "Open without writing a byte"},
      {"scan_cache", boolean(defaults.scan_cache), false,
       "Cache the whole rows that reads of single rows return"},
      {"tablet_servers", Cat(defaults.tablet_servers), false,
       "Tablet servers, each with a commit log, up to 256; 0: the number of processors"},
      {"target_file_size", Cat(defaults.target_file_size), true,
       "Bytes at which a compaction begins its next file, at least 1 MiB"},
      {"trace_one_of", Cat(defaults.trace_one_of), false,
       "Trace one request in this many; 0: none"},
  };
}

std::vector<Verb> OptionVerbs() {
  return {{.name = "options",
           .summary = "List the options of a database, with defaults and meaning",
           .notes = "Programs pass options when they open a database (bigtable/options.h). "
                    "Changeable ones can be changed while it is open (Database::SetOptions). Last "
                    "is the value of the last opening for writing, if it is not the default.",
           .needs_database = false,
           .not_on_server = "these are the options of a program that opens a directory",
           .examples = {"bigtable options"},
           .run = PrintOptions}};
}

}  // namespace bigtable::tools
