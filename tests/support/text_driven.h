// Tests with steps and expected output in a text file, so that a change of behavior is reviewed as
// a diff. A file is a list of commands:
//
//   # A comment: the rule that this shows.
//   command argument name=value
//   lines of input, and comments, which start with "# "
//   ----
//   the expected output of the command, up to an empty line (of some: "nothing")
//
// With BIGTABLE_REWRITE_TESTDATA=1 in the environment the actual output replaces the expected
// output; the rest of the file is unchanged. Review the diff afterwards.
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

// The words of a command's first line or of a line of input: plain words and name=value. The caller
// must read each word; a word that it does not read is a mistake in the file.
class TextArguments {
 public:
  explicit TextArguments(std::vector<std::string> words) : words_(std::move(words)) {}

  const std::vector<std::string>& words() const {  // counts as reading all
    read_.insert(words_.begin(), words_.end());
    return words_;
  }
  // The word at index `i`, or "" if there are fewer words.
  std::string Word(size_t i) const {
    if (i >= words_.size()) return "";
    read_.insert(words_[i]);
    return words_[i];
  }
  bool Has(const std::string& word) const {
    read_.insert(word);
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
  // A word that was not read, or "".
  std::string NotAskedFor() const {
    for (const std::string& word : words_) {
      if (!read_.contains(word)) return word;
    }
    return "";
  }

 private:
  const std::string* Find(const std::string& name) const {
    for (const std::string& word : words_) {
      if (!word.starts_with(name + "=")) continue;
      read_.insert(word);
      return &word;
    }
    return nullptr;
  }

  std::vector<std::string> words_;
  mutable std::set<std::string> read_;
};

struct TextCommand : TextArguments {
  TextCommand(std::string command, std::vector<std::string> arguments)
      : TextArguments(std::move(arguments)), name(std::move(command)) {}

  std::string name;
  std::vector<std::string> input;
};

// The lines of both: lines only in `expected` are marked "-", lines only in `actual` "+".
inline std::string LineDiff(const std::vector<std::string>& expected,
                            const std::vector<std::string>& actual) {
  // common[i][j]: the length of the longest common subsequence of expected[i..] and actual[j..].
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

// Runs the commands of the file in order; `run` returns the output of a command.
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
      ADD_FAILURE_AT(path.c_str(), line) << "the output contains an empty line:\n" << output;
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
