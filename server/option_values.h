// The version and the options of a running server, as text for people: the status page shows them.
#ifndef BIGTABLE_SERVER_OPTION_VALUES_H_
#define BIGTABLE_SERVER_OPTION_VALUES_H_

#include <string>
#include <utility>
#include <vector>

#include "server/options.h"

namespace bigtable::server {

// Of the program, such as "1.2.0".
std::string VersionOfServer();

// The flags, without "--", and their values. Files are named; what is in them is not told.
std::vector<std::pair<std::string, std::string>> ValuesOf(const ServerOptions& options);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_OPTION_VALUES_H_
