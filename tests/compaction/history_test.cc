// The versions that MaxVersions keeps when cells were deleted or arrived out of order:
// testdata/history.txt.
//
//   play max_versions=    the events of a column, in any order, one a line:
//                         [@TIMESTAMP]#SEQUENCE[.ORDINAL] KIND
//                         or, in their order, earlier rules: was max_versions= before=

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "compaction/column_history.h"
#include "compaction/past_rules.h"
#include "compaction/reference_history.h"
#include "support/entry_text.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "support/text_driven.h"

namespace bigtable {
namespace {

std::string VersionText(EntryVersion version) {
  return absl::StrCat("#", version.sequence, ".", version.ordinal);
}

bool Always() { return true; }

std::string LivesText(const std::vector<ColumnHistory::Life>& lives) {
  std::string out;
  for (const ColumnHistory::Life& life : lives) {
    absl::StrAppend(
        &out, "@", life.timestamp, " born ", VersionText(life.birth),
        life.death == ColumnHistory::kAlive ? ", alive" : ", dead " + VersionText(life.death),
        "\n");
  }
  return out.empty() ? "nothing\n" : out;
}

std::string Play(const TextCommand& command) {
  if (command.name != "play") return "unknown command";
  ColumnHistory history;
  PastRules past;
  for (const std::string& line : command.input) {
    const TextArguments words(SplitWords(line));
    if (words.Word(0) == "was") {
      past.EndVersions(words.Number("max_versions", kAllVersions),
                       static_cast<SequenceNumber>(words.Number("before")));
      continue;
    }
    const std::optional<TextEntry> entry = ParseEntry("r/f:q" + line);
    if (!entry.has_value()) return "not an event: " + line;
    const EntryKind kind = KindOf(entry->key);
    const EntryVersion version = VersionOf(entry->key);
    HasTimestamp(kind) ? history.Add(TimestampOf(entry->key), version, kind)
                       : history.AddWideDeletion(version);
  }
  if (!history.Play(past.versions, command.Number("max_versions", kAllVersions), Always)) {
    return "given up";
  }
  return LivesText(history.lives());
}

TEST(HistoryTest, AVersionIsCollectedOnceEnoughNewerOnesHaveExisted) {
  RunTextFile(BIGTABLE_TESTDATA "/history.txt", Play);
}

TEST(HistoryTest, CanBeUsedAgainAfterClear) {
  ColumnHistory history;
  history.Add(1, {1, 0}, EntryKind::kCell);
  ASSERT_TRUE(history.Play({}, 1, Always));
  EXPECT_EQ(history.lives().size(), 1u);
  history.Clear();
  ASSERT_TRUE(history.Play({}, 1, Always));
  EXPECT_TRUE(history.lives().empty());
}

// --- Compared to the reference ---

struct RandomColumn {
  explicit RandomColumn(uint64_t seed) {
    Random random(seed);
    const uint64_t timestamps = 1 + random.Below(random.OneIn(8) ? 40 : 6);
    const uint64_t length = 1 + random.Below(random.OneIn(50) ? 400 : 24);
    const uint64_t wide_in = random.OneIn(2) ? 12 : 1000;
    const uint64_t change_in = random.OneIn(2) ? 6 : 1000;
    const auto random_most = [&] {
      return random.OneIn(6) ? kAllVersions : random.Between(1, random.OneIn(8) ? 12 : 4);
    };
    most = random_most();
    SequenceNumber sequence = 0;
    for (uint64_t i = 0; i < length; ++i) {
      if (random.OneIn(change_in)) past.EndVersions(random_most(), ++sequence);
      sequence += random.Below(2);  // or another operation of the same mutation
      static constexpr EntryKind kKinds[] = {
          EntryKind::kCell,  EntryKind::kCell,       EntryKind::kCell,      EntryKind::kShadow,
          EntryKind::kGhost, EntryKind::kDeleteCell, EntryKind::kDeleteCell};
      const EntryKind kind = random.OneIn(wide_in) ? EntryKind::kDeleteColumn
                                                   : kKinds[random.Below(std::size(kKinds))];
      events.push_back(
          {{sequence, static_cast<uint32_t>(i)},
           HasTimestamp(kind) ? random.Between(1, static_cast<int64_t>(timestamps)) : 0,
           kind});
    }
  }
  std::string Text() const {
    std::string out = absl::StrCat("at last MaxVersions ", most, "\n");
    for (const PastRules::Versions& rule : past.versions) {
      absl::StrAppend(&out, "before ", rule.before, " MaxVersions ", rule.most, "\n");
    }
    for (const ReferenceHistory::Event& event : events) {
      absl::StrAppend(&out, "@", event.timestamp, VersionText(event.version), " kind ",
                      static_cast<int>(event.kind), "\n");
    }
    return out;
  }

  std::vector<ReferenceHistory::Event> events;
  PastRules past;
  int64_t most;
};

TEST(RandomHistoryTest, AgreesWithALiteralImplementationOfTheRule) {
  ColumnHistory history;
  ForEachSeed(kSanitized ? 3000 : 60000, [&](uint64_t seed) {
    const RandomColumn column(seed);
    history.Clear();
    for (auto event = column.events.rbegin(); event != column.events.rend(); ++event) {
      HasTimestamp(event->kind) ? history.Add(event->timestamp, event->version, event->kind)
                                : history.AddWideDeletion(event->version);
    }
    ASSERT_TRUE(history.Play(column.past.versions, column.most, Always));
    ASSERT_EQ(LivesText(history.lives()),
              LivesText(ReferenceHistory::Play(column.events, column.past.versions, column.most)))
        << column.Text();
    Tally("cases");
  });
}

// --- Large histories ---

// `versions` cells at ascending timestamps, of which every other is deleted at once. Then all
// timestamps are written and deleted once more, from old to new.
void AddDeletions(int64_t versions, ColumnHistory* history) {
  SequenceNumber sequence = 0;
  for (int round = 0; round < 2; ++round) {
    for (int64_t i = 1; i <= versions; ++i) {
      history->Add(i, {++sequence, 0}, EntryKind::kCell);
      if (i % 2 == 0) history->Add(i, {++sequence, 0}, EntryKind::kDeleteCell);
    }
  }
}

// The test is its duration: with a list of newer timestamps for each cell it would take minutes.
TEST(HistoryTest, KeepsHalfOfAHundredThousandVersions) {
  ColumnHistory history;
  constexpr int64_t kVersions = 100000;
  AddDeletions(kVersions, &history);
  ASSERT_TRUE(history.Play({}, kVersions / 2, Always));
  const auto alive = std::count_if(
      history.lives().begin(), history.lives().end(),
      [](const ColumnHistory::Life& life) { return life.death == ColumnHistory::kAlive; });
  EXPECT_EQ(alive, kVersions / 4);
}

TEST(HistoryTest, GivesUpWithinSomeHundredEvents) {
  ColumnHistory history;
  AddDeletions(10000, &history);
  int calls = 0;
  EXPECT_FALSE(history.Play({}, 5000, [&] { return ++calls < 10; }));
  EXPECT_EQ(calls, 10);
  EXPECT_LT(history.lives().size(), 5000u);
}

}  // namespace
}  // namespace bigtable
