// The versions that MaxVersions keeps when cells were deleted or arrived out of order:
// testdata/history.txt.
//
//   play max_versions= [limits=NEWER:BEFORE_TIMESTAMP,...]
//                         the events of a column, in any order, one a line:
//                         [@TIMESTAMP]#SEQUENCE[.ORDINAL] KIND [BEGIN END]
//                         or, in their order, earlier rules: was max_versions= [limits=] before=

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "retention/column_history.h"
#include "retention/past_rules.h"
#include "retention/reference_history.h"
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
        life.counted_out == ColumnHistory::kAlive
            ? ""
            : ", counted out " + VersionText(life.counted_out),
        life.is_expired ? ", expired" : "", "\n");
  }
  return out.empty() ? "nothing\n" : out;
}

// "2:50,4:100": cells with two newer ones are collected before timestamp 50, with four before 100.
VersionLimits LimitsOf(const TextArguments& words) {
  VersionLimits limits{words.Number("max_versions", kAllVersions)};
  const std::string text = words.Value("limits");
  for (const auto limit : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(limit, ':');
    VersionLimit& last = limits.by_age.emplace_back();
    EXPECT_TRUE(absl::SimpleAtoi(parts.first, &last.newer)) << limit;
    if (!parts.second.empty()) {
      EXPECT_TRUE(absl::SimpleAtoi(parts.second, &last.min_timestamp)) << limit;
    }
    limits.most = last.newer;
  }
  return limits;
}

std::string Play(const TextCommand& command) {
  if (command.name != "play") return "unknown command";
  ColumnHistory history;
  PastRules past;
  for (const std::string& line : command.input) {
    const TextArguments words(SplitWords(line));
    if (words.Word(0) == "was") {
      past.EndVersions(LimitsOf(words), static_cast<SequenceNumber>(words.Number("before")));
      continue;
    }
    const std::optional<TextEntry> entry = ParseEntry("r/f:q" + line);
    if (!entry.has_value()) return "not an event: " + line;
    const EntryKind kind = KindOf(entry->key);
    const EntryVersion version = VersionOf(entry->key);
    if (HasTimestamp(kind)) {
      history.Add(TimestampOf(entry->key), version, kind);
    } else if (kind == EntryKind::kDeleteTimeRange) {
      const TextArguments range(SplitWords(entry->value));
      history.AddTimeRange({static_cast<int64_t>(NumberOf(range.Word(0))),
                            static_cast<int64_t>(NumberOf(range.Word(1)))},
                           version);
    } else {
      history.AddWideDeletion(version);
    }
  }
  if (!history.Play(past.versions, LimitsOf(command), Always)) {
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
  ASSERT_TRUE(history.Play({}, {1}, Always));
  EXPECT_EQ(history.lives().size(), 1u);
  history.Clear();
  ASSERT_TRUE(history.Play({}, {1}, Always));
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
    const auto random_limits = [&] {
      VersionLimits drawn;
      if (random.OneIn(6)) return drawn;
      drawn.most = random.Between(1, random.OneIn(8) ? 12 : 4);
      if (random.OneIn(2)) return drawn;
      // From the largest number of versions down, with ages that go less and less far.
      int64_t min_timestamp = random.OneIn(3) ? kEveryTimestamp : 0;
      for (int64_t newer = drawn.most; newer > 0; newer -= random.Between(1, 2)) {
        if (newer < drawn.most || min_timestamp == 0) {
          min_timestamp = random.Between(0, static_cast<int64_t>(timestamps) + 1);
        }
        if (!drawn.by_age.empty() && min_timestamp >= drawn.by_age.front().min_timestamp) continue;
        drawn.by_age.insert(drawn.by_age.begin(), {newer, min_timestamp});
      }
      return drawn;
    };
    limits = random_limits();
    SequenceNumber sequence = 0;
    for (uint64_t i = 0; i < length; ++i) {
      if (random.OneIn(change_in)) past.EndVersions(random_limits(), ++sequence);
      sequence += random.Below(2);  // or another operation of the same mutation
      static constexpr EntryKind kKinds[] = {
          EntryKind::kCell,  EntryKind::kCell,       EntryKind::kCell,      EntryKind::kShadow,
          EntryKind::kGhost, EntryKind::kDeleteCell, EntryKind::kDeleteCell};
      EntryKind kind = kKinds[random.Below(std::size(kKinds))];
      if (random.OneIn(wide_in)) {
        kind = random.OneIn(2) ? EntryKind::kDeleteColumn : EntryKind::kDeleteTimeRange;
      }
      events.push_back(
          {{sequence, static_cast<uint32_t>(i)},
           HasTimestamp(kind) ? random.Between(1, static_cast<int64_t>(timestamps)) : 0,
           kind});
      const int64_t begin = random.Between(0, static_cast<int64_t>(timestamps));
      events.back().range = {begin, begin + random.Between(1, static_cast<int64_t>(timestamps))};
      // What a former replay leaves.
      if (kind == EntryKind::kCell && random.OneIn(40)) {
        ++i;
        events.push_back({{sequence, static_cast<uint32_t>(i)},
                          events.back().timestamp,
                          EntryKind::kCountedOut});
      }
    }
  }
  std::string Text() const {
    std::string out = absl::StrCat("at last ", LimitsText(limits), "\n");
    for (const PastRules::Versions& rule : past.versions) {
      absl::StrAppend(&out, "before ", rule.before, " ", LimitsText(rule.limits), "\n");
    }
    for (const ReferenceHistory::Event& event : events) {
      absl::StrAppend(&out, "@", event.timestamp, VersionText(event.version), " kind ",
                      static_cast<int>(event.kind), " [", event.range.begin, ", ", event.range.end,
                      ")\n");
    }
    return out;
  }

  static std::string LimitsText(const VersionLimits& limits) {
    std::string out = absl::StrCat("MaxVersions ", limits.most);
    for (const VersionLimit& limit : limits.by_age) {
      absl::StrAppend(&out, ", ", limit.newer, " newer before @", limit.min_timestamp);
    }
    return out;
  }

  std::vector<ReferenceHistory::Event> events;
  PastRules past;
  VersionLimits limits;
};

TEST(RandomHistoryTest, AgreesWithALiteralImplementationOfTheRule) {
  ColumnHistory history;
  ForEachSeed(kSlow ? 3000 : 60000, [&](uint64_t seed) {
    const RandomColumn column(seed);
    history.Clear();
    for (auto event = column.events.rbegin(); event != column.events.rend(); ++event) {
      if (HasTimestamp(event->kind)) {
        history.Add(event->timestamp, event->version, event->kind);
      } else if (event->kind == EntryKind::kDeleteTimeRange) {
        history.AddTimeRange(event->range, event->version);
      } else {
        history.AddWideDeletion(event->version);
      }
    }
    ASSERT_TRUE(history.Play(column.past.versions, column.limits, Always));
    ASSERT_EQ(LivesText(history.lives()),
              LivesText(ReferenceHistory::Play(column.events, column.past.versions, column.limits)))
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
  ASSERT_TRUE(history.Play({}, {kVersions / 2}, Always));
  const auto alive = std::count_if(
      history.lives().begin(), history.lives().end(),
      [](const ColumnHistory::Life& life) { return life.death == ColumnHistory::kAlive; });
  EXPECT_EQ(alive, kVersions / 4);
}

TEST(HistoryTest, GivesUpWithinSomeHundredEvents) {
  ColumnHistory history;
  AddDeletions(10000, &history);
  int calls = 0;
  EXPECT_FALSE(history.Play({}, {5000}, [&] { return ++calls < 10; }));
  EXPECT_EQ(calls, 10);
  EXPECT_LT(history.lives().size(), 5000u);
}

}  // namespace
}  // namespace bigtable
