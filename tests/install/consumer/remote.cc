// The smallest use of bigtable::remote: options are checked, and a server that is not there is
// unavailable.
#include <bigtable/bigtable.h>
#include <bigtable/remote.h>
#include <iostream>

int main() {
  if (!absl::IsInvalidArgument(bigtable::Connect("").status())) return 1;
  const auto database = bigtable::Connect("127.0.0.1:1", {.retry_for = absl::ZeroDuration()});
  if (!database.ok()) return 2;
  const absl::Status status = (*database)->ListTables().status();
  std::cout << status.ToString() << '\n';
  return absl::IsUnavailable(status) ? 0 : 3;
}
