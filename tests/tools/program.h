// The program bigtable as a user runs it: a line for the shell, in a directory of its own. The
// database is in that directory, or on a server.
#ifndef BIGTABLE_TESTS_TOOLS_PROGRAM_H_
#define BIGTABLE_TESTS_TOOLS_PROGRAM_H_

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <sys/wait.h>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/database.h"

#include "support/temp_directory.h"
#include "tools/location.h"
#include "tools/server_process.h"

namespace bigtable {

struct ProgramResult {
  int code = 0;
  std::string out;
  std::string err;
};

// Where the database of a test is.
enum class Place { kDirectory, kServer };

inline std::ostream& operator<<(std::ostream& out, Place place) {
  return out << (place == Place::kServer ? "Server" : "Directory");
}
inline std::string NameOf(Place place) { return testing::PrintToString(place); }

// All that this build has.
inline std::vector<Place> Places() {
#ifdef BIGTABLE_SERVER_PROGRAM
  return {Place::kDirectory, Place::kServer};
#else
  return {Place::kDirectory};
#endif
}

// A directory with a database `db`, which BIGTABLE_DIRECTORY names; or a server, which
// BIGTABLE_SERVER names. One thread.
class Shell {
 public:
  explicit Shell(Place place = Place::kDirectory) {
#ifdef BIGTABLE_SERVER_PROGRAM
    if (place == Place::kServer) server_.emplace(path() + "/served");
#else
    EXPECT_EQ(place, Place::kDirectory);
#endif
    const tools::Location location = Location();
    environment_ = location.is_server() ? "BIGTABLE_SERVER=" + location.server
                                        : "BIGTABLE_DIRECTORY=" + location.directory;
  }

  // As the program's options say it.
  tools::Location Location() const {
#ifdef BIGTABLE_SERVER_PROGRAM
    if (server_.has_value()) return {.server = server_->address()};
#endif
    return {.directory = "db"};
  }
  std::vector<std::string> LocationOptions() const {
    const tools::Location location = Location();
    if (location.is_server()) return {"--server", location.server};
    return {"--directory", location.directory};
  }
  // The database, for this process.
  absl::StatusOr<std::unique_ptr<Database>> OpenDatabase() const {
    const tools::Location location = Location();
    return location.is_server() ? tools::ConnectTo(location) : Database::Open(database());
  }

  const std::string& path() const { return directory_.path(); }
  std::string database() const { return directory_.database(); }

  std::map<std::string, std::string> Contents() const { return directory_.Contents(); }

  // Runs the line in the directory, with `bigtable` in the PATH.
  ProgramResult Run(const std::string& line, const std::string& input = "") {
    Write(".in", input);
    Write(".line", line);
    const std::string command = "cd '" + path() + "' && PATH=\"" + BIGTABLE_PROGRAM_DIRECTORY +
                                ":$PATH\" " + environment_ + " sh .line < .in > .out 2> .err";
    const int status = std::system(command.c_str());
    return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .out = Read(".out"),
            .err = Read(".err")};
  }

  // The output of a line that must succeed.
  std::string Output(const std::string& line, const std::string& input = "") {
    const ProgramResult result = Run(line, input);
    EXPECT_EQ(result.code, 0) << line << "\n" << result.out << result.err;
    return result.out;
  }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(path() + "/" + name, std::ios::binary) << bytes;
  }
  std::string Read(const std::string& name) {
    std::ifstream file(path() + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  TempDirectory directory_{TempDirectory::Where::kMemory};
  std::string environment_;
#ifdef BIGTABLE_SERVER_PROGRAM
  std::optional<ServerProcess> server_;
#endif
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_TOOLS_PROGRAM_H_
