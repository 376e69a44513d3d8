// The admin APIs of the server: a sequence of calls, which write and read rows too.
#include <string_view>

#include "fuzz/server/call_sequence.h"
#include "fuzz/server/methods.h"
#include "fuzz/target.h"

namespace bigtable::server {
namespace {

void FuzzServerAdmin(std::string_view bytes) { RunCalls(AdminMethods(), bytes); }

const FuzzTargetRegistration server_admin_target("server_admin", FuzzServerAdmin);

}  // namespace
}  // namespace bigtable::server
