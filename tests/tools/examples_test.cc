// The help of each verb has examples, and they work when they are pasted. So does the completion
// know each verb.
#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "support/text_driven.h"
#include "tools/program.h"

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
}

TEST(ExamplesTest, EachVerbHasAnExampleAndEachExampleWorks) {
  const std::vector<std::string> verbs = Verbs();
  EXPECT_GE(verbs.size(), 20u);
  for (const std::string& verb : verbs) {
    Shell shell;
    Prepare(&shell);
    const std::vector<std::string> examples =
        LinesAfter(shell.Output("bigtable " + verb + " --help"), "Example");
    EXPECT_FALSE(examples.empty()) << verb;
    for (const std::string& example : examples) {
      EXPECT_TRUE(SplitWords(example).at(0) == "bigtable" && SplitWords(example).at(1) == verb)
          << example;
      shell.Output(example);
    }
  }
}

TEST(ExamplesTest, TheCompletionKnowsEachVerb) {
  Shell shell;
  Prepare(&shell);
  const auto complete = [&](const std::string& words) {
    return SplitWords(shell.Output("bash -c '. " BIGTABLE_COMPLETION "; COMP_WORDS=(" + words +
                                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _bigtable; "
                                   "echo \"${COMPREPLY[@]}\"'"));
  };
  std::vector<std::string> completed = complete("bigtable \"\"");
  std::vector<std::string> verbs = Verbs();
  std::sort(completed.begin(), completed.end());
  std::sort(verbs.begin(), verbs.end());
  EXPECT_EQ(completed, verbs);
  EXPECT_EQ(complete("bigtable loo"), std::vector<std::string>{"lookup"});
  EXPECT_EQ(complete("bigtable read w"), std::vector<std::string>{"webtable"});
  EXPECT_EQ(complete("bigtable read webtable pre"), std::vector<std::string>{"prefix="});
}

}  // namespace
}  // namespace bigtable
