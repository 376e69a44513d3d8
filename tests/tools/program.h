// The program bigtable as a user runs it: a line for the shell, in a directory of its own.
#ifndef BIGTABLE_TESTS_TOOLS_PROGRAM_H_
#define BIGTABLE_TESTS_TOOLS_PROGRAM_H_

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <sys/wait.h>
#include <vector>

#include "gtest/gtest.h"

#include "support/temp_directory.h"

namespace bigtable {

struct ProgramResult {
  int code = 0;
  std::string out;
  std::string err;
};

// A directory with a database `db`, which BIGTABLE_DIRECTORY names. One thread.
class Shell {
 public:
  const std::string& path() const { return directory_.path(); }
  std::string database() const { return directory_.database(); }

  std::map<std::string, std::string> Contents() const { return directory_.Contents(); }

  // Runs the line in the directory, with `bigtable` in the PATH.
  ProgramResult Run(const std::string& line, const std::string& input = "") {
    Write(".in", input);
    Write(".line", line);
    const std::string command = "cd '" + path() + "' && PATH=\"" + BIGTABLE_PROGRAM_DIRECTORY +
                                ":$PATH\" BIGTABLE_DIRECTORY=db sh .line < .in > .out 2> .err";
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
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_TOOLS_PROGRAM_H_
