// The program as its users run it: the files in testdata/ are sessions in a shell.
//
//   any line for the shell, in an empty directory at first; BIGTABLE_DIRECTORY is `db`
//   lines of input for it
//   ----
//   its output; lines of stderr begin with "! "; an empty line is "(empty)"; at last "exit N" if
//   the exit code is not 0

#include "tools/program.h"

#include <filesystem>
#include <string>

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

class ProgramTest : public testing::TestWithParam<std::string> {};

TEST_P(ProgramTest, PrintsWhatTheSessionShows) {
  Shell shell;
  RunTextFile(std::string(BIGTABLE_TESTDATA) + "/" + GetParam() + ".txt",
              [&](const TextCommand& command) {
                std::string line = command.name;
                for (const std::string& word : command.words()) line += " " + word;
                std::string input;
                for (const std::string& text : command.input) input += text + "\n";
                return Transcript(shell.Run(line, input));
              });
}

std::vector<std::string> Sessions() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(BIGTABLE_TESTDATA)) {
    names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Sessions, ProgramTest, testing::ValuesIn(Sessions()),
                         [](const auto& session) { return session.param; });

}  // namespace
}  // namespace bigtable
