// Tests whose steps and expected output stand in a text file, so that a change of behaviour is
// reviewed as a diff. A file is a list of commands:
//
//   # A comment: which rule is shown.
//   command argument name=value
//   lines of input, and comments: "# " and a text
//   ----
//   what the command puts out, up to an empty line
//
// With BIGTABLE_REWRITE_TESTDATA=1 in the environment the output that there is replaces the one
// that was expected, and everything else in the file stays as it is. Then read the diff.
#ifndef BIGTABLE_TESTS_SUPPORT_TEXT_DRIVEN_H_
#define BIGTABLE_TESTS_SUPPORT_TEXT_DRIVEN_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace bigtable {

inline std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}
inline std::vector<std::string> SplitWords(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

// Words of a command's first line, or of a line of input: plain ones, and name=value. Whoever takes
// them apart asks for each; what nobody asked for is a mistake in the file.
class TextArguments {
 public:
  explicit TextArguments(std::vector<std::string> words) : words_(std::move(words)) {}

  const std::vector<std::string>& words() const {  // asks for all
    asked_.insert(words_.begin(), words_.end());
    return words_;
  }
  // The plain word at `i`; empty if there are not as many.
  std::string Word(size_t i) const {
    if (i >= words_.size()) return "";
    asked_.insert(words_[i]);
    return words_[i];
  }
  bool Has(const std::string& word) const {
    asked_.insert(word);
    return std::find(words_.begin(), words_.end(), word) != words_.end();
  }
  bool HasValue(const std::string& name) const { return Find(name) != nullptr; }
  std::string Value(const std::string& name, const std::string& otherwise = "") const {
    const std::string* word = Find(name);
    return word == nullptr ? otherwise : word->substr(name.size() + 1);
  }
  int64_t Number(const std::string& name, int64_t otherwise = 0) const {
    const std::string value = Value(name);
    return value.empty() ? otherwise : std::strtoll(value.c_str(), nullptr, 10);
  }
  // "1,2,3"
  std::vector<uint64_t> Numbers(const std::string& name) const {
    std::vector<uint64_t> numbers;
    std::istringstream in(Value(name));
    for (std::string part; std::getline(in, part, ',');) {
      numbers.push_back(std::strtoull(part.c_str(), nullptr, 10));
    }
    return numbers;
  }
  std::string NotAskedFor() const {
    for (const std::string& word : words_) {
      if (!asked_.contains(word)) return word;
    }
    return "";
  }

 private:
  const std::string* Find(const std::string& name) const {
    for (const std::string& word : words_) {
      if (!word.starts_with(name + "=")) continue;
      asked_.insert(word);
      return &word;
    }
    return nullptr;
  }

  std::vector<std::string> words_;
  mutable std::set<std::string> asked_;
};

struct TextCommand : TextArguments {
  TextCommand(std::string command, std::vector<std::string> arguments)
      : TextArguments(std::move(arguments)), name(std::move(command)) {}

  std::string name;
  std::vector<std::string> input;
};

// The lines of both, with what is only expected marked "-" and what is only there "+".
inline std::string LineDiff(const std::vector<std::string>& expected,
                            const std::vector<std::string>& actual) {
  // common[i][j]: lines that expected from i on and actual from j on have in common, in order.
  std::vector<std::vector<size_t>> common(expected.size() + 1,
                                          std::vector<size_t>(actual.size() + 1));
  for (size_t i = expected.size(); i-- > 0;) {
    for (size_t j = actual.size(); j-- > 0;) {
      common[i][j] = expected[i] == actual[j] ? common[i + 1][j + 1] + 1
                                              : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::string out;
  size_t i = 0, j = 0;
  while (i < expected.size() || j < actual.size()) {
    if (i < expected.size() && j < actual.size() && expected[i] == actual[j]) {
      out += "  " + expected[i++] + "\n";
      ++j;
    } else if (j == actual.size() ||
               (i < expected.size() && common[i + 1][j] >= common[i][j + 1])) {
      out += "- " + expected[i++] + "\n";
    } else {
      out += "+ " + actual[j++] + "\n";
    }
  }
  return out;
}

// Runs the commands of the file in order; `run` returns what a command puts out.
inline void RunTextFile(const std::string& path,
                        const std::function<std::string(const TextCommand&)>& run) {
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.good()) << path << " cannot be read";
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::vector<std::string> lines = SplitLines(text);
  const bool rewrite = std::getenv("BIGTABLE_REWRITE_TESTDATA") != nullptr;
  std::string rewritten;
  int commands = 0;

  for (size_t i = 0; i < lines.size();) {
    if (lines[i].empty() || lines[i].starts_with("# ")) {
      rewritten += lines[i++] + "\n";
      continue;
    }
    const size_t first = i;
    std::vector<std::string> words = SplitWords(lines[i]);
    const std::string name = words.front();
    words.erase(words.begin());
    TextCommand command(name, std::move(words));
    rewritten += lines[i++] + "\n";
    for (; i < lines.size() && lines[i] != "----"; ++i) {
      rewritten += lines[i] + "\n";
      if (lines[i].empty()) {
        ADD_FAILURE_AT(path.c_str(), static_cast<int>(i + 1)) << "---- is missing";
        return;
      }
      if (!lines[i].starts_with("# ")) command.input.push_back(lines[i]);
    }
    rewritten += "----\n";
    std::vector<std::string> expected;
    for (++i; i < lines.size() && !lines[i].empty(); ++i) expected.push_back(lines[i]);

    const std::string output = run(command);
    const std::vector<std::string> actual = SplitLines(output);
    rewritten += output + (output.empty() || output.ends_with("\n") ? "" : "\n");
    ++commands;
    const int line = static_cast<int>(first + 1);
    if (const std::string word = command.NotAskedFor(); !word.empty()) {
      ADD_FAILURE_AT(path.c_str(), line) << name << " has no argument " << word;
    }
    if (std::find(actual.begin(), actual.end(), "") != actual.end()) {
      ADD_FAILURE_AT(path.c_str(), line) << "there is an empty line in:\n" << output;
    }
    if (actual != expected && !rewrite) {
      ADD_FAILURE_AT(path.c_str(), line) << path << ":" << line << ": " << lines[first] << "\n"
                                         << LineDiff(expected, actual);
    }
  }
  EXPECT_GT(commands, 0) << path << " has no commands";
  if (rewrite && rewritten != text) std::ofstream(path, std::ios::binary) << rewritten;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_TEXT_DRIVEN_H_
