// Loads shared libraries with the operators, compaction filters, compaction policies and observers
// that a database needs, so that the command line can do what the program of the database can.
#ifndef BIGTABLE_TOOLS_PLUGIN_H_
#define BIGTABLE_TOOLS_PLUGIN_H_

#include <string>

#include "absl/status/status.h"

namespace bigtable::tools {

// Loads `file`, for as long as the process runs, and calls its function
//
//   extern "C" const char* bigtable_plugin(void);
//
// which registers what it has (RegisterAggregateOperator and so on, or the functions of
// bigtable/c.h), and returns NULL, or a text that says why it cannot. The program exports the
// library, so the plugin need not be linked with it, and has the same registries in any case.
// UsageError: it cannot be loaded, has no such function, or has returned a text.
absl::Status LoadPlugin(const std::string& file);

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_PLUGIN_H_
