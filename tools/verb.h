// A verb of the program as data: main.cc makes the command line and the help of each verb from it,
// and runs it.
#ifndef BIGTABLE_TOOLS_VERB_H_
#define BIGTABLE_TOOLS_VERB_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "tools/arguments.h"
#include "tools/session.h"

namespace bigtable::tools {

// Plain value.
struct Verb {
  struct Word {
    std::string name;
    std::string meaning;
    bool required = true;
  };
  struct Option {
    std::string name;   // "resume" for --resume
    std::string value;  // what follows it ("FILE"); empty: nothing
    std::string meaning;
  };

  std::string name;
  std::string summary;
  std::vector<Word> words = {};             // positional, in this order
  std::optional<Word> more = std::nullopt;  // words after these, any number
  std::vector<Word> keys = {};              // key=value after the positional ones, in any order
  std::vector<Option> options = {};
  std::string notes = {};
  // Whether it works on a database, rather than on files that it names.
  bool needs_database = true;
  // Why it does not work on a server, and what would be right; empty: it does.
  std::string not_on_server = {};
  // Works while another process, such as a server, has the database open.
  bool may_be_open_elsewhere = false;
  // Each works when it is pasted into a shell; tests/tools runs them.
  std::vector<std::string> examples = {};
  std::function<absl::Status(Session&, const Arguments&)> run;
};

// All of them, in the order of the help.
std::vector<Verb> AllVerbs();

// By file of this folder.
std::vector<Verb> TableVerbs();     // tables.cc
std::vector<Verb> CellVerbs();      // cells.cc
std::vector<Verb> ReadVerbs();      // read.cc
std::vector<Verb> ChangeVerbs();    // changes.cc
std::vector<Verb> TransferVerbs();  // transfer.cc
std::vector<Verb> OperateVerbs();   // operate.cc
std::vector<Verb> BackupVerbs();    // backup.cc
std::vector<Verb> FollowVerbs();    // follow.cc
std::vector<Verb> RepairVerbs();    // repair.cc
std::vector<Verb> TabletVerbs();    // tablets.cc
std::vector<Verb> SSTableVerbs();   // sst.cc
std::vector<Verb> LogVerbs();       // log.cc
std::vector<Verb> OptionVerbs();    // options.cc

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_VERB_H_
