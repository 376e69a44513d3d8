// The help of each verb has examples, and they work when they are pasted, in a directory and on a
// server. The completion and the manual page know each verb, key and option.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/sstable.h"

#include "support/text_driven.h"
#include "tools/program.h"
#include "tools/verb.h"

namespace bigtable {
namespace {

// The lines of the text that follow a line, up to an empty one.
std::vector<std::string> LinesAfter(const std::string& text, const std::string& begin) {
  std::vector<std::string> found;
  bool inside = false;
  for (const std::string& line : SplitLines(text)) {
    if (line.empty()) inside = false;
    if (inside) found.push_back(line);
    if (line.starts_with(begin)) inside = true;
  }
  return found;
}

std::vector<std::string> Verbs() {
  Shell shell;
  std::vector<std::string> verbs;
  for (const std::string& line : LinesAfter(shell.Output("bigtable --help"), "Subcommands:")) {
    verbs.push_back(SplitWords(line).at(0));
  }
  return verbs;
}

// The names of the program's own options, as its help has them.
std::vector<std::string> GlobalOptions() {
  Shell shell;
  const std::string help = shell.Output("bigtable --help");
  std::vector<std::string> names;
  for (const std::string& line : SplitLines(help.substr(0, help.find("Subcommands:")))) {
    if (!line.starts_with("  -")) continue;
    const size_t begin = line.find("--") + 2;
    names.push_back(line.substr(begin, line.find_first_of(" ,", begin) - begin));
  }
  EXPECT_GE(names.size(), 15u);
  return names;
}

// What the examples assume that there is.
void Prepare(Shell* shell) {
  shell->Output(
      "bigtable createtable webtable families=anchor,contents,visits:never:intsum splits=com.m");
  shell->Output(
      "bigtable set webtable com.cnn.www anchor:cnnsi.com=CNN anchor:my.look.ca=CNN.com "
      "'contents:=<html></html>'");
  shell->Write("pages.csv", ",anchor,,contents\n,a.com,b.com,\"\"\ncom.a,1,2,3\ncom.b,,4,5\n");
  shell->Write("rows.jsonl",
               R"({"row":"com.c","cells":[{"family":"anchor","column":"x","value":"y"}]})"
               "\n");
  shell->Output("bigtable createtable orders families=items");
  // Not of a server.
  shell->Run("bigtable changestream orders 7d");
  shell->Run("bigtable backup store");
  shell->Run("bigtable checkpoint standby && bigtable follow $BIGTABLE_DIRECTORY standby --once");
  auto writer = SSTableWriter::Create(shell->path() + "/pages.sst");
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE((*writer)->Add({.row = "com.d", .family = "anchor", .value = "6"}).ok());
  ASSERT_TRUE((*writer)->Finish().ok());
}

// The verb as the program describes it.
tools::Verb Described(const std::string& name) {
  for (const tools::Verb& verb : tools::AllVerbs()) {
    if (verb.name == name) return verb;
  }
  ADD_FAILURE() << "no verb " << name;
  return {};
}

class VerbExamplesTest : public testing::TestWithParam<Place> {};

INSTANTIATE_TEST_SUITE_P(Places, VerbExamplesTest, testing::ValuesIn(Places()),
                         [](const auto& place) { return NameOf(place.param); });

TEST_P(VerbExamplesTest, EachVerbHasAnExampleAndEachExampleWorks) {
  const std::vector<std::string> verbs = Verbs();
  EXPECT_GE(verbs.size(), 20u);
  for (const std::string& verb : verbs) {
    Shell shell(GetParam());
    Prepare(&shell);
    const std::vector<std::string> examples =
        LinesAfter(shell.Output("bigtable " + verb + " --help"), "Example");
    EXPECT_FALSE(examples.empty()) << verb;
    const tools::Verb described = Described(verb);
    const bool works = GetParam() == Place::kDirectory || described.not_on_server.empty() ||
                       !described.needs_database;
    for (const std::string& example : examples) {
      EXPECT_TRUE(SplitWords(example).at(0) == "bigtable" && SplitWords(example).at(1) == verb)
          << example;
      const bool names_files = example.find("$BIGTABLE_DIRECTORY") != std::string::npos ||
                               (example.find(" store") != std::string::npos && works);
      if (names_files && GetParam() == Place::kServer) continue;
      const ProgramResult result = shell.Run(example);
      EXPECT_EQ(result.code, works ? 0 : 2) << example << "\n" << result.err;
      if (!works) {
        EXPECT_NE(result.err.find(verb + " does not work on a server: " + described.not_on_server),
                  std::string::npos)
            << result.err;
      }
    }
  }
}

// What the completion offers for the last of the words.
std::vector<std::string> Complete(Shell* shell, const std::string& words,
                                  const std::string& before = "") {
  return SplitWords(shell->Output(before + "bash -c '. " BIGTABLE_COMPLETION "; COMP_WORDS=(" +
                                  words +
                                  "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _bigtable; "
                                  "echo \"${COMPREPLY[@]}\"'"));
}

class TableCompletionTest : public testing::TestWithParam<Place> {};

INSTANTIATE_TEST_SUITE_P(Places, TableCompletionTest, testing::ValuesIn(Places()),
                         [](const auto& place) { return NameOf(place.param); });

TEST_P(TableCompletionTest, CompletesVerbsAndTables) {
  Shell shell(GetParam());
  Prepare(&shell);
  std::vector<std::string> completed = Complete(&shell, "bigtable \"\"");
  std::vector<std::string> verbs = Verbs();
  std::sort(completed.begin(), completed.end());
  std::sort(verbs.begin(), verbs.end());
  EXPECT_EQ(completed, verbs);
  EXPECT_EQ(Complete(&shell, "bigtable loo"), std::vector<std::string>{"lookup"});
  EXPECT_EQ(Complete(&shell, "bigtable read w"), std::vector<std::string>{"webtable"});
  EXPECT_EQ(Complete(&shell, "bigtable read webtable pre"), std::vector<std::string>{"prefix="});
  // The completion finds the database of the command.
  std::string options;
  for (const std::string& word : shell.LocationOptions()) options += word + " ";
  const std::string no_environment = "unset BIGTABLE_DIRECTORY BIGTABLE_SERVER; ";
  EXPECT_TRUE(Complete(&shell, "bigtable read w", no_environment).empty());
  EXPECT_EQ(Complete(&shell, "bigtable " + options + "--json read w", no_environment),
            std::vector<std::string>{"webtable"});
  // The line editor makes three words of HOST:PORT.
  if (const size_t colon = options.find(':'); colon != std::string::npos) {
    options.replace(colon, 1, " : ");
    EXPECT_EQ(Complete(&shell, "bigtable " + options + "read w", no_environment),
              std::vector<std::string>{"webtable"});
  }
}

TEST(CompletionTest, RunsNothingThatATableIsNamed) {
  Shell shell;
  Prepare(&shell);
  shell.Output(
      R"(mkdir bin && printf '%s\n' '#!/bin/sh' 'echo good' "echo '\$(echo bad)'" > bin/bigtable &&
    chmod +x bin/bigtable)");
  EXPECT_EQ(Complete(&shell, "bigtable read \"\"", "PATH=$PWD/bin:$PATH; "),
            std::vector<std::string>{"good"});
}

TEST(CompletionTest, KnowsEachKeyAndEachOption) {
  Shell shell;
  Prepare(&shell);
  const std::vector<std::string> options = Complete(&shell, "bigtable ls --");
  const auto expect = [&](const std::string& option) {
    EXPECT_EQ(std::count(options.begin(), options.end(), "--" + option), 1) << option;
  };
  for (const std::string& option : GlobalOptions()) expect(option);
  for (const std::string& name : Verbs()) {
    const tools::Verb verb = Described(name);
    for (const tools::Verb::Option& option : verb.options) expect(option.name);
    if (verb.keys.empty()) continue;
    std::vector<std::string> keys;
    for (const tools::Verb::Word& key : verb.keys) keys.push_back(key.name + "=");
    std::string words = "bigtable " + name;
    for (size_t i = 0; i < verb.words.size(); ++i) words += " word";
    EXPECT_EQ(Complete(&shell, words + " \"\""), keys) << name;
  }
}

TEST(ManualPageTest, HasEachVerbWithItsWordsKeysAndOptions) {
  std::ifstream file(BIGTABLE_MANUAL_PAGE);
  std::string page(std::istreambuf_iterator<char>(file), {});
  // As it is read: \\- is a dash.
  for (size_t at; (at = page.find("\\-")) != std::string::npos;) page.erase(at, 1);
  const auto expect = [&](const std::string& text) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  };
  for (const std::string& option : GlobalOptions()) expect("--" + option);
  for (const std::string& name : Verbs()) {
    const tools::Verb verb = Described(name);
    // From its name up to the next one.
    const size_t begin = page.find(".TP\n.B " + name + "\n", page.find(".SH TABLES"));
    ASSERT_NE(begin, std::string::npos) << name;
    const std::string entry = page.substr(begin, page.find("\n.TP", begin) - begin);
    const auto has = [&](const std::string& text) {
      EXPECT_NE(entry.find(text), std::string::npos) << name << ": " << text << "\n" << entry;
    };
    for (const tools::Verb::Word& word : verb.words) has(word.name);
    if (verb.more.has_value()) has(verb.more->name);
    for (const tools::Verb::Word& key : verb.keys) has(key.name + "=");
    for (const tools::Verb::Option& option : verb.options) has("--" + option.name);
    EXPECT_EQ(entry.find("Directory only") != std::string::npos, !verb.not_on_server.empty())
        << name;
  }
}

TEST(ManualPageTest, IsFormattedWithoutAWarning) {
  Shell shell;
  if (shell.Run("command -v groff").code != 0) GTEST_SKIP() << "groff is not installed";
  const ProgramResult result = shell.Run("groff -man -ww -z -Tutf8 " BIGTABLE_MANUAL_PAGE);
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace bigtable
