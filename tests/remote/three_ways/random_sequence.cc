// random_sequence embedded DIRECTORY SEED STEPS
// random_sequence connected ENDPOINT SEED STEPS
//
// Runs a random program in a new database, or on a server of Google's Bigtable API that is empty,
// and prints what each step has seen.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"

#include "bigtable/bigtable.h"
#include "bigtable/remote.h"

#include "remote/random_program.h"

namespace bigtable::remote {
namespace {

void Print(const std::string& text) { std::printf("%s\n", absl::CHexEscape(text).c_str()); }

int Run(std::string_view way, const char* where, uint64_t seed, int steps) {
  const absl::StatusOr<std::unique_ptr<Database>> database =
      way == "embedded" ? Database::Open(where) : Connect(where);
  if (!database.ok()) {
    std::fprintf(stderr, "%s: %s\n", where, database.status().ToString().c_str());
    return 1;
  }
  RandomProgram program(database->get(), "t", seed, RandomProgram::Dialect::kEmulator);
  Print(program.CreateTable());
  for (int step = 0; step < steps; ++step) Print(program.Step());
  return (*database)->Close().ok() ? 0 : 1;
}

}  // namespace
}  // namespace bigtable::remote

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: random_sequence embedded|connected WHERE SEED STEPS\n");
    return 2;
  }
  return bigtable::remote::Run(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10),
                               std::atoi(argv[4]));
}
