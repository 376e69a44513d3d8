// What must hold of every reply of the server, whatever was asked.
#ifndef BIGTABLE_TESTS_FUZZ_SERVER_REPLY_CHECKS_H_
#define BIGTABLE_TESTS_FUZZ_SERVER_REPLY_CHECKS_H_

#include <map>
#include <string>
#include <string_view>

#include "google/bigtable/v2/bigtable.pb.h"
#include "google/protobuf/message.h"

#include "fuzz/server/called_server.h"
#include "fuzz/server/methods.h"

namespace bigtable::server {

// Ends the process (fuzz/target.h) if the reply is not well formed, or is none to this request.
// `request`: null if the bytes are no such message. `directory`: of the database's files.
void CheckReply(const FuzzMethod& method, const google::protobuf::Message* request,
                std::string_view bytes, const FuzzReply& reply, const std::string& directory);

// Whether the reply says that nothing was changed: also that of MutateRows, which has a status for
// each entry.
bool RefusesAll(const FuzzMethod& method, const FuzzReply& reply);

// The rows of a reply of ReadRows, as KeptState has them.
std::map<std::string, std::string> RowsOf(const FuzzReply& reply);

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_FUZZ_SERVER_REPLY_CHECKS_H_
