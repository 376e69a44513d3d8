// Makes a message of any type out of the bytes of a fuzz target: its fields, in any number and
// order, with values of which many mean something to the server.
#ifndef BIGTABLE_TESTS_FUZZ_SERVER_MESSAGE_BUILDER_H_
#define BIGTABLE_TESTS_FUZZ_SERVER_MESSAGE_BUILDER_H_

#include <string_view>

#include "google/protobuf/message.h"

#include "fuzz/input.h"

namespace bigtable::server {

// `resource` is what the message names unless the input says otherwise: its table_name, parent or
// name.
void BuildMessage(FuzzInput* input, std::string_view resource, google::protobuf::Message* message);

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_FUZZ_SERVER_MESSAGE_BUILDER_H_
