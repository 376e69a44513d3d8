// A database on a server: Table, RowReader, Scanner and the rest of this library over Google's
// Bigtable API. The other end is bigtable-server, Google's emulator, or Cloud Bigtable. Part of
// bigtable::remote, which links gRPC; the library itself does not.
//
// A program that embeds the engine is moved by one line:
//
//   absl::StatusOr<std::unique_ptr<Database>> db = Database::Open("/data/web");
//   absl::StatusOr<std::unique_ptr<Database>> db = Connect("127.0.0.1:8086");
//
// docs/remote.md lists what is different. In short: the API has no snapshots, transactions, batches
// of several rows and locality groups, and none of the engine's administration, so these calls are
// Unimplemented, and say what is missing; timestamps are multiples of a millisecond; and a call may
// fail because of the network.
#ifndef BIGTABLE_REMOTE_H_
#define BIGTABLE_REMOTE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/clock.h"
#include "bigtable/database.h"

namespace bigtable {

// Options of Connect. Connect checks all of them, and names the one that is wrong.
struct RemoteOptions {
  // Where the tables are. The defaults are those of bigtable-server.
  std::string project = "local";
  std::string instance = "local";
  // The profile by which Cloud Bigtable routes calls. Empty: its default one.
  std::string app_profile = {};

  enum class Security : uint8_t {
    // Plain text. Only to this machine, unless `plaintext` allows every host.
    kInsecure,
    // TLS. The certificates of the system are trusted, or those of `root_certificates`.
    kTls,
    // TLS with Google's application default credentials: Cloud Bigtable.
    kGoogleDefault,
  };
  Security security = Security::kInsecure;
  bool plaintext = false;
  // Files of PEM, for kTls: certificates to trust, and the client's own with its key.
  std::string root_certificates = {};
  std::string client_certificate = {};
  std::string client_key = {};
  // Sent with every call as "authorization: Bearer TOKEN"; not with kGoogleDefault. The token, or
  // the file that has it, which is read again at most every ten seconds, for tokens that expire.
  std::string token = {};
  std::string token_file = {};

  // How long a call is tried again, after errors that may pass, if its own deadline is not earlier.
  // Only calls that may be made twice are: see docs/remote.md.
  absl::Duration retry_for = absl::Minutes(1);
  // Called in the thread of the call before it is tried again, with the error of the last attempt
  // and the pause that follows. For a program that shows why it waits. It may be called in several
  // threads at a time, and must not call the database. What it throws ends the call, as Unknown.
  // Null: nothing is called.
  std::function<void(const absl::Status& error, absl::Duration pause)> on_retry = {};
  // An attempt from which nothing has come for this long has failed.
  absl::Duration attempt_timeout = absl::Seconds(20);

  // Bytes of Table::ApplyBatch that may be under way at a time, in all threads; at least 1 MiB.
  // Others wait. A larger mutation waits until nothing else is under way.
  uint64_t max_outstanding_bytes = uint64_t{64} << 20;
  // Connections, 1 to 64, which calls take in turn. One serves a hundred calls at a time.
  int connections = 1;

  // Sets the timestamps of cells that are written without one. Not owned; null means the machine's
  // own.
  Clock* clock = nullptr;
};

// A database whose tables are on the server at `endpoint`: "host:port", and for Cloud Bigtable "".
// The result may be used like one that was opened, from any thread. It must not be used in a child
// of fork().
//
// Nothing is sent yet: a server that cannot be reached makes the first call Unavailable.
// InvalidArgument: an option, or the endpoint. NotFound: a file of the options.
absl::StatusOr<std::unique_ptr<Database>> Connect(std::string_view endpoint,
                                                  const RemoteOptions& options = {});

}  // namespace bigtable

#endif  // BIGTABLE_REMOTE_H_
