// The files of --certificate, --key and --client-authority, checked before gRPC reads them: its
// error does not say which of them is wrong, and an authority without certificates would refuse
// everybody.
#ifndef BIGTABLE_SERVER_TLS_FILES_H_
#define BIGTABLE_SERVER_TLS_FILES_H_

#include "absl/status/status.h"

#include "server/options.h"

namespace bigtable::server {

// InvalidArgument: a file is not PEM of the right kind, or the key is of another certificate, or
// has a passphrase. Requires a certificate, and that the files can be read.
absl::Status CheckTlsFiles(const ServerOptions& options);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_TLS_FILES_H_
