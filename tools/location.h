// Where the database is: in a directory, or on a server of Google's Bigtable API. The options and
// the environment say which.
#ifndef BIGTABLE_TOOLS_LOCATION_H_
#define BIGTABLE_TOOLS_LOCATION_H_

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/database.h"

namespace bigtable::tools {

inline constexpr char kDirectoryVariable[] = "BIGTABLE_DIRECTORY";
inline constexpr char kServerVariable[] = "BIGTABLE_SERVER";

// The options as they were given; empty or false: not given. Plain value.
struct Location {
  std::string directory;
  std::string server;  // host:port

  // Of a server alone. bigtable/remote.h describes them.
  std::string project;
  std::string instance;
  std::string app_profile;
  bool tls = false;
  bool plaintext = false;
  bool google = false;  // Cloud Bigtable; `server` may be empty
  std::string root_certificates;
  std::string client_certificate;
  std::string client_key;
  std::string token_file;
  std::string retry_for;  // a duration

  bool is_server() const { return !server.empty() || google; }
  // The server in a message.
  std::string ServerName() const;
};

// Takes the environment's directory or server if no option names one; the server only if
// `may_be_server`. UsageError: both are named, or options of a server without a server.
absl::Status SettleLocation(bool may_be_server, Location* location);

// A message of bigtable::remote with the options of the command line in the place of its own.
std::string WithNamesOfOptions(std::string_view message);

// The database on the server of the location. A call that is tried again for more than a second
// says so on `progress`, about once a second, unless that is null. UsageError names the option that
// is wrong, or that this program was built without bigtable::remote. NotFound: a file of the
// options.
absl::StatusOr<std::unique_ptr<Database>> ConnectTo(const Location& location,
                                                    std::ostream* progress = nullptr);

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_LOCATION_H_
