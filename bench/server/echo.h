// A server of the same messages that does nothing: what gRPC alone takes.
#ifndef BIGTABLE_BENCH_SERVER_ECHO_H_
#define BIGTABLE_BENCH_SERVER_ECHO_H_

#include <cstddef>

#include "absl/status/status.h"

namespace bench {

// Serves Google's Bigtable API on 127.0.0.1 until the process is ended, and prints its address. It
// parses each request, and answers as if all rows were there: with responses that are made once,
// and serialised for each call.
absl::Status RunEcho(size_t value_size);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SERVER_ECHO_H_
