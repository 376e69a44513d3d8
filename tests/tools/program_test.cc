// The program as its users run it: the files in testdata/ are sessions in a shell. Those in
// directory/ work on a directory, those in server/ on a server, and those in both/ on each in turn,
// with the same output.
//
//   any line for the shell, in an empty directory at first; BIGTABLE_DIRECTORY is `db`, or
//   BIGTABLE_SERVER is a server without tables
//   lines of input for it
//   ----
//   its output; lines of stderr begin with "! "; an empty line is "(empty)"; at last "exit N" if
//   the exit code is not 0

#include "tools/program.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "support/text_driven.h"

namespace bigtable {
namespace {

std::string Transcript(const ProgramResult& result) {
  std::string text;
  for (const std::string& line : SplitLines(result.out)) {
    text += (line.empty() ? "(empty)" : line) + "\n";
  }
  for (const std::string& line : SplitLines(result.err)) text += "! " + line + "\n";
  if (result.code != 0) text += "exit " + std::to_string(result.code) + "\n";
  return text;
}

struct Session {
  std::string file;  // "both/read"
  Place place;
};
std::ostream& operator<<(std::ostream& out, const Session& session) {
  return out << session.file << " " << session.place;
}

class ProgramTest : public testing::TestWithParam<Session> {};

TEST_P(ProgramTest, PrintsWhatTheSessionShows) {
  Shell shell(GetParam().place);
  RunTextFile(std::string(BIGTABLE_TESTDATA) + "/" + GetParam().file + ".txt",
              [&](const TextCommand& command) {
                std::string line = command.name;
                for (const std::string& word : command.words()) line += " " + word;
                std::string input;
                for (const std::string& text : command.input) input += text + "\n";
                return Transcript(shell.Run(line, input));
              });
}

std::vector<Session> Sessions() {
  std::vector<Session> sessions;
  for (const Place place : Places()) {
    const std::string own = place == Place::kServer ? "server" : "directory";
    for (const std::string folder : {"both", own.c_str()}) {
      for (const auto& entry :
           std::filesystem::directory_iterator(BIGTABLE_TESTDATA "/" + folder)) {
        sessions.push_back({folder + "/" + entry.path().stem().string(), place});
      }
    }
  }
  std::sort(sessions.begin(), sessions.end(), [](const Session& a, const Session& b) {
    return a.place != b.place ? a.place < b.place : a.file < b.file;
  });
  return sessions;
}

INSTANTIATE_TEST_SUITE_P(Sessions, ProgramTest, testing::ValuesIn(Sessions()),
                         [](const auto& session) {
                           std::string name =
                               session.param.file + "_" + NameOf(session.param.place);
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace bigtable
