// Which versions MaxVersions keeps when cells were deleted or came out of order:
// testdata/history.txt.
//
//   play max_versions=    what happened to a column, in any order, one a line:
//                         [@TIMESTAMP]#SEQUENCE[.ORDINAL] KIND

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "compaction/column_history.h"
#include "support/entry_text.h"
#include "support/text_driven.h"

namespace bigtable {
namespace {

std::string VersionText(EntryVersion version) {
  return absl::StrCat("#", version.sequence, ".", version.ordinal);
}

std::string Play(const TextCommand& command) {
  if (command.name != "play") return "unknown command";
  ColumnHistory history;
  for (const std::string& line : command.input) {
    const std::optional<TextEntry> entry = ParseEntry("r/f:q" + line);
    if (!entry.has_value()) return "not an event: " + line;
    const EntryKind kind = KindOf(entry->key);
    const EntryVersion version = VersionOf(entry->key);
    HasTimestamp(kind) ? history.Add(TimestampOf(entry->key), version, kind)
                       : history.AddWideDeletion(version);
  }
  std::string out;
  for (const ColumnHistory::Life& life : history.Play(command.Number("max_versions"))) {
    absl::StrAppend(
        &out, "@", life.timestamp, " born ", VersionText(life.birth),
        life.death == ColumnHistory::kAlive ? ", alive" : ", dead " + VersionText(life.death),
        "\n");
  }
  return out.empty() ? "nothing\n" : out;
}

TEST(HistoryTest, AVersionIsGoneOnceEnoughNewerOnesHaveExisted) {
  RunTextFile(BIGTABLE_TESTDATA "/history.txt", Play);
}

TEST(HistoryTest, CanBeUsedAgainAfterClear) {
  ColumnHistory history;
  history.Add(1, {1, 0}, EntryKind::kCell);
  EXPECT_EQ(history.Play(1).size(), 1u);
  history.Clear();
  EXPECT_TRUE(history.Play(1).empty());
}

}  // namespace
}  // namespace bigtable
