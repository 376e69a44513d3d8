// The data API of the server: a sequence of calls, with changes of the tables between them.
#include <string_view>

#include "fuzz/server/call_sequence.h"
#include "fuzz/server/methods.h"
#include "fuzz/target.h"

namespace bigtable::server {
namespace {

void FuzzServerData(std::string_view bytes) { RunCalls(DataMethods(), bytes); }

const FuzzTargetRegistration server_data_target("server_data", FuzzServerData);

}  // namespace
}  // namespace bigtable::server
