// An input of the fuzz targets server_data and server_admin: a sequence of calls.
//
//   method   1 byte   an index of the target's methods, modulo their number
//   form     1 byte   bit 0: the request follows as it is, as a piece (fuzz/input.h); otherwise it
//                     is made of what follows (message_builder.h)
//                     bits 1 to 3: into how many pieces the request is cut on its way, less one
//
// After each call the reply is checked, and that a call which was refused, or only reads, has
// changed nothing. BIGTABLE_FUZZ_SHOW=1 prints the calls. Which calls there are, and in which
// order, the input alone decides.
#ifndef BIGTABLE_TESTS_FUZZ_SERVER_CALL_SEQUENCE_H_
#define BIGTABLE_TESTS_FUZZ_SERVER_CALL_SEQUENCE_H_

#include <string_view>

#include "absl/types/span.h"

#include "fuzz/server/methods.h"

namespace bigtable::server {

void RunCalls(absl::Span<const FuzzMethod> methods, std::string_view bytes);

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_FUZZ_SERVER_CALL_SEQUENCE_H_
